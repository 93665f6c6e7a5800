# SPDX-License-Identifier: Apache-2.0
"""Attaching hosts as a user does it, to a real sshd."""
import json
import os
import pathlib
import shutil
import stat
import subprocess

import host as hosts
import hostile
import pytest
import yaml

PASSWORD = hosts.PASSWORD


def read(ponk, name):
    return yaml.safe_load((ponk.project / "aml_config" / name).read_text())


def nothing_left(ponk):
    folder = ponk.home / "ssh"
    return not (ponk.project / "aml_config").exists() and (not folder.exists() or not any(folder.iterdir()))


def folder_of(ponk):
    (folder,) = (ponk.home / "ssh").iterdir()
    return folder


@pytest.mark.parametrize("grammar", ["december", "september"])
def test_attach_with_a_password_writes_files_and_leaves_a_key(ponk, sshd, host_user, grammar):
    machine = ["--address", f"127.0.0.1:{sshd.port}", "--username", host_user.name, "--password", PASSWORD,
               "--fingerprint", sshd.fingerprint()]
    words = ["remotedocker", "--name", "my_dsvm", *machine] if grammar == "december" else \
        ["--name", "my_dsvm", *machine, "--type", "remotedocker"]

    done = ponk.run("computetarget", "attach", *words)

    compute, runconfig = read(ponk, "my_dsvm.compute"), read(ponk, "my_dsvm.runconfig")
    assert compute["type"] == "remotedocker" and compute["address"] == f"127.0.0.1:{sshd.port}"
    assert compute["username"] == host_user.name and "password" not in compute
    assert compute["baseDockerImage"] and compute["nvidiaDocker"] is False and compute["sharedVolumes"] is True
    assert runconfig["Framework"] == "Python" and runconfig["PrepareEnvironment"] is True
    assert runconfig["Target"] == "my_dsvm"
    assert b"next: " in done.stderr
    (line,) = host_user.authorized.splitlines()
    assert line.startswith("restrict ssh-ed25519 AAAA") and " ponk of " in line
    assert stat.S_IMODE((host_user.home / ".ssh").stat().st_mode) == 0o700
    assert stat.S_IMODE((host_user.home / ".ssh/authorized_keys").stat().st_mode) == 0o600
    # The key alone opens the host.
    key = folder_of(ponk) / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    ponk.run("computetarget", "check", "my_dsvm", code=None)
    login = subprocess.run(["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
                            "-o", f"UserKnownHostsFile={folder_of(ponk)}/known_hosts", "-o", "StrictHostKeyChecking=yes",
                            "-i", str(key), "-p", str(sshd.port), f"{host_user.name}@127.0.0.1", "id -un"],
                           capture_output=True, user=ponk.user.name, group=ponk.user.name, extra_groups=[])
    assert login.stdout.decode().strip() == host_user.name, login.stderr


def test_second_attach_needs_no_password_and_adds_no_second_key(ponk, attach, host_user):
    attach("--password", PASSWORD)

    attach(name="again", kind="virtualmachine", fingerprint=False)
    attach("--password", PASSWORD, name="third", kind="vm")

    assert len(host_user.authorized.splitlines()) == 1
    assert read(ponk, "again.compute")["type"] == read(ponk, "third.compute")["type"] == "remotedocker"


@pytest.mark.full
def test_key_that_was_made_for_the_host_serves_when_one_is_requested(ponk, attach, host_user):
    attach("--password", PASSWORD)
    authorized = host_user.authorized
    attach("--use-azureml-ssh-key", name="again")
    assert host_user.authorized == authorized


def test_existing_keys_of_the_host_stay_as_they_are(attach, host_user):
    host_user.write(".ssh/authorized_keys", "# mine\nssh-rsa AAAAB3Nz other", 0o664)

    attach("--password", PASSWORD)

    lines = host_user.authorized.splitlines()
    assert lines[:2] == ["# mine", "ssh-rsa AAAAB3Nz other"] and len(lines) == 3


def test_remote_target_uses_the_python_that_is_there(ponk, attach):
    attach("--password", PASSWORD, kind="remote")

    compute = read(ponk, "box.compute")
    assert compute["type"] == "remote" and compute["userManagedEnvironment"] is True
    assert compute["pythonLocation"] == "python3" and "baseDockerImage" not in compute


