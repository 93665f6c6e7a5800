# SPDX-License-Identifier: Apache-2.0
"""What comes after attaching: check, doctor, setup, detach, and hosts that hang or go away."""
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import time

import host as hosts
import pytest
from test_attach import PASSWORD, close_master, folder_of
from test_programs import find_program


def test_connections_of_the_library(program):
    """The program that holds ssh/ to its promises, with a sshd of its own."""
    tests = find_program("tests/integration/ssh/ssh_connection_test")
    done = subprocess.run([tests, "--gtest_brief=1"], capture_output=True, timeout=200)
    assert done.returncode == 0 and b"SKIPPED" not in done.stdout, done.stdout.decode()[-4000:]


def test_check_says_what_keeps_us_out(ponk, attach, sshd, host_user):
    attach("--password", PASSWORD)
    close_master(ponk)
    host_user.write(".ssh/authorized_keys", "")

    denied = ponk.run("computetarget", "check", "box", code=69)

    assert b"refused the login" in denied.stderr and b"hint:" in denied.stderr
    sshd.stop()
    assert b"refuses connections" in ponk.run("computetarget", "check", "box", code=69).stderr


def test_doctor_covers_targets_that_are_reached_and_that_are_not(ponk, attach, sshd):
    attach("--password", PASSWORD)
    ponk.write("aml_config/gone.compute", f"type: remote\naddress: 127.0.0.1:{hosts.free_port()}\nusername: ann\n")
    ponk.write("aml_config/docker.compute", "type: docker\n")

    checks = json.loads(ponk.run("doctor", "-o", "json", code=65).stdout)

    found = {name: [check for check in checks if check["name"] == f"target '{name}'"] for name in ("box", "gone", "docker")}
    assert all(found.values()), checks
    # Nobody attached it, so nobody looks.
    assert found["gone"][0]["status"] == "warn" and "never attached" in found["gone"][0]["message"]
    assert found["gone"][0]["hint"].endswith("ponk attach --from aml_config/gone.compute")
    # Reached, but without an engine, which is told once and not as a success.
    assert [check["status"] for check in found["box"]] == ["fail"]
    assert "engine" in found["box"][0]["message"], found["box"]


@pytest.mark.full
def test_hung_sshd_is_an_error_in_time_and_forgotten_afterwards(ponk, attach, sshd):
    attach("--password", PASSWORD)
    ponk.run("daemon", "stop")
    close_master(ponk)
    sshd.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        done = ponk.run("computetarget", "check", "box", code=None, timeout=90)
        assert done.returncode in (69, 75) and b"does not answer" in done.stderr, done.stderr
        assert time.monotonic() - began < 80
    finally:
        sshd.signal(signal.SIGCONT)

    assert b"does not answer" not in ponk.run("computetarget", "check", "box", code=None).stderr


@pytest.mark.full
def test_master_killed_at_random_moments_never_hangs_or_confuses(ponk, attach):
    attach("--password", PASSWORD)
    seed = random.Random(5022)
    for turn in range(10):
        # Every third time the one that is just being opened is hit, too.
        before = masters(ponk) if turn % 3 else None
        process = ponk.start("computetarget", "check", "box")
        time.sleep(seed.uniform(0, 0.3))
        number = seed.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM]) if before else signal.SIGKILL
        for master in masters(ponk) if before is None else before:
            try:
                os.kill(master, number)
            except ProcessLookupError:
                pass
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 65), err


def test_detach_removes_the_key_there_and_here(ponk, attach, host_user):
    host_user.write(".ssh/authorized_keys", "ssh-rsa AAAAB3Nz other\n")
    attach("--password", PASSWORD)

    done = ponk.run("computetarget", "detach", "box")

    assert host_user.authorized == "ssh-rsa AAAAB3Nz other\n"
    assert not any((ponk.home / "ssh").iterdir())
    assert not (ponk.project / "aml_config/box.compute").exists()
    assert b"box.runconfig' was kept" in done.stderr
    assert masters(ponk) == []


class SmallDisk:
    """~/.ssh of the host's user on a disk that can be filled."""

    def __init__(self, user):
        self.user = user
        self.place = user.home / ".ssh"

    def __enter__(self):
        self.place.mkdir(mode=0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=32k,mode=700,uid={self.user.home.stat().st_uid}", "tmpfs",
                        str(self.place)], check=True)
        return self

    def fill(self):
        with open(self.place / "full", "wb", buffering=0) as stream:
            try:
                while stream.write(b"x" * 512):
                    pass
            except OSError:
                pass

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.place)], check=True)


