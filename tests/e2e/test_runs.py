# SPDX-License-Identifier: Apache-2.0
"""What a run is: its copy, its record, its outputs, its end."""
import json
import os
import signal
import subprocess
import time

import pytest


def test_folder_with_nothing_but_a_script_is_a_project(ponk):
    ponk.write("train.py", "import sys\nprint(sys.argv[1:])\n")

    assert ponk.text("experiment", "submit", "-c", "local", "train.py", "--epochs", "3") == "['--epochs', '3']\n"

    assert os.listdir(ponk.project) == ["train.py"]


def test_record_has_the_fields_that_are_promised(ponk):
    ponk.write("a.py", "import ponk\nponk.log('loss', 0.25, step=1)\n")
    ponk.run("submit", "--name", "first", "--tag", "k=v", "a.py", "x")

    run = ponk.json("history", "info", "last")

    assert len(run["run_id"]) == 32
    for field in ("status", "exit_code", "script_name", "arguments", "target", "run_configuration", "user",
                  "start_time_utc", "end_time_utc", "duration", "snapshot", "git", "timings", "metrics"):
        assert field in run, field
    assert (run["status"], run["script_name"], run["arguments"], run["target"]) == ("Completed", "a.py", ["x"], "local")
    assert run["loss"] == 0.25
    assert run["name"] == "first"
    assert run["tags"]["k"] == "v"


def test_json_of_submit_is_the_record_and_the_log_goes_to_stderr(ponk):
    ponk.write("a.py", "print('from the script')\n")

    done = ponk.run("submit", "-o", "json", "a.py")

    assert json.loads(done.stdout)["status"] == "Completed"
    assert b"from the script" in done.stderr


def test_run_works_in_its_own_copy(ponk):
    ponk.write("data.txt", "before")
    ponk.write("change.py", "open('data.txt', 'w').write('after'); open('made.txt', 'w').write('x')\n")

    ponk.run("submit", "change.py")

    assert (ponk.project / "data.txt").read_text() == "before"
    assert not (ponk.project / "made.txt").exists()


def test_outputs_are_collected_and_returned(ponk, tmp_path):
    ponk.write("make.py", "import os\nos.makedirs('outputs/sub', exist_ok=True)\nopen('outputs/sub/a.bin', 'wb').write(bytes(range(256)) * 70000)\n")
    ponk.run("submit", "make.py")

    ponk.run("history", "download", "last", "-d", tmp_path / "got")

    assert (tmp_path / "got/outputs/sub/a.bin").read_bytes() == bytes(range(256)) * 70000


def test_shared_directory_ends_with_a_slash_and_outlives_the_run(ponk):
    ponk.write("share.py", "import os\np = os.environ['AZUREML_NATIVE_SHARE_DIRECTORY']\nopen(p + 'n', 'a').write('x')\nprint(p[-1], len(open(p + 'n').read()))\n")
    assert ponk.text("submit", "share.py") == "/ 1\n"
    assert ponk.text("submit", "share.py") == "/ 2\n"


def test_async_prints_the_id_and_the_run_goes_on(ponk):
    ponk.write("slow.py", "import time; time.sleep(0.5); print('done')\n")

    run_id = ponk.text("submit", "--async", "-o", "tsv", "--query", "run_id", "slow.py").strip()

    assert ponk.text("logs", "--follow", run_id) == "done\n"
    assert ponk.json("history", "info", run_id)["run_id"] == run_id


def test_cancel_ends_the_whole_tree_of_processes(ponk):
    ponk.write("tree.py", "import subprocess, time\nsubprocess.Popen(['sleep', '300'])\nprint('up', flush=True)\ntime.sleep(300)\n")
    ponk.run("submit", "--async", "tree.py")
    wait_for(lambda: ponk.run("logs", "last").stdout == b"up\n")

    ponk.run("experiment", "cancel", "last")

    wait_for(lambda: ponk.json("history", "info", "last")["status"] == "Canceled")
    assert not processes_of(ponk, b"sleep")


def test_rerun_repeats_the_snapshot_not_the_folder(ponk):
    script = ponk.write("a.py", "import os, sys\nprint('old', sys.argv[1:], os.environ.get('K'))\n")
    ponk.run("submit", "--env", "K=V", "a.py", "one two")
    script.write_text("print('new')\n")

    done = ponk.run("experiment", "rerun", "last")

    assert done.stdout == b"old ['one two'] V\n"


def test_killed_daemon_loses_nothing(ponk):
    ponk.write("slow.py", "import time\nfor i in range(20):\n    print(i, flush=True)\n    time.sleep(0.1)\nraise SystemExit(7)\n")
    ponk.run("submit", "--async", "slow.py")
    time.sleep(0.5)
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)

    wait_for(lambda: ponk.json("history", "info", "last")["status"] == "Failed")

    assert ponk.json("history", "info", "last")["exit_code"] == 7
    assert ponk.run("logs", "last").stdout == b"".join(b"%d\n" % i for i in range(20))