def test_a_machine_that_a_file_names_is_attached_by_that_file(ponk, sshd, host_user):
    text = f"type: remote\naddress: 127.0.0.1:{sshd.port}\nusername: {host_user.name}\npassword: not-used\npythonLocation: python3\n"
    ponk.write("aml_config/lab.compute", text)
    ponk.write("aml_config/lab.runconfig", "Target: lab\nFramework: Python\n")
    shutil.chown(ponk.project / "aml_config", ponk.user.name)
    refused = ponk.run("computetarget", "check", "lab", code=69).stderr
    assert b"never attached" in refused and b"ponk attach --from aml_config/lab.compute" in refused

    done = ponk.run("attach", "--from", "aml_config/lab.compute", "--password", PASSWORD, "--fingerprint", sshd.fingerprint(), "-o", "json")

    assert json.loads(done.stdout)["name"] == "lab" and (ponk.project / "aml_config/lab.compute").read_text() == text
    assert len(host_user.authorized.splitlines()) == 1
    ponk.run("computetarget", "check", "lab")
    ponk.run("computetarget", "detach", "lab")
    assert host_user.authorized.strip() == ""
    ponk.write("aml_config/lab.compute", text)
    assert b"never attached" in ponk.run("computetarget", "check", "lab", code=69).stderr
    # On a terminal the same is one question more than an attach has.
    code, shown = ponk.type("computetarget", "check", "lab", answers=[
        ("which is not attached yet. Attach it and log in? [y/N]", "y"), ("host key? [y/N]", "y"), ("Password of", PASSWORD)])
    assert code == 0 and f"aml_config/lab.compute:2 names the machine '127.0.0.1', port {sshd.port}" in shown, shown
    ponk.run("computetarget", "check", "lab")


def test_engine_of_this_machine_is_attached_by_both_names(ponk):
    ponk.run("computetarget", "attach", "localdocker", "--name", "one")
    ponk.run("computetarget", "attach", "--name", "two", "--type", "docker", "--image", "mine/image:1")

    assert read(ponk, "one.compute")["type"] == read(ponk, "two.compute")["type"] == "localdocker"
    assert read(ponk, "two.compute")["baseDockerImage"] == "mine/image:1"
    assert read(ponk, "two.runconfig")["Target"] == "two"
    ponk.run("attach", "docker", "--name", "three", "--password", "x", code=64)


def test_wrong_password_leaves_nothing_behind(ponk, attach, host_user):
    done = attach("--password", "wrong-" + PASSWORD, code=69)

    assert b"does not accept the password" in done.stderr and b"hint:" in done.stderr
    assert nothing_left(ponk) and host_user.authorized == ""


def test_user_who_is_not_there_is_told_like_a_wrong_password(ponk, sshd):
    done = ponk.run("attach", "remote", "-n", "box", "-a", f"127.0.0.1:{sshd.port}", "-u", "nobody-like-this", "-w", "x",
                    "--fingerprint", sshd.fingerprint(), code=69)

    assert b"or has no such user" in done.stderr and nothing_left(ponk)


def test_unknown_host_key_is_refused_without_a_terminal(ponk, attach, sshd):
    done = attach("--password", PASSWORD, fingerprint=False, code=73)

    assert sshd.fingerprint().encode() in done.stderr and b"ED25519" in done.stderr
    assert b"--fingerprint SHA256:" in done.stderr and nothing_left(ponk)


def test_host_key_alone_is_shown_and_nothing_is_attached(ponk, sshd, host_user):
    address = f"127.0.0.1:{sshd.port}"
    shown = json.loads(ponk.run("attach", "--show-host-key", "--address", address, "--username", host_user.name, "-o", "json").stdout)

    assert shown["fingerprint"] == sshd.fingerprint() and shown["type"] == "ED25519" and shown["known"] is False
    assert nothing_left(ponk) and host_user.authorized == ""
    ponk.user.write(".ssh/known_hosts", sshd.known_hosts_line())
    again = json.loads(ponk.run("attach", "--show-host-key", "--address", address, "--username", host_user.name, "-o", "json").stdout)
    assert again["known"] is True and nothing_left(ponk)


def test_password_on_standard_input_is_used_once(ponk, attach, host_user):
    attach("--password-stdin", input=PASSWORD.encode() + b"\n")
    assert host_user.authorized.count("ponk of") == 1
    refused = attach("--password-stdin", name="other", code=64)
    assert b"password on standard input is empty" in refused.stderr