OTHERS = "# a note\nssh-rsa AAAAB3Nz%s ann\n" % ("x" * 3000)


def test_detach_leaves_the_keys_of_others_where_the_disk_there_is_full(ponk, attach, host_user):
    with SmallDisk(host_user) as disk:
        host_user.write(".ssh/authorized_keys", OTHERS)
        attach("--password", PASSWORD)
        before = host_user.authorized
        disk.fill()

        done = ponk.run("computetarget", "detach", "box", "-o", "json")

        assert host_user.authorized == before
        assert json.loads(done.stdout)["key_removed"] is False and b"No space left" in done.stderr, done.stderr
        assert {place.name for place in disk.place.iterdir()} == {"authorized_keys", "full"}


def test_attach_leaves_the_keys_of_others_where_the_disk_there_is_full(ponk, attach, host_user):
    with SmallDisk(host_user) as disk:
        host_user.write(".ssh/authorized_keys", OTHERS)
        disk.fill()

        done = attach("--password", PASSWORD, code=69)

        assert host_user.authorized == OTHERS and b"adding the key" in done.stderr
        assert {place.name for place in disk.place.iterdir()} == {"authorized_keys", "full"}


def test_keys_kept_elsewhere_stay_there_with_their_rights(ponk, attach, host_user):
    kept = host_user.write("dotfiles/keys", OTHERS.rstrip(), 0o640)
    host_user.write(".ssh/config", "")
    (host_user.home / ".ssh/authorized_keys").symlink_to("../dotfiles/keys")
    attach("--password", PASSWORD)
    assert kept.read_text().startswith(OTHERS) and len(kept.read_text().splitlines()) == 3
    kept.chmod(0o644)

    ponk.run("computetarget", "detach", "box")

    assert kept.read_text() == OTHERS and (host_user.home / ".ssh/authorized_keys").is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o644 and kept.stat().st_uid == host_user.home.stat().st_uid
    assert [place.name for place in kept.parent.iterdir()] == ["keys"]


def test_detach_can_keep_the_key_for_the_next_time(ponk, attach, host_user):
    attach("--password", PASSWORD)

    ponk.run("computetarget", "detach", "box", "--keep-key")

    ponk.run("runconfig", "delete", "box")
    assert len(host_user.authorized.splitlines()) == 1
    attach(fingerprint=False)  # neither asked nor told anything


def test_detach_leaves_the_key_to_another_target_of_the_same_host(ponk, attach, host_user):
    attach("--password", PASSWORD)
    attach(name="other", fingerprint=False)

    done = ponk.run("computetarget", "detach", "box")
    assert b"other.compute" in done.stderr and len(host_user.authorized.splitlines()) == 1
    ponk.run("computetarget", "detach", "other")
    assert host_user.authorized == ""


def test_detach_works_when_the_host_is_gone_and_says_what_stays(ponk, attach, sshd, host_user):
    attach("--password", PASSWORD)
    close_master(ponk)
    sshd.stop()

    done = ponk.run("computetarget", "detach", "box")

    assert b"the key was not removed from" in done.stderr and b"refuses connections" in done.stderr and b"ponk of" in done.stderr
    assert not any((ponk.home / "ssh").iterdir()) and len(host_user.authorized.splitlines()) == 1


@pytest.fixture
def scratch(ground, me):
    """A folder for everybody on the host, like /tmp."""
    place = ground / "every one's"
    place.mkdir()
    place.chmod(0o1777)
    yield place
    shutil.rmtree(place)


def use_scratch(ponk, name, place):
    file = ponk.project / f"aml_config/{name}.compute"
    file.write_text(file.read_text() + f'scratch: "{place}"\n')


