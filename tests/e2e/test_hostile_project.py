# SPDX-License-Identifier: Apache-2.0
"""A project from anybody: until submit, prepare or rerun no command starts a program of it, and none contacts
a machine because its files name one. Seen by strace, over every command of the table, in the command and in the daemon."""
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

EVIL = "#!/bin/sh\necho \"$0 $*\" >>'{trace}'\n"
PROGRAMS = ("python", "python3", "git", "ssh", "ssh-keygen", "docker", "man", "less", "sh", "uv", "conda", "micromamba", "nvidia-smi",
            "nvidia-ctk", "secret-tool", "spark-submit", "ponk", "evil.sh", ".venv/bin/python", ".venv/bin/python3", "bin/python")
MODULES = ("json.py", "site.py", "sitecustomize.py", "usercustomize.py", "platform.py", "numpy.py", "pip/__init__.py", "venv/__init__.py")
# What runs code of a project because the user asks for just that.
EXECUTING = {
    "experiment submit": [["-c", name, "train.py"] for name in ("box", "lab", "docker", "local", "plain")],
    "experiment prepare": [["-c", "box"], ["-c", "lab"], ["-c", "docker"], ["-c", "plain"]],
    "experiment rerun": [["1"]],
}
# Ended by us: they do not end themselves.
ENDLESS = {"gpu watch", "daemon run", "serve"}
LAST = ["daemon stop", "daemon run", "serve"]
WORDS = {
    "allow": [[], ["secret", "TOKEN"], ["--remove", "secret", "TOKEN"]],
    "check": [[], ["train.py"]],
    "completion": [["bash"]],
    "computetarget attach": [["local", "--name", "another"], ["--from", "aml_config/local.compute"]],
    "computetarget check": [["local"], ["named"], ["box"], ["lab"], ["docker"], ["lab", "--fingerprint", "SHA256:" + 43 * "A"]],
    "computetarget detach": [["gone"], ["gone2", "--remove-files", "--yes"]],
    "computetarget setup": [["box", "--yes"]],
    "computetarget show": [["box"], ["local"]],
    "doctor": [[], ["--full"]],
    "environment remove": [["0123456789abcdef"]],
    "environment show": [["0123456789abcdef"]],
    "experiment cancel": [["last"]],
    "experiment diagnostics": [["last"]],
    "experiment return": [["last"]],
    "gpu list": [[], ["box"], ["docker"], ["local"]],
    "gpu watch": [[]],
    "history backup": [["{folder}/backup.db"]],
    "history chart": [["last"]],
    "history compare": [["last", "last"]],
    "history delete": [["1", "--yes"]],
    "history download": [["last", "-d", "{folder}/got"]],
    "history export": [[], ["--format", "csv"]],
    "history import": [["mlruns"], ["{folder}/backup.db"]],
    "history promote": [["last", "--name", "a", "-ap", "outputs/x"]],
    "history restore": [["1"]],
    "man": [["experiment"], []],
    "project create": [["--name", "copied", "--path", "{folder}/made"],
                       ["--name", "cloned", "--path", "{folder}/made", "--template-url", "{project}"]],
    "project delete": [["nothing"]],
    "project show": [[]],
    "project schema": [["compute"]],
    "query": [["[]"]],
    "runconfiguration create": [["new", "--target", "box"]],
    "runconfiguration show": [["local"], ["box"], ["docker"]],
    "secret remove": [["OTHER"]],
    "secret set": [["OTHER"]],
    "token create": [["--name", "t"]],
    "token remove": [["t"]],
}