def test_wrong_fingerprint_is_refused_before_the_password_is_sent(ponk, attach, sshd):
    done = attach("--password", PASSWORD, "--fingerprint", "SHA256:" + "A" * 43, fingerprint=False, code=73)

    assert sshd.fingerprint().encode() in done.stderr and sshd.fingerprint("rsa").encode() in done.stderr
    assert nothing_left(ponk) and "password for" not in (sshd.folder / "log").read_text().splitlines()[-1]


def test_fingerprint_of_any_of_its_keys_will_do(ponk, attach, sshd):
    attach("--password", PASSWORD, "--fingerprint", sshd.fingerprint("rsa"), fingerprint=False)

    assert " ssh-rsa " in (folder_of(ponk) / "known_hosts").read_text()
    assert ponk.run("computetarget", "check", "box", code=None).returncode in (0, 65)


def test_changed_host_key_is_refused_with_both_fingerprints_and_the_next_step(ponk, attach, sshd):
    attach("--password", PASSWORD)
    ponk.run("daemon", "stop")
    before = sshd.fingerprint()
    close_master(ponk)
    sshd.stop()
    sshd.new_host_keys()
    sshd.start()

    done = attach("--password", PASSWORD, name="other", fingerprint=False, code=73)

    assert before.encode() in done.stderr and sshd.fingerprint().encode() in done.stderr
    assert b"--fingerprint" in done.stderr and b"nothing was sent" in done.stderr
    refused = ponk.run("computetarget", "check", "box", code=73).stderr
    assert b"not the one that is known" in refused and sshd.fingerprint().encode() in refused
    # What the message says to do, works, and the target's file stays as somebody edited it.
    edited = ponk.project / "aml_config/box.compute"
    edited.write_text(edited.read_text() + "# mine\n")
    ponk.run("computetarget", "check", "box", "--fingerprint", before, code=None)
    ponk.run("computetarget", "check", "box", code=73)
    accepted = ponk.run("computetarget", "check", "box", "--fingerprint", sshd.fingerprint(), code=None)
    assert accepted.returncode in (0, 65) and b"is accepted" in accepted.stderr
    assert ponk.run("computetarget", "check", "box", code=None).returncode in (0, 65)
    assert edited.read_text().endswith("# mine\n")
    attach("--password", PASSWORD, name="other")
    ponk.run("computetarget", "check", "box", code=None)


@pytest.mark.parametrize("hashed", [False, True])
def test_key_that_the_user_knows_already_counts(ponk, attach, sshd, me, hashed):
    known = me.write(".ssh/known_hosts", sshd.known_hosts_line())
    if hashed:
        subprocess.run(["ssh-keygen", "-H", "-f", str(known)], check=True, capture_output=True)
        subprocess.run(["chown", f"{me.name}:", str(known)], check=True)

    attach("--password", PASSWORD, fingerprint=False)

    assert (ponk.project / "aml_config/box.compute").exists()


def test_key_that_differs_from_the_users_own_entry_is_refused(ponk, attach, sshd, me):
    hosts.make_key(me.home / "foreign")
    me.write(".ssh/known_hosts", f"[127.0.0.1]:{sshd.port} {(me.home / 'foreign.pub').read_text()}")

    done = attach("--password", PASSWORD, fingerprint=False, code=73)

    assert b"ssh-keygen -R" in done.stderr and b".ssh/known_hosts" in done.stderr and nothing_left(ponk)


@pytest.mark.parametrize("address, words, code", [
    ("127.0.0.1:{free}", b"refuses connections on port", 69),
    ("no-such-machine.invalid", b"no machine is called", 69),
    ("-oProxyCommand=touch${{IFS}}x", b"", 64),
    ("127.0.0.1;reboot", b"cannot be the name of a machine", 64),
    ("127.0.0.1:70000", b"is not an address", 64),
])
def test_places_that_are_none(ponk, address, words, code):
    done = ponk.run("attach", "remote", "-n", "box", f"--address={address.format(free=hosts.free_port())}", "-u", "ann", "-w", "x",
                    code=code)

    assert words in done.stderr and nothing_left(ponk)