def test_interrupt_detaches_and_the_run_goes_on(ponk):
    ponk.write("slow.py", "import time\nprint('up', flush=True)\ntime.sleep(2)\nprint('end')\n")
    process = subprocess.Popen([ponk.program, "submit", "slow.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(process.stdout.fileno(), 3)

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)

    assert process.returncode == 79
    assert b"logs" in said and b"cancel" in said
    assert ponk.text("logs", "--follow", "last") == "up\nend\n"


def processes_of(ponk, name):
    home, found = os.fsencode(str(ponk.home)), []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as environ, open(f"/proc/{entry}/cmdline", "rb") as line:
                if b"PONK_HOME=" + home in environ.read() and name in line.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def test_return_copies_what_the_run_made_and_never_overwrites_unasked(ponk, tmp_path):
    ponk.write("data.txt", "before")
    ponk.write("change.py", "import os\nos.makedirs('d/e')\nopen('d/e/f', 'w').write('made')\nopen('data.txt', 'w').write('after')\n")
    ponk.run("submit", "change.py")

    first = ponk.json("experiment", "return", "last")

    assert first == {"copied": ["d/e/f"], "skipped": ["data.txt"], "failed": []}
    assert (ponk.project / "d/e/f").read_text() == "made"
    assert (ponk.project / "data.txt").read_text() == "before"
    ponk.run("experiment", "return", "last", "--overwrite")
    assert (ponk.project / "data.txt").read_text() == "after"


def test_return_never_writes_through_a_link(ponk, tmp_path):
    (tmp_path / "outside").mkdir()
    ponk.write("change.py", "import os\nos.makedirs('d')\nopen('d/f', 'w').write('made')\n")
    ponk.run("submit", "change.py")
    (ponk.project / "d").symlink_to(tmp_path / "outside")

    done = ponk.run("experiment", "return", "last", code=None)

    assert done.returncode != 0
    assert os.listdir(tmp_path / "outside") == []


def test_return_copies_all_but_what_would_leave_the_folder(ponk, tmp_path):
    (tmp_path / "outside").mkdir()
    ponk.write("change.py", "import os\nos.makedirs('d')\nos.mkdir('e')\nos.mkdir('no')\n"
                            "for name in ['a', 'd/f', 'e/f', 'no/f', 'z']: open(name, 'w').write('made')\n")
    ponk.run("submit", "change.py")
    (ponk.project / "d").symlink_to(tmp_path / "outside")
    ponk.write("no", "a file, no folder")

    done = ponk.run("experiment", "return", "last", code=65)

    assert os.listdir(tmp_path / "outside") == []
    assert [(ponk.project / name).read_text() for name in ["a", "e/f", "z"]] == ["made"] * 3
    assert b"'d/f' was not copied" in done.stderr and b"'no/f' was not copied" in done.stderr
    assert done.stderr.splitlines()[-1] == b"ponk: error: 2 of the run's files could not be copied"


def test_a_long_text_among_the_metrics_is_cut_in_the_summary_and_whole_in_the_record(ponk):
    ponk.write("a.py", "import ponk\nponk.log('text', 'x' * 90_000)\nponk.log('y' * 900, 1)\n")

    done = ponk.run("submit", "a.py")

    assert max(map(len, done.stderr.splitlines())) < 500 and b"metrics: text xxx" in done.stderr
    assert ponk.json("history", "last")["text"] == "x" * 90_000


@pytest.mark.parametrize("way", ["file", "folder"])
def test_a_script_that_is_a_link_out_of_the_project_is_refused_as_its_path_is(ponk, tmp_path, way):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/l.py").write_text("print('ran')\n")
    if way == "file":
        (ponk.project / "l.py").symlink_to(tmp_path / "lib/l.py")
        (ponk.project / "sub").mkdir()
    else:
        (ponk.project / "sub").symlink_to(tmp_path / "lib")
    ponk.write("real.py", "print('ran')\n")
    (ponk.project / "inside.py").symlink_to("real.py")
    name = "l.py" if way == "file" else "sub/l.py"

    done = ponk.run("submit", name, code=65)

    assert b"outside the project" in done.stderr and done.stdout == b""
    ponk.run("submit", tmp_path / "lib/l.py", code=65)
    assert ponk.run("submit", "inside.py").stdout == b"ran\n"


def test_a_run_that_removed_its_folder_says_that_nothing_is_left(ponk):
    ponk.write("a.py", "import os, shutil, time\nprint('on', flush=True)\ntime.sleep(0.5)\nshutil.rmtree(os.path.abspath('..'))\n")

    done = ponk.run("submit", "a.py", code=76)

    assert b"are kept" not in done.stderr and b"were lost with its folder; 'ponk project restore" in done.stderr
    again = ponk.run("logs", "last", code=74)
    assert again.stdout == b"" and b"is missing" in again.stderr.splitlines()[-1]


def test_a_run_that_never_began_has_no_log_to_miss(ponk):
    # There when the run is submitted; what it is shows when it is started.
    program = ponk.write("python", "\x7fELF no program\n")
    program.chmod(0o755)
    ponk.write("aml_config/local.compute", f"type: local\npythonLocation: {program}\n")
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py", code=72)
    assert ponk.run("logs", "last").stdout == b""


def test_a_run_that_holds_an_asset_cannot_be_deleted(ponk):
    ponk.write("make.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('m')\n")
    ponk.run("submit", "make.py")
    ponk.run("history", "promote", "last", "-ap", "outputs/m", "-n", "model")

    done = ponk.run("history", "delete", "last", "--yes", code=73)

    assert b"asset 'model'" in done.stderr


def test_a_run_is_found_by_its_name(ponk):
    ponk.write("a.py", "print('a')\n")
    ponk.run("submit", "--name", "base line", "a.py")
    first = ponk.json("history", "last")["run_id"]
    ponk.run("submit", "--name", "other 50%", "a.py")

    assert ponk.json("history", "info", "base line")["run_id"] == first
    assert ponk.text("logs", "other 50%") == "a\n"
    assert ponk.json("history", "compare", "base line", "other 50%")["runs"][0] == first

    ponk.run("submit", "--name", "base line", "a.py")
    done = ponk.run("history", "info", "base line", code=None)
    assert done.returncode != 0 and first.encode() in done.stderr and b"Give the id of one of them." in done.stderr
    assert b"there is no run 'nobody'" in ponk.run("history", "info", "nobody", code=None).stderr
