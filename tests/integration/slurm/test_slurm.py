# SPDX-License-Identifier: Apache-2.0
"""Runs on a real Slurm cluster, as a user meets them."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from test_programs import find_program

BOUND = 60


def wait_for(condition):
    end = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def state(ponk, run="last"):
    return ponk.json("history", "info", run)["status"]


def test_contract_of_executors(cluster):
    program = find_program("src/executor/ponk_executor_slurm_test")
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, timeout=300,
                          env={**os.environ, **cluster.variables})
    assert done.returncode == 0, done.stdout.decode()[-4000:]


def test_check_tells_partitions_and_whether_nodes_see_the_folder(slurm):
    done = slurm.json("attach", "slurm", "--name", "other", "--partition", "main,low", "--gres", "gpu:stand:1", "--qos", "any")

    assert done["ready"] and not done["problems"]
    written = (slurm.project / "aml_config/other.compute").read_text()
    assert 'partition: "main,low"\n' in written and "qos: any\n" in written
    found = done["facts"]["slurm"]
    main, low = found["partitions"]
    assert (main["name"], main["default"], main["nodes"], main["gres"]) == ("main", True, "2", "gpu:stand:2")
    assert (low["name"], low["default"], low["time_limit"]) == ("low", False, "30:00")
    assert found["test_job_ms"] > 0
    assert not list((slurm.home / "slurm").glob("check-*"))

    slurm.write("aml_config/cluster.compute", "type: slurm\npartition: nowhere\n")
    done = slurm.run("computetarget", "check", "cluster", "-o", "table", code=65)
    assert b"there is no partition 'nowhere'" in done.stderr


def test_submit_brings_log_metrics_outputs_and_code(slurm, tmp_path):
    slurm.write("train.py", "import os, ponk, sys\nprint('job', os.environ['SLURM_JOB_ID'] > '0')\nponk.log('loss', 0.5)\n"
                            "os.makedirs('outputs', exist_ok=True)\nopen('outputs/m.txt', 'w').write('weights')\nsys.exit(3)\n")

    done = slurm.run("submit", "-c", "cluster", "train.py", code=3)

    assert done.stdout == b"job True\n"
    run = slurm.json("history", "info", "last")
    assert (run["status"], run["exit_code"], run["target"], run["loss"]) == ("Failed", 3, "cluster", 0.5)
    slurm.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/m.txt").read_text() == "weights"


def test_what_the_file_says_reaches_sbatch_and_what_is_ours_is_refused(slurm, cluster):
    slurm.write("a.py", "import os, time\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'), flush=True)\ntime.sleep(60)\n")
    slurm.write("aml_config/cluster.compute",
                "type: slurm\npartition: low\ngres: gpu:stand:1\nsbatch:\n  mem: 100M\n  exclusive: true\n  nice: 5\n")
    slurm.run("submit", "--async", "-c", "cluster", "--gpus", "2", "--time-limit", "10m", "a.py")
    wait_for(lambda: slurm.run("logs", "last").stdout == b"0,1\n")

    [shown] = cluster.call("squeue", "-h", "-t", "R", "-o", "%P %m %h %b %l %y").splitlines()

    assert shown.split()[:3] == ["low", "100M", "NO"] and "gpu:stand:2" in shown and "12:00" in shown, shown
    slurm.run("experiment", "cancel", "last")
    wait_for(lambda: state(slurm) == "Canceled")

    for line, problem in (("output: /x", b"'sbatch' cannot have 'output': ponk sets it itself"),
                          ("partition: low", b"Write 'partition' as a key of the target"),
                          ("--mem: 1G", b"is not the long name of an sbatch option")):
        slurm.write("aml_config/cluster.compute", f"type: slurm\nsbatch:\n  {line}\n")
        done = slurm.run("submit", "-c", "cluster", "a.py", code=65)
        assert problem in done.stderr and b"cluster.compute:3:3" in done.stderr, done.stderr


def test_what_slurm_refuses_is_the_runs_error(slurm):
    slurm.write("a.py", "print(1)\n")
    slurm.write("aml_config/cluster.compute", "type: slurm\nsbatch:\n  nodelist: nowhere\n")

    done = slurm.run("submit", "-c", "cluster", "a.py", code=72)

    assert b"sbatch: Batch job submission failed: Invalid node name specified" in done.stderr
    assert b"ponk computetarget check cluster" in done.stderr


def test_a_waiting_run_is_queued_with_slurms_reason(slurm):
    slurm.write("a.py", "print(1)\n")
    slurm.write("aml_config/cluster.compute", "type: slurm\nsbatch:\n  begin: now+1hour\n")
    slurm.run("submit", "--async", "-c", "cluster", "a.py")
    wait_for(lambda: state(slurm) == "Queued")

    slurm.run("experiment", "cancel", "last")

    wait_for(lambda: state(slurm) == "Canceled")


def test_a_run_goes_on_while_daemon_and_controller_are_away(slurm, cluster):
    slurm.write("a.py", "import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('/tmp/go-%s' % os.environ['GO']):\n"
                        "    time.sleep(0.1)\nprint('done')\nraise SystemExit(5)\n")
    mark = f"/tmp/go-{os.getpid()}"
    slurm.run("submit", "--async", "-c", "cluster", "--env", f"GO={os.getpid()}", "a.py")
    wait_for(lambda: slurm.run("logs", "last").stdout == b"begun\n")

    slurm.run("daemon", "stop")
    cluster.stop_process("slurmctld")
    try:
        open(mark, "w").close()
        wait_for(lambda: state(slurm) == "Failed")
    finally:
        os.unlink(mark)
        cluster.start_controller()
        cluster.wait_until_idle()

    run = slurm.json("history", "info", "last")
    assert run["exit_code"] == 5
    assert slurm.run("logs", "last").stdout == b"begun\ndone\n"


def test_preemption_is_a_cause_of_its_own(slurm, cluster):
    slurm.write("a.py", "import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    slurm.write("aml_config/cluster.compute", "type: slurm\npartition: low\nsbatch:\n  nodelist: n2\n  exclusive: true\n")
    slurm.run("submit", "--async", "-c", "cluster", "a.py")
    wait_for(lambda: slurm.run("logs", "last").stdout == b"begun\n")

    cluster.call("sbatch", "--nodelist=n2", "--exclusive", "--output=/dev/null", "--wrap", "true")

    wait_for(lambda: state(slurm) == "Failed")
    error = slurm.json("history", "info", "last")["error"]
    assert "preempted" in json.dumps(error), error


def test_a_login_node_by_ssh_brings_everything_home_and_keeps_no_process(login, tmp_path):
    ponk, node = login
    ponk.write("train.py", "import os, ponk, sys, time\nprint('in', os.getcwd(), flush=True)\nponk.log('loss', 0.25)\n"
                           "os.makedirs('outputs', exist_ok=True)\nopen('outputs/m.txt', 'w').write('weights')\n"
                           "time.sleep(2)\nsys.exit(4)\n")

    done = ponk.run("submit", "-c", "cluster", "train.py", code=4)

    assert done.stdout.startswith(f"in {node.home}/.ponk/runs/".encode())
    run = ponk.json("history", "info", "last")
    assert (run["status"], run["exit_code"], run["target_type"], run["loss"]) == ("Failed", 4, "slurm", 0.25)
    ponk.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/m.txt").read_text() == "weights"
    found = ponk.json("computetarget", "check", "cluster")
    assert found["works"] and [each["name"] for each in found["facts"]["slurm"]["partitions"]] == ["main", "low"]

    # While nobody watches, the job goes on alone.
    ponk.write("slow.py", "import time\nprint('begun', flush=True)\ntime.sleep(4)\nprint('done')\n")
    ponk.run("submit", "--async", "-c", "cluster", "slow.py")
    wait_for(lambda: ponk.run("logs", "last").stdout == b"begun\n")
    ponk.run("daemon", "stop")
    wait_for(lambda: not agents_of(node))
    wait_for(lambda: state(ponk) == "Completed")
    assert ponk.run("logs", "last").stdout == b"begun\ndone\n"


def agents_of(node):
    """Processes of ponk-agent that serve this login node."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if words and b"ponk-agent" in words[0] and f"{node.home}/.ponk".encode() in words:
                found.append(entry.name)
    return found