def test_machine_that_takes_keys_only_says_so(ponk, host_user):
    server = hosts.Sshd(["PasswordAuthentication no"]).start()
    try:
        done = ponk.run("attach", "remote", "-n", "box", "-a", f"127.0.0.1:{server.port}", "-u", host_user.name, "-w", "x",
                        "--fingerprint", server.fingerprint(), code=69)
    finally:
        server.remove()

    assert b"does not accept passwords, only: publickey" in done.stderr and b"--private-key-file" in done.stderr
    assert nothing_left(ponk)


@pytest.mark.full
def test_machine_that_asks_through_pam(ponk, host_user):
    host_user.empty()
    server = hosts.Sshd(["UsePAM yes", "PasswordAuthentication no", "KbdInteractiveAuthentication yes"]).start()
    try:
        ponk.run("attach", "remote", "-n", "box", "-a", f"127.0.0.1:{server.port}", "-u", host_user.name, "-w", PASSWORD,
                 "--fingerprint", server.fingerprint())
    finally:
        server.remove()

    assert len(host_user.authorized.splitlines()) == 1


@pytest.mark.full
def test_machine_that_does_not_read_authorized_keys_gets_its_key_taken_away(ponk, host_user):
    host_user.empty()
    server = hosts.Sshd(["AuthorizedKeysFile /nowhere/%u"]).start()
    try:
        done = ponk.run("attach", "remote", "-n", "box", "-a", f"127.0.0.1:{server.port}", "-u", host_user.name, "-w", PASSWORD,
                        "--fingerprint", server.fingerprint(), code=69)
    finally:
        server.remove()

    assert b"does not accept the key that was added" in done.stderr and b"AuthorizedKeysFile" in done.stderr
    assert host_user.authorized.strip() == "" and nothing_left(ponk)


def test_agent_key_opens_the_host(ponk, attach, me, host_user):
    key = give_key(me, host_user)
    with agent(me, key) as environment:
        key.unlink()
        attach(env=environment)
        ponk.run("computetarget", "check", "box", env=environment, code=None)

        assert len(host_user.authorized.splitlines()) == 1
        assert '"identity": "user"' in (folder_of(ponk) / "settings.json").read_text()


def test_key_made_for_the_host_is_added_with_the_agents(ponk, attach, me, host_user):
    key = give_key(me, host_user)
    with agent(me, key) as environment:
        key.unlink()
        attach("--use-azureml-ssh-key", env=environment)

    assert len(host_user.authorized.splitlines()) == 2
    assert '"identity": "own"' in (folder_of(ponk) / "settings.json").read_text()
    close_master(ponk)
    assert b"refused the login" not in ponk.run("computetarget", "check", "box", code=None).stderr


def test_private_key_without_passphrase_is_used_itself(ponk, attach, me, host_user):
    key = give_key(me, host_user, name="odd name %h")

    attach("--private-key-file", key)

    assert len(host_user.authorized.splitlines()) == 1
    close_master(ponk)
    assert b"refused the login" not in ponk.run("computetarget", "check", "box", code=None).stderr


@pytest.mark.full
def test_private_key_with_passphrase_is_asked_for_or_given(ponk, attach, me, host_user):
    key = give_key(me, host_user, passphrase="open-sesame-1001")

    assert b"has a passphrase" in attach("--private-key-file", key, code=64 + 1).stderr
    wrong = attach("--private-key-file", key, "--private-key-passphrase", "nope", code=65)
    assert b"passphrase of private key" in wrong.stderr and nothing_left(ponk)
    attach("--private-key-file", key, "--private-key-passphrase", "open-sesame-1001")
    assert len(host_user.authorized.splitlines()) == 2  # theirs, and one that needs nobody
    code, shown = attach("--private-key-file", key, name="typed", run=ponk.type, answers=[("Passphrase of", "open-sesame-1001")])
    assert code == 0, shown
    assert "open-sesame" not in shown


def test_file_that_is_no_key_is_named(ponk, attach, me):
    text = me.write("notes.txt", "hello")

    assert b"is not a private key" in attach("--private-key-file", text, code=65).stderr
    assert b"notes2.txt" in attach("--private-key-file", me.home / "notes2.txt", code=66).stderr
    assert nothing_left(ponk)


def test_public_key_is_not_taken_for_one_with_wrong_rights(ponk, attach, me):
    public = me.write("mykey.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHs me\n")
    os.chmod(public, 0o644)
    done = attach("--private-key-file", str(public), code=65)
    assert b"is a public key" in done.stderr and b"mykey'" in done.stderr and b"chmod" not in done.stderr