@pytest.mark.parametrize("planted", ["folder", "link", "bin"])
def test_program_that_another_user_put_in_our_place_is_not_executed(ponk, attach, host_user, me, scratch, planted):
    attach("--password", PASSWORD, kind="remote")
    (program,) = (host_user.home / ".ponk/bin").iterdir()
    ponk.run("daemon", "stop")
    # As large as the program itself, under its very name.
    script = f"#!/bin/sh\nid -un >{scratch}/trapped\nexit 0\n".encode().replace(b"every one's", b"every?one?s")
    evil = scratch / "evil"
    (evil / "bin").mkdir(parents=True)
    (evil / "bin" / program.name).write_bytes(script + b"#" * (program.stat().st_size - len(script)))
    (evil / "bin" / program.name).chmod(0o755)
    uid = host_user.home.stat().st_uid
    subprocess.run(["chown", "-R", f"{me.name}:", str(evil)], check=True)  # whose login does not matter
    ours = scratch / f"ponk-{uid}"
    if planted == "folder":
        evil.rename(ours)
    elif planted == "link":
        ours.symlink_to(evil)
        os.chown(ours, me.home.stat().st_uid, -1, follow_symlinks=False)
    else:
        ours.mkdir(mode=0o700)
        os.chown(ours, uid, -1)
        (ours / "bin").symlink_to(evil / "bin")
        os.chown(ours / "bin", uid, -1, follow_symlinks=False)
    use_scratch(ponk, "box", scratch)

    done = ponk.run("computetarget", "check", "box", code=None)

    assert done.returncode != 0 and not (scratch / "trapped").exists()
    assert b"belongs to another user" in done.stdout + done.stderr and str(ours).encode() in done.stdout + done.stderr


def test_scratch_of_everybody_is_served(ponk, attach, host_user, scratch):
    attach("--password", PASSWORD, kind="remote")
    use_scratch(ponk, "box", scratch)

    ponk.run("computetarget", "check", "box", code=None)

    ours = scratch / f"ponk-{host_user.home.stat().st_uid}"
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700 and any((ours / "bin").iterdir())


def test_detach_removes_files_of_ponk_and_only_those(ponk, attach, host_user):
    attach("--password", PASSWORD)
    host_user.write(".ponk/bin/ponk-agent-0123", "x")
    ponk.run("computetarget", "detach", "box", "--remove-files", code=64 + 1)  # nobody to ask
    ponk.run("computetarget", "detach", "box", "--remove-files", "--yes")
    assert not (host_user.home / ".ponk").exists()
    attach("--password", PASSWORD, name="two")
    ours = f"precious/ponk-{host_user.home.stat().st_uid}"
    host_user.write("precious/data", "x")
    host_user.write(f"{ours}/data", "x", 0o600)
    (ponk.project / "aml_config/two.compute").write_text((ponk.project / "aml_config/two.compute").read_text() + "scratch: ~/precious\n")
    done = ponk.run("computetarget", "detach", "two", "--remove-files", "--yes")
    assert b"is not a ponk folder" in done.stderr and (host_user.home / "precious/data").exists()
    assert (host_user.home / ours / "data").exists()


def test_detach_keeps_the_key_that_a_target_written_by_hand_uses(ponk, attach, host_user):
    attach("--password", PASSWORD, kind="remote")
    text = (ponk.project / "aml_config/box.compute").read_text()
    ponk.write("aml_config/hand.compute", text.replace("box", "hand") if "name: box" in text else text)
    subprocess.run(["chown", "-R", f"{ponk.user.name}:", str(ponk.project)], check=True)

    done = ponk.run("computetarget", "detach", "box")

    assert b"hand.compute' uses it too" in done.stderr and len(host_user.authorized.splitlines()) == 1
    assert b"refused the login" not in ponk.run("computetarget", "check", "hand", code=None).stderr
    ponk.run("computetarget", "detach", "hand")
    assert host_user.authorized == "" and not any((ponk.home / "ssh").iterdir())


PLAIN = "Target: {0}\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\nSparkDependenciesFile: null\n"


def submit(ponk, script, *words, target="box"):
    ponk.write(f"aml_config/{target}.runconfig", PLAIN.format(target))
    ponk.write("a.py", script)
    subprocess.run(["chown", "-R", f"{ponk.user.name}:", str(ponk.project)], check=True)
    return ponk.run("submit", "-c", target, *words, "a.py", timeout=120)


def cancel(ponk, run):
    ponk.run("experiment", "cancel", run, timeout=120)
    end = time.monotonic() + 90
    while ponk.json("history", "info", run)["status"] != "Canceled":
        assert time.monotonic() < end, ponk.json("history", "info", run)
        time.sleep(0.3)