class Listener:
    """Where the project's machines would be: counts who comes."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.visits = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                self.socket.accept()[0].close()
            except OSError:
                return
            self.visits += 1


def make_hostile(ponk, port, trace):
    ponk.write("train.py", "print('trained')\n")
    for name in PROGRAMS:
        ponk.write(name, EVIL.format(trace=trace)).chmod(0o755)
    for name in MODULES:
        ponk.write(name, f"open({str(trace)!r}, 'a').write('imported {name}\\n')\n")
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: ./evil.sh\n")
    ponk.write("aml_config/named.compute", f"type: local\npythonLocation: {ponk.project}/evil.sh\n")
    for name in ("local", "named"):
        ponk.write(f"aml_config/{name}.runconfig", f"Target: {name}\nFramework: PySpark\nUserManagedDependencies: false\n"
                   "EnvironmentVariables: {A: 'secret:TOKEN'}\n")
    ponk.write("aml_config/plain.compute", "type: local\npythonLocation: python\n")
    ponk.write("aml_config/plain.runconfig", "Target: plain\nFramework: Python\n")
    ponk.write("aml_config/docker.compute", "type: localdocker\nbaseDockerImage: 127.0.0.1:%d/x\n" % port)
    ponk.write("aml_config/docker.runconfig", "framework: Python\ntarget: docker\nenvironment:\n  docker:\n    enabled: true\n"
               "    arguments: [-v, '/:/host']\n")
    for name, kind in (("box", "remotedocker"), ("lab", "remote"), ("gone", "remotedocker"), ("gone2", "remote")):
        ponk.write(f"aml_config/{name}.compute", f"type: {kind}\naddress: 127.0.0.1:{port}\nusername: victim\npassword: clear\n"
                   "baseDockerImage: x\n")
        ponk.write(f"aml_config/{name}.runconfig", f"Target: {name}\nFramework: Python\n")
    ponk.write("aml_config/conda_dependencies.yml", f"dependencies: [python=3.9, {{pip: ['--index-url http://127.0.0.1:{port}/', evil]}}]\n")
    ponk.write("MLproject", "name: x\nentry_points:\n  main:\n    command: './evil.sh'\n")
    ponk.write("notebook.ipynb", '{"cells": [{"cell_type": "code", "source": ["!./evil.sh"]}], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    ponk.write(".azureml/project.json", '{"Id": "../../../outside", "Scope": "/projects/x"}')
    ponk.write("mlruns/0/meta.yaml", f"experiment_id: '0'\nname: x\nartifact_location: http://127.0.0.1:{port}/\nlifecycle_stage: active\n")
    make_hostile_git(ponk, port)


def make_hostile_git(ponk, port):
    git = lambda *words: subprocess.run(["/usr/bin/git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=ponk.project, check=True,
                                        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}).stdout.strip()
    git("init", "-q", "-b", "main")
    git("add", "train.py")
    git("commit", "-qm", "first")
    tree = git("rev-parse", "HEAD^{tree}")
    evil = str(ponk.project / "evil.sh")
    lines = ["[core]", "repositoryformatversion = 1", "bare = false", f"sshCommand = {evil}", f"fsmonitor = {evil}", f"pager = {evil}",
             f"hooksPath = {ponk.project}/hooks", f"gitProxy = {evil}", f"askPass = {evil}", f"editor = {evil}",
             f"alternateRefsCommand = {evil}", "[extensions]", "partialClone = origin",
             "[remote \"origin\"]", "promisor = true", f"url = ssh://127.0.0.1:{port}/x", f"uploadpack = {evil}", "[protocol]", "allow = always",
             "[credential]", f"helper = {evil}", "[diff]", f"external = {evil}", "[filter \"own\"]", f"clean = {evil}", f"smudge = {evil}",
             f"process = {evil}", "required = true", "[alias]", f"diff-index = !{evil}", f"status = !{evil}", "[safe]", "directory = *"]
    (ponk.project / ".git/config").write_text("\n".join(lines) + "\n")
    ponk.write(".gitattributes", "* filter=own diff=own\n")
    for hook in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        ponk.write(f"hooks/{hook}", f"#!/bin/sh\n{evil} hook\n").chmod(0o755)
    (ponk.project / ".git/objects" / tree[:2] / tree[2:]).unlink()


def command_table(ponk):
    """Every command that is shown, by its first name, from the table that completions are made of."""
    names, heads = set(), [()]
    while heads:
        head = heads.pop()
        for line in ponk.text("__complete", *head, "").splitlines():
            path = (*head, line.split("\t")[0])
            usage = ponk.text(*path, "--help").splitlines()[0]
            if usage.endswith("COMMAND …"):
                heads.append(path)
            else:
                names.add(" ".join(usage.split("[OPTIONS]")[0].split()[2:]))
    return sorted(names)


def strace(output, *command):
    return ["/usr/bin/strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", "trace=execve,execveat,connect,sendto,sendmsg,sendmmsg",
            "-e", "signal=none", "-o", str(output), *map(str, command)]


def whole_lines(text):
    """Calls that strace shows in two halves, because another process came between, in one."""
    begun = {}
    for line in text.splitlines():
        process, rest = line.split(maxsplit=1)
        if rest.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>")
        elif rest.startswith("<... "):
            yield begun.pop(process, "") + rest.split("resumed>", 1)[1]
        else:
            yield line
    yield from begun.values()


def offences(text, ponk):
    """Lines of a trace that start a program of the project or reach for the network."""
    for line in whole_lines(text):
        program = re.search(r'execve(?:at)?\((?:\w+, )?"([^"]*)"', line)
        if program and " = -1 " not in line:
            if not program[1].startswith("/") or os.path.realpath(program[1]).startswith(f"{ponk.project}/"):
                yield line
        if "sin_addr" in line or "sin6_addr" in line:
            yield line
        if "AF_UNIX" in line and "connect(" in line:
            place = re.search(r'sun_path=@?"([^"]*)"', line)
            if place and not place[1].startswith((str(ponk.home), "/var/run/docker.sock", "/run/docker.sock", "/var/run/nscd", "/run/nscd", "/proc/self/fd",
                                                  "/run/podman", "/run/user")):
                yield line


@pytest.fixture
def hostile(ponk, tmp_path):
    if not os.path.exists("/usr/bin/strace"):
        pytest.fail("strace is not installed (tools/install_needs.sh test)")
    ponk.write("train.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/x', 'w').write('x')\nprint('trained')\n")
    ponk.run("submit", "train.py")
    ponk.run("submit", "train.py")
    ponk.run("secret", "set", "OTHER", input=b"a value")
    ponk.run("daemon", "stop")
    listener = Listener()
    trace = tmp_path / "evil"
    make_hostile(ponk, listener.port, trace)
    ponk.environment |= {"PATH": f".::bin:{ponk.project}/.venv/bin:/usr/bin:/bin:", "PYTHONPATH": f"{ponk.project}:.", "PAGER": "less",
                         "HOME": str(ponk.home.parent)}
    ponk.listener, ponk.trace = listener, trace
    yield ponk
    listener.socket.close()


class TracedDaemon:
    def __init__(self, ponk, output):
        self.process = subprocess.Popen(strace(output, ponk.program, "daemon", "run"), cwd=ponk.project, env=ponk.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            if (ponk.home / "daemon.sock").exists() and subprocess.run([ponk.program, "daemon", "status"], env=ponk.environment, cwd=ponk.project,
                                                                       capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        pytest.fail("the daemon did not come up under strace")


def run_traced(ponk, output, words, name):
    environment = dict(ponk.environment)
    if name in EXECUTING:  # what the user's own shell gives a script is the user's affair
        environment |= {"PATH": ".::bin:/usr/bin:/bin:", "PYTHONPATH": ""}
    process = subprocess.Popen(strace(output, ponk.program, *words), cwd=ponk.project, env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.communicate(b"value\n", timeout=3 if name in ENDLESS else 120)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        assert name in ENDLESS, (words, output.read_text()[-2000:])
        os.killpg(process.pid, signal.SIGTERM)
        return process.communicate(timeout=30)[0].decode(errors="replace")


def test_no_command_starts_a_program_of_the_project_or_contacts_its_machines(hostile, tmp_path):
    ponk, folder = hostile, tmp_path / "made"
    folder.mkdir()
    names = command_table(ponk)
    assert len(names) > 60 and EXECUTING.keys() <= set(names), names
    ponk.run("daemon", "stop", code=None)
    daemon = TracedDaemon(ponk, tmp_path / "daemon.trace")
    bad, said = [], {}
    for number, name in enumerate([name for name in names if name not in LAST] + LAST):
        for index, words in enumerate(EXECUTING.get(name) or WORDS.get(name, [[], ["last"], ["x"]])):
            words = [word.format(folder=folder, project=ponk.project) for word in words]
            output = tmp_path / f"{number}-{index}.trace"
            said[name, *words] = run_traced(ponk, output, [*name.split(), *words], name)
            bad += [f"{name} {words}: {line}" for line in offences(output.read_text(), ponk)]
            assert not ponk.trace.exists(), (name, words, ponk.trace.read_text())
        if name == "daemon stop":
            daemon.process.wait(timeout=60)
    bad += [f"daemon: {line}" for line in offences((tmp_path / "daemon.trace").read_text(), ponk)]
    assert not bad, "\n".join(bad[:20])
    assert ponk.listener.visits == 0
    for words, wanted in ((("-c", "box", "train.py"), "ponk attach --from aml_config/box.compute"),
                          (("-c", "docker", "train.py"), "ponk allow docker-argument --volume=/:/host"),
                          (("-c", "local", "train.py"), "ponk allow secret TOKEN"),
                          (("-c", "plain", "train.py"), "trained")):
        assert wanted in said["experiment submit", *words], said["experiment submit", *words]
