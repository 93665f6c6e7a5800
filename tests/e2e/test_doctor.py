# SPDX-License-Identifier: Apache-2.0
"""ponk doctor: every line is ok, warn or fail, and what is not ok tells the next step."""
import json
import socket


def checks_of(ponk, code=0):
    checks = ponk.json("doctor", code=code)
    assert all(set(check) == {"name", "status", "message", "hint"} for check in checks)
    assert all(check["status"] in ("ok", "warn", "fail") for check in checks)
    assert all(check["hint"] for check in checks if check["status"] != "ok"), checks
    return {check["name"]: check for check in checks}


def python_that(ponk, text):
    """A Python of the user: on PATH, outside of the project."""
    program = ponk.home.parent / "bin" / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" + text)
    program.chmod(0o755)
    ponk.environment["PATH"] = f"{program.parent}:{ponk.environment['PATH']}"
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: python\n")
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n")
    return program


def test_all_that_runs_need_is_looked_at(ponk):
    checks = checks_of(ponk)
    for name in ("home", "daemon", "kernel", "disk", "file system", "database", "open files", "secrets", "git", "python", "pip",
                 "venv", "numpy"):
        assert name in checks
    assert "/usr/bin/python3: Python 3." in checks["python"]["message"]
    assert str(ponk.home) in checks["home"]["message"] and "GiB free" in checks["disk"]["message"]
    table = ponk.text("doctor", "-o", "table")
    assert all(line.split()[0] in ("ok", "warn", "fail") for line in table.splitlines() if not line.startswith(" ")), table


def test_home_open_to_others_is_told(ponk):
    ponk.run("project", "list")
    ponk.home.chmod(0o755)
    home = checks_of(ponk)["home"]
    assert home["status"] == "warn" and "0755" in home["message"] and f"chmod 700 {ponk.home}" in home["hint"]


def test_interpreter_without_packages_is_told_with_the_way_to_get_them(ponk):
    program = python_that(ponk, "exec /usr/bin/python3 -S \"$@\"\n")
    checks = checks_of(ponk)
    assert checks["python"]["status"] == "ok" and str(program) in checks["python"]["message"]
    for name in ("pip", "numpy"):
        assert checks[name]["status"] == "warn" and str(program) in checks[name]["hint"], checks[name]
    assert checks["configuration 'local'"]["status"] == "ok"


def test_old_or_absent_interpreter_is_told(ponk):
    answer = json.dumps({"version": "2.7.18", "major": 2, "minor": 7})
    python_that(ponk, f"[ \"$1\" = --version ] && echo Python 2.7.18 >&2 && exit\necho '{answer}'\n")
    checks = checks_of(ponk)
    assert checks["python"]["status"] == "warn" and "2.7.18" in checks["python"]["message"]
    assert "3.5 or newer" in checks["python"]["hint"] and checks["venv"]["status"] == "warn"
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: /no/such/python\n")
    checks = checks_of(ponk, code=65)
    assert checks["python"]["status"] == "fail" and "/no/such/python" in checks["python"]["message"]
    assert "pythonLocation" in checks["python"]["hint"]


def test_the_projects_own_python_is_looked_at_and_not_started(ponk):
    for place in (".venv/bin/python", "tools/python"):
        program = ponk.write(place, "#!/bin/sh\ntouch started\n")
        program.chmod(0o755)
    ponk.environment["PATH"] = f"{ponk.project}/.venv/bin:.:{ponk.environment['PATH']}"  # activated
    for named in ("", "python", "./tools/python", str(ponk.project / "tools/python"), "/usr/bin/env"):
        ponk.write("aml_config/local.compute", f"type: local\npythonLocation: {named}\n")
        ponk.write("aml_config/local.runconfig", "Target: local\nFramework: PySpark\n")
        checks = checks_of(ponk)
        assert checks["python"]["status"] == "ok" and "not started" in checks["python"]["message"], checks["python"]
        assert checks["configuration 'local'"]["status"] == "ok" and "pip" not in checks
        checked = ponk.json("computetarget", "check", "local")
        assert checked["works"] and checked["version"] is None
    assert not list(ponk.project.rglob("started"))