def test_detach_is_refused_while_a_run_goes_on_there(ponk, attach, host_user):
    attach("--password", PASSWORD, kind="remote")
    submit(ponk, "import time; print('on', flush=True); time.sleep(600)\n", "--async")
    run = ponk.json("history", "last")["run_id"]
    before = (folder_of(ponk) / "settings.json").read_text()

    for words in ([], ["--remove-files", "--yes"], ["--keep-key", "--remove-files", "--yes"]):
        done = ponk.run("computetarget", "detach", "box", *words, code=73)
        assert run.encode() in done.stderr and b"--force" in done.stderr

    assert (ponk.project / "aml_config/box.compute").exists() and (folder_of(ponk) / "settings.json").read_text() == before
    assert len(host_user.authorized.splitlines()) == 1 and (host_user.home / ".ponk/runs" / run).exists()
    # Where the way stays, nobody is stranded.
    attach(name="other", kind="remote", fingerprint=False)
    ponk.run("computetarget", "detach", "other")
    cancel(ponk, run)
    ponk.run("computetarget", "detach", "box")
    assert host_user.authorized == ""


@pytest.mark.full
def test_detach_by_force_lets_a_run_go_on(ponk, attach, host_user):
    attach("--password", PASSWORD, kind="remote")
    submit(ponk, "import time; time.sleep(600)\n", "--async")
    run = ponk.json("history", "last")["run_id"]

    ponk.run("computetarget", "detach", "box", "--force")
    assert host_user.authorized == ""

    attach("--password", PASSWORD, kind="remote", name="again")
    cancel(ponk, run)


@pytest.mark.full
def test_detach_removes_files_below_scratch(ponk, attach, host_user, scratch):
    attach("--password", PASSWORD, kind="remote")
    use_scratch(ponk, "box", scratch)
    submit(ponk, "import os; os.mkdir('locked'); open('locked/x', 'w'); os.chmod('locked', 0o500)\n")
    ours = scratch / f"ponk-{host_user.home.stat().st_uid}"
    assert any((ours / "runs").iterdir())

    done = ponk.run("computetarget", "detach", "box", "--remove-files", "--yes", "-o", "json")

    assert json.loads(done.stdout)["files_removed"] is True, done.stderr
    assert not ours.exists() and scratch.exists() and (host_user.home / ".ponk").exists()


@pytest.mark.full
def test_detach_leaves_the_runs_of_other_machines(ponk, attach, host_user):
    attach("--password", PASSWORD, kind="remote")
    submit(ponk, "print(1)\n")
    run = ponk.json("history", "last")["run_id"]
    runs = host_user.home / ".ponk/runs"
    other = "0" * len(run)
    shutil.copytree(runs / run, runs / other)
    subprocess.run(["chown", "-R", f"{host_user.name}:", str(runs / other)], check=True)

    done = ponk.run("computetarget", "detach", "box", "--remove-files", "--yes", "-o", "json")

    assert json.loads(done.stdout)["files_removed"] is False
    assert b"not from this machine" in done.stderr and other.encode() in done.stderr
    assert (runs / other).exists() and not (runs / run).exists() and (host_user.home / ".ponk/store").exists()


@pytest.mark.full
def test_attaches_at_once_all_count_and_the_last_detach_takes_the_key(ponk, attach, host_user):
    names = ["one", "two", "three", "four"]
    started = [attach("--password", PASSWORD, name=name, kind="remote", run=ponk.start) for name in names]
    for process in started:
        out, err = process.communicate(timeout=200)
        assert process.returncode == 0, err

    settings = json.loads((folder_of(ponk) / "settings.json").read_text())
    assert {pathlib.Path(target).stem for target in settings["targets"]} == set(names)
    assert len(host_user.authorized.splitlines()) == 1
    leaving = [ponk.start("computetarget", "detach", name) for name in names[:3]]
    for process in leaving:
        assert process.wait(timeout=200) == 0, process.stderr.read()
    assert len(host_user.authorized.splitlines()) == 1
    close_master(ponk)
    assert b"refused the login" not in ponk.run("computetarget", "check", "four", code=None).stderr
    ponk.run("computetarget", "detach", "four")
    assert host_user.authorized == "" and not any((ponk.home / "ssh").iterdir())


@pytest.fixture
def plain_host(host_user, ground):
    """A host whose /etc is a copy, with stand-ins for the programs that would change this machine."""
    if not shutil.which("sudo"):
        pytest.skip("'sudo' is not installed")
    host_user.empty()
    folder = ground / "plain"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("etc", "work", "bin"):
        (folder / name).mkdir(parents=True)
    record = folder / "record"
    record.write_text("")
    for name in ("apt-get", "service", "systemctl", "dockerd"):
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\necho {name} \"$@\" >> {record}\necho {name} was here\n")
        program.chmod(0o755)
    (folder / "bin/dockerd").unlink()
    hide = " ".join(f"mount --bind /dev/null {place}; " for place in ("/usr/sbin/dockerd", "/usr/bin/docker") if os.path.exists(place))
    script = (f"mount --make-rprivate / && mount -t overlay -o lowerdir=/etc,upperdir={folder}/etc,workdir={folder}/work overlay /etc && "
              f"mount --bind {folder}/bin /usr/local/sbin && {hide} exec \"$@\"")
    server = hosts.Sshd(before=["unshare", "-m", "sh", "-c", script, "sh"])
    tried = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], capture_output=True)
    if tried.returncode != 0:
        pytest.skip("no file system can be laid over /etc here: " + tried.stderr.decode().strip())
    server.start()
    server.etc, server.record = folder / "etc", record
    yield server
    server.remove()