def test_a_job_script_is_submitted_as_it_lies_there(slurm, cluster):
    slurm.write("job.sh", "#!/bin/sh\n#SBATCH --partition=low --mem=77M\n#SBATCH -o ignored-%j.txt\n#SBATCH --ntasks=1\n"
                          "echo $SLURM_JOB_PARTITION\nscontrol show job $SLURM_JOB_ID | grep -o 'MinMemoryNode=[^ ]*'\n")

    done = slurm.run("submit", "-c", "cluster", "job.sh")

    assert done.stdout == b"low\nMinMemoryNode=77M\n"
    assert b"job.sh: ponk sets --output itself" in done.stderr
    slurm.write("job.sh", "#!/bin/sh\n#SBATCH --array=1-3\necho\n")
    assert b"job.sh:2: '#SBATCH --array=1-3' cannot be kept" in slurm.run("submit", "-c", "cluster", "job.sh", code=65).stderr


def kill_daemon(slurm):
    pid = slurm.json("daemon", "status")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))


def test_a_waiting_run_outlives_the_daemon(slurm, cluster):
    slurm.write("a.py", "print('done')\n")
    slurm.write("aml_config/cluster.compute", "type: slurm\nsbatch:\n  begin: now+1hour\n")
    slurm.run("submit", "--async", "-c", "cluster", "a.py")
    wait_for(lambda: state(slurm) == "Queued")

    for end in (lambda: kill_daemon(slurm), lambda: slurm.run("daemon", "stop")):
        end()
        assert state(slurm) == "Queued"
        time.sleep(2)
        assert state(slurm) == "Queued"
    name = "ponk-" + slurm.json("history", "info", "last")["run_id"]
    [number] = cluster.call("squeue", "-h", "-n", name, "-o", "%A").split()
    cluster.call("scontrol", "update", f"JobId={number}", "StartTime=now")

    wait_for(lambda: state(slurm) == "Completed")
    assert slurm.run("logs", "last").stdout == b"done\n"


def test_a_job_that_others_remove_from_the_queue_says_so(slurm, cluster):
    slurm.write("a.py", "print(1)\n")
    slurm.write("aml_config/cluster.compute", "type: slurm\nsbatch:\n  begin: now+1hour\n")
    slurm.run("submit", "--async", "-c", "cluster", "a.py")
    wait_for(lambda: state(slurm) == "Queued")

    cluster.call("scancel", "--name", "ponk-" + slurm.json("history", "info", "last")["run_id"])

    wait_for(lambda: state(slurm) == "Failed")
    assert "was removed from Slurm's queue, and not by ponk" in slurm.json("history", "info", "last")["error"]["message"]