@pytest.mark.full
def test_everything_that_is_missing_is_asked_for_on_a_terminal(ponk, sshd, host_user):
    code, shown = ponk.type("attach", "remotedocker", "--name", "box", answers=[
        ("Machine", f"127.0.0.1:{sshd.port}"), ("User on", host_user.name), ("[y/N]", "y"),
        ("Password of", "wrong one"), ("Password of", PASSWORD)])

    assert code == 0, shown
    assert f"ED25519 host key {sshd.fingerprint()}" in shown and PASSWORD not in shown
    assert (ponk.project / "aml_config/box.compute").exists()


def test_no_to_the_host_key_leaves_nothing_behind(ponk, attach):
    code, shown = attach("--password", PASSWORD, fingerprint=False, run=ponk.type, answers=[("[y/N]", "n")])

    assert code == 77 and "nothing was changed" in shown and nothing_left(ponk)


def test_broken_config_of_the_user_is_told_as_ssh_tells_it(ponk, me):
    me.write(".ssh/config", "Host box\n  NoSuchWord yes\n")

    done = ponk.run("attach", "remote", "--name", "box", "--address", "box", code=65)

    assert b"NoSuchWord" in done.stderr.lower() or b"nosuchword" in done.stderr.lower()
    assert b"~/.ssh/config" in done.stderr and nothing_left(ponk)


@pytest.mark.full
def test_jump_host_and_alias_of_the_users_own_config(ponk, sshd, me, host_user):
    key = give_key(me, host_user)
    jump = hosts.Sshd(["AllowTcpForwarding yes"], host="127.0.0.2").start()
    try:
        me.write(".ssh/known_hosts", jump.known_hosts_line())
        me.write(".ssh/config", f"Host jump\n  HostName 127.0.0.2\n  Port {jump.port}\n  User {host_user.name}\n"
                                f"  IdentityFile \"{key}\"\nHost gpubox\n  HostName 127.0.0.1\n  Port {sshd.port}\n"
                                f"  User {host_user.name}\n  ProxyJump jump\n")

        ponk.run("attach", "remotedocker", "--name", "box", "--address", "gpubox", "--password", PASSWORD,
                 "--fingerprint", sshd.fingerprint())
        ponk.run("computetarget", "check", "box", code=None)

        compute = read(ponk, "box.compute")
        assert compute["address"] == "gpubox" and compute["username"] == host_user.name
        # The password is the host's: a jump host that asks for one does not get it.
        me.write(".ssh/config", (me.home / ".ssh/config").read_text().replace(f"  IdentityFile \"{key}\"\n", ""))
        done = ponk.run("attach", "remotedocker", "--name", "two", "--address", "gpubox", "--password", PASSWORD,
                        "--fingerprint", sshd.fingerprint(), code=69)
        assert b"jump host" in done.stderr
        assert "Accepted password" not in (jump.folder / "log").read_text()
    finally:
        jump.remove()


@pytest.mark.parametrize("question", ["{user}@127.0.0.1's password: ", "({user}@127.0.0.1) Password: ", "Password: "])
def test_jump_host_that_asks_in_the_words_of_the_host_is_told_nothing(ponk, sshd, me, host_user, question):
    with hostile.HostileServer(question.format(user=host_user.name), friendly=1) as jump:
        me.write(".ssh/known_hosts", jump.known_hosts_line() + sshd.known_hosts_line())
        me.write(".ssh/config", f"Host jump\n  HostName 127.0.0.2\n  Port {jump.port}\n  User {host_user.name}\n"
                                f"Host gpubox\n  HostName 127.0.0.1\n  Port {sshd.port}\n  User {host_user.name}\n"
                                "  ProxyJump jump\n")

        login = ponk.run("attach", "remotedocker", "--name", "box", "--address", "gpubox", "--password", PASSWORD, code=69)

        assert jump.asked > 0 and b"jump host" in login.stderr, login.stderr
        assert PASSWORD not in "".join(jump.told)