def attach_plain(ponk, server, user, kind="remotedocker"):
    ponk.run("attach", kind, "--name", "box", "--address", f"127.0.0.1:{server.port}", "--username", user.name,
             "--fingerprint", server.fingerprint(), "--password", PASSWORD)


def sudoers(server, user, rule):
    (server.etc / "sudoers.d").mkdir(exist_ok=True)
    place = server.etc / "sudoers.d" / "ponk-test"
    place.write_text(f"{user.name} ALL=(ALL) {rule}\n")
    place.chmod(0o440)


def test_setup_says_what_it_will_do_and_does_it(ponk, plain_host, host_user):
    sudoers(plain_host, host_user, "NOPASSWD: ALL")
    attach_plain(ponk, plain_host, host_user)

    shown = ponk.run("computetarget", "setup", "box", "--dry-run").stderr.decode()
    assert "docker.io" in shown and "live-restore" in shown and "group docker" in shown
    assert plain_host.record.read_text() == ""
    refused = ponk.run("computetarget", "setup", "box", code=65)
    assert b"--yes" in refused.stderr and plain_host.record.read_text() == ""

    done = ponk.run("computetarget", "setup", "box", "--yes")

    assert "apt-get install -y --no-install-recommends docker.io" in plain_host.record.read_text()
    assert json.loads((plain_host.etc / "docker/daemon.json").read_text()) == {"live-restore": True}
    assert any(line.startswith("docker:") and host_user.name in line for line in (plain_host.etc / "group").read_text().splitlines())
    log = next(folder_of(ponk).glob("setup-*.log"))
    assert "apt-get was here" in log.read_text() and str(log).encode() in done.stderr
    assert not pathlib.Path("/etc/docker/daemon.json").exists() or "before-ponk" not in os.listdir("/etc/docker")


@pytest.mark.full
def test_setup_asks_for_the_password_of_sudo_and_keeps_it_nowhere(ponk, plain_host, host_user):
    sudoers(plain_host, host_user, "ALL")
    attach_plain(ponk, plain_host, host_user)
    (plain_host.etc / "docker").mkdir(exist_ok=True)
    (plain_host.etc / "docker/daemon.json").write_text('{"log-driver": "local"}\n')

    assert b"no terminal" in ponk.run("computetarget", "setup", "box", "--yes", code=69).stderr
    code, shown = ponk.type("computetarget", "setup", "box", answers=[("[y/N]", "y"), ("for sudo", "wrong")])
    assert code == 69 and "does not accept the password" in shown and plain_host.record.read_text() == ""

    code, shown = ponk.type("computetarget", "setup", "box", answers=[("[y/N]", "y"), ("for sudo", PASSWORD)])

    assert code == 0 and PASSWORD not in shown, shown
    assert "apt-get install" in plain_host.record.read_text()
    assert json.loads((plain_host.etc / "docker/daemon.json").read_text()) == {"log-driver": "local", "live-restore": True}
    for log in folder_of(ponk).glob("setup-*.log"):
        assert PASSWORD not in log.read_text()


def test_setup_without_any_right_says_what_its_owner_must_do(ponk, plain_host, host_user):
    # Before anybody has looked: what lies below an overlay must not change afterwards.
    (plain_host.etc / "os-release").write_text('ID=fedora\nPRETTY_NAME="Fedora Linux 40"\n')
    attach_plain(ponk, plain_host, host_user)

    done = ponk.run("computetarget", "setup", "box", "--yes", code=69)

    assert b"Fedora Linux 40" in done.stderr and b"only Debian and Ubuntu" in done.stderr


def masters(ponk):
    found = []
    for process in hosts.processes_of(ponk.user.name):
        try:
            words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if words.startswith(b"ssh\0") and b"ControlMaster=yes" in words:
            found.append(process)
    return found