def test_modules_beside_us_are_not_imported(ponk):
    for module in ("json.py", "site.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "pip/__init__.py"):
        ponk.write(module, f"open({str(ponk.project)!r} + '/imported', 'w')\n")
    ponk.environment |= {"PYTHONPATH": str(ponk.project), "PYTHONSTARTUP": str(ponk.project / "json.py")}
    assert checks_of(ponk)["python"]["status"] == "ok"
    ponk.run("computetarget", "check", "local")
    assert not (ponk.project / "imported").exists()


def damage_what_runs_need(ponk):
    (stub,) = (ponk.home / "lib").glob("ponk-stub-*")
    (module,) = (ponk.home / "lib").glob("python-*/ponk/__init__.py")
    sound = {path: path.read_bytes() for path in (stub, module)}
    for path in sound:  # another file: a supervisor may still be running this one
        other = path.with_name("other")
        other.touch(0o700)
        other.rename(path)
    return sound


LOGS = "import ponk\nponk.log('loss', 0.5)\nprint('logged')\n"


def test_damaged_programs_are_named_and_written_anew(ponk):
    ponk.write("a.py", LOGS)
    ponk.run("submit", "a.py")
    assert checks_of(ponk)["programs"]["status"] == "ok"
    sound = damage_what_runs_need(ponk)

    programs = checks_of(ponk)["programs"]

    assert programs["status"] == "warn" and "written again" in programs["message"]
    for path in sound:
        assert path.relative_to(ponk.home / "lib").parts[0] in programs["message"]
        assert path.read_bytes() == sound[path]
    assert checks_of(ponk)["programs"]["status"] == "ok"
    assert ponk.run("submit", "a.py").stdout == b"logged\n"


def test_damaged_programs_are_written_anew_when_the_daemon_starts(ponk):
    ponk.write("a.py", LOGS)
    ponk.run("submit", "a.py")
    ponk.run("daemon", "stop")
    sound = damage_what_runs_need(ponk)

    assert ponk.run("submit", "a.py").stdout == b"logged\n"

    assert {path: path.read_bytes() for path in sound} == sound


def test_a_damaged_supervisor_is_written_anew_when_a_run_is_launched(ponk):
    ponk.write("a.py", LOGS)
    ponk.run("submit", "a.py")
    sound = damage_what_runs_need(ponk)

    assert ponk.run("submit", "a.py").stdout == b"logged\n"

    assert {path: path.read_bytes() for path in sound} == sound


def test_run_configurations_are_tried(ponk):
    ponk.write("aml_config/spark.runconfig", "Target: local\nFramework: PySpark\n")
    ponk.write("aml_config/box.compute", "type: cluster\naddress: h\nusername: u\n")
    ponk.write("aml_config/box.runconfig", "Target: box\nFramework: Python\n")
    ponk.write("aml_config/broken.runconfig", "Target: nowhere\nFramework: Python\n")
    checks = checks_of(ponk, code=65)
    assert checks["configuration 'box'"]["status"] == "warn" and "cluster" in checks["configuration 'box'"]["message"]
    assert checks["configuration 'broken'"]["status"] == "fail" and "ponk check" in checks["configuration 'broken'"]["hint"]
    spark = checks["configuration 'spark'"]
    assert spark["status"] == "ok" or "pyspark" in spark["message"] and "spark.runconfig" in spark["hint"]
    assert checks["configuration 'local'"]["status"] == "ok"


def test_the_whole_database_is_read_when_asked(ponk):
    assert "never checked" in checks_of(ponk)["database"]["message"]
    full = {check["name"]: check for check in ponk.json("doctor", "--full")}
    assert full["database"]["status"] == "ok" and "last complete check: 20" in full["database"]["message"]
    assert "last complete check: 20" in checks_of(ponk)["database"]["message"]


def test_an_unreadable_list_of_files_is_reported_with_its_run_and_stops_nothing(ponk):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    run = ponk.json("history", "info", "last")
    checks = {check["name"]: check for check in ponk.json("doctor")}
    assert checks["snapshots"]["status"] == "ok", checks
    manifest = ponk.home / "store" / "objects" / run["snapshot"][:2] / run["snapshot"][2:]
    manifest.chmod(0o600)
    manifest.write_text("damage")

    report = collect_garbage(ponk)

    assert [one["snapshot"] for one in report["unreadable"]] == [run["snapshot"]], report
    check = {check["name"]: check for check in json.loads(ponk.run("doctor", "-o", "json", code=None).stdout)}["snapshots"]
    assert check["status"] == "fail" and run["run_id"][-8:] in check["message"], check

    ponk.run("submit", "a.py")  # the same files: the list is stored again
    assert collect_garbage(ponk)["unreadable"] == []
    assert {check["name"]: check for check in ponk.json("doctor")}["snapshots"]["status"] == "ok"


def collect_garbage(ponk):
    with socket.socket(socket.AF_UNIX) as plug:
        plug.connect(str(ponk.home / "daemon.sock"))
        plug.sendall(b"POST /api/v1/maintenance/gc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
        answer = b"".join(iter(lambda: plug.recv(65536), b""))
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])