def test_passphrase_of_a_key_is_not_for_a_jump_host(ponk, sshd, me, host_user):
    key = give_key(me, host_user, passphrase="open-sesame-1001")
    with hostile.HostileServer(f"Enter passphrase for key '{key}': ", friendly=1) as jump:
        me.write(".ssh/known_hosts", jump.known_hosts_line() + sshd.known_hosts_line())
        me.write(".ssh/config", f"Host 127.0.0.1\n  ProxyJump {host_user.name}@127.0.0.2:{jump.port}\n")

        ponk.run("attach", "remotedocker", "--name", "box", "--address", f"127.0.0.1:{sshd.port}", "--username", host_user.name,
                 "--private-key-file", key, "--private-key-passphrase", "open-sesame-1001", code=69)

        assert jump.asked > 0 and "open-sesame-1001" not in "".join(jump.told)


def test_machine_that_asks_for_something_else_gets_no_password(ponk, me):
    with hostile.HostileServer("Verification code: ", host="127.0.0.1") as machine:
        me.write(".ssh/known_hosts", machine.known_hosts_line())

        done = ponk.run("attach", "remote", "--name", "box", "--address", f"127.0.0.1:{machine.port}", "--username", "ann",
                        "--password", PASSWORD, code=69)

        assert b"did not ask for the password but: '(ann@127.0.0.1) Verification code:'" in done.stderr, done.stderr
        assert machine.asked > 0 and PASSWORD not in "".join(machine.told) and nothing_left(ponk)


@pytest.mark.full
@pytest.mark.parametrize("words", [
    "StdinNull yes", "PasswordAuthentication no", "PubkeyAuthentication no", "PreferredAuthentications hostbased",
    "SessionType none", "ForkAfterAuthentication yes", "PasswordAuthentication no\nKbdInteractiveAuthentication no\nStdinNull yes",
])
def test_settings_of_the_users_own_sessions_do_not_count_for_ours(ponk, attach, me, host_user, words):
    me.write(".ssh/config", "IgnoreUnknown UseKeychain\nHost *\nUseKeychain yes\n" + words + "\n")

    attach("--password", PASSWORD)

    assert len(host_user.authorized.splitlines()) == 1
    close_master(ponk)
    assert b"refused the login" not in ponk.run("computetarget", "check", "box", code=None).stderr
    ponk.run("computetarget", "detach", "box")
    assert host_user.authorized == ""


@pytest.mark.full
@pytest.mark.parametrize("noise", [
    "echo welcome to the host; echo 'and here is a line without an end: ' >&2; printf more",
    "set -v; echo loud", "cat /dev/zero | head -c 300000",
])
def test_noisy_start_files_of_the_login_shell_do_no_harm(ponk, attach, host_user, noise):
    host_user.write(".bashrc", noise + "\n")

    attach("--password", PASSWORD)

    assert len(host_user.authorized.splitlines()) == 1


def test_start_file_that_ends_the_shell_is_told(ponk, attach, host_user):
    host_user.write(".bashrc", "echo no entry >&2; exit 4\n")

    done = attach("--password", PASSWORD, code=69)

    assert b"ended with 4 instead of running a command" in done.stderr and b"no entry" in done.stderr
    assert nothing_left(ponk)


def test_name_that_is_taken_is_told_before_anybody_is_asked(ponk, attach, host_user):
    attach("--password", PASSWORD)

    assert b"already exists" in attach("--password", "whatever", code=73).stderr
    assert len(host_user.authorized.splitlines()) == 1


def close_master(ponk):
    for process in hosts.processes_of(ponk.user.name):
        try:
            if pathlib.Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ssh\0"):
                os.kill(process, 15)
        except OSError:  # it ended meanwhile
            pass


def give_key(me, host_user, name="my key", passphrase=""):
    key = me.home / "keys" / name
    key.parent.mkdir(exist_ok=True)
    hosts.make_key(key, passphrase=passphrase)
    subprocess.run(["chown", "-R", f"{me.name}:", str(key.parent)], check=True)
    host_user.write(".ssh/authorized_keys", pathlib.Path(str(key) + ".pub").read_text())
    return key


class agent:
    def __init__(self, me, key):
        self.me, self.key = me, key

    def __enter__(self):
        as_me = {"user": self.me.name, "group": self.me.name, "extra_groups": []}
        socket = self.me.home / "agent.sock"
        self.process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL, **as_me)
        while not socket.exists():
            assert self.process.poll() is None
        environment = {"SSH_AUTH_SOCK": str(socket)}
        subprocess.run(["ssh-add", str(self.key)], env={**os.environ, **environment}, check=True, capture_output=True, **as_me)
        return environment

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
