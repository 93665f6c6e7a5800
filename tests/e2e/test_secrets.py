# SPDX-License-Identifier: Apache-2.0
"""A script that tells its secret in every way it can, and where it may be found afterwards."""
import base64
import json
import re
import shlex
import urllib.parse
import zipfile

import pytest

VALUES = {
    "plain": "hunter2-hunter2-hunter2",
    "quotes": "pa\"ss w'rd\\ $x/é\U0001f511+1",
    "numeric": "8675309424242",
    "lines": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEA\n-----END KEY-----",
}

# Runs inside ponk: prints the value as programs print things.
PRINTER = r'''
import base64, binascii, html, json, os, shlex, sys, urllib.parse
value = os.environ["KEY"]
data = value.encode()
out = []
for before in (b"", b"x", b"xy"):
    for behind in (b"", b"z", b"a longer text behind the value, so that several lines are needed"):
        whole = before + data + behind
        out += [base64.b64encode(whole).decode(), base64.urlsafe_b64encode(whole).decode(),
                base64.encodebytes(whole).decode(), base64.encodebytes(whole * 3).decode().replace("\n", "\r\n"),
                repr(base64.encodebytes(whole * 3)), urllib.parse.quote(base64.b64encode(whole))]
out += [binascii.hexlify(data).decode(), data.hex().upper(), data.hex(":") if sys.version_info >= (3, 8) else "",
        " ".join("%02x" % b for b in data), ", ".join("0x%02X" % b for b in data), "".join("\\x%02x" % b for b in data)]
out += [value, repr(value), ascii(value), repr(data), json.dumps(value), json.dumps(value, ensure_ascii=False),
        json.dumps(json.dumps({"k": value})), repr({"k": [value]}), json.dumps(repr(value)), shlex.quote(value),
        json.dumps(shlex.quote(value)), urllib.parse.quote(value), urllib.parse.quote(value, safe=""),
        urllib.parse.quote_plus(value), urllib.parse.quote(urllib.parse.quote(value, safe=""), safe=""),
        html.escape(value), value.encode("unicode_escape").decode(), "".join("%%%02X" % b for b in data)]
for number, text in enumerate(out):
    sys.stdout.buffer.write(("%d <%s>\n" % (number, text)).encode())
    sys.stdout.flush()
'''


def forms(value):
    """Texts that give the value away; whole, or all but an end."""
    data = value.encode()
    found = {value, repr(value)[1:-1], ascii(value)[1:-1], json.dumps(value)[1:-1], data.hex(), urllib.parse.quote(value),
             shlex.quote(value).strip("'")}
    for skip in range(3):
        found.add(base64.b64encode(data[skip:])[:-4].decode())
        found.add(base64.urlsafe_b64encode(data[skip:])[:-4].decode())
    found |= {line for line in value.splitlines() if len(line) >= 8}
    return {form for form in found if len(form) >= 8}


def decoded(served):
    """The bytes with every way of writing taken away that a curious reader would try first."""
    if len(served) > 200000:  # programs and databases: too large to be taken apart
        return [served]
    joined = re.sub(rb"\s|\\r|\\n|%0A|[:,]|0[xX]|\\x", b"", served)
    return [served, joined, urllib.parse.unquote_to_bytes(served), joined.lower()]


def assert_silent(content, where):
    for value in VALUES.values():
        for form in forms(value):
            for text in decoded(content):
                assert form.encode() not in text, (where, form)


def use(ponk, name):
    ponk.run("secret", "set", name, input=VALUES[name].encode())
    return ("submit", "--env", "KEY=secret:" + name)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_no_encoding_shows_a_secret_in_a_served_log(ponk, name):
    ponk.write("x.py", PRINTER)
    live = ponk.run(*use(ponk, name), "x.py").stdout
    raw = ponk.run("logs", "last", "--raw").stdout
    assert VALUES[name].encode() in raw
    for served in (live, ponk.run("logs", "last").stdout, ponk.run("logs", "last", "--follow").stdout,
                   ponk.run("history", "info", "last").stdout):
        assert_silent(served, name)
    # Lines that nothing secret was in are untouched, and every line is still there.
    assert live.count(b"***") >= raw.count(b" <") and live.count(b" <") == raw.count(b" <")
    ponk.run("history", "download", "last", "-d", "back")
    for path in (ponk.project / "back").rglob("*"):
        if path.is_file():
            assert_silent(path.read_bytes(), path)
    ponk.run("experiment", "diagnostics", "-r", "last")
    with zipfile.ZipFile(next(ponk.project.glob("*.zip"))) as archive:
        for member in archive.namelist():
            assert_silent(member.encode() + archive.read(member), member)


def test_diagnostics_hide_the_credentials_of_package_indexes(ponk):
    ponk.write("aml_config/conda_dependencies.yml",
               "dependencies:\n  - pip:\n    - --extra-index-url https://ann:hunter22-x@pypi.example/simple\n"
               "    - https://store.example/tool-1.0-py3-none-any.whl?sv=2017&sig=Zm9vYmFyYmF6cXV4\n    - -r more.txt\n")
    ponk.write("more.txt", "--index-url https://tok-0123456789@index.example/simple\n")
    ponk.write("x.py", "print('log in to https://ann:hunter22-x@pypi.example with hunter22-x, kept: pypi.example')\n")
    ponk.run("submit", "x.py", code=None)
    ponk.run("experiment", "diagnostics", "-r", "last")

    with zipfile.ZipFile(next(ponk.project.glob("*.zip"))) as archive:
        everything = {name: archive.read(name) for name in archive.namelist()}
    for value in (b"hunter22-x", b"Zm9vYmFyYmF6cXV4", b"tok-0123456789"):
        assert [name for name, text in everything.items() if value in text] == []
    assert b"https://***@pypi.example/simple" in everything["project/aml_config/conda_dependencies.yml"]
    assert b"kept: pypi.example" in everything["driver_log.txt"]


def test_diagnostics_hide_short_credentials_and_logins_of_proxies_too(ponk):
    ponk.write("pip.conf", "[global]\nindex-url = https://bob:hush5@pypi.example/simple\n"
                           "find-links = https://store.example/w?page=2&sig=abc12\n"
                           "trusted = https://tok3n@host.example\nproxy = carl:secretpw77@proxy.local:3128\n")
    # The log has an address that no file has.
    ponk.write("x.py", "print('from https://dan:' + 'k9x@host.example/ by carl:' + 'secret' + 'pw77@proxy.local:3128')\n")
    ponk.run("submit", "x.py", code=None)
    ponk.run("experiment", "diagnostics", "-r", "last")

    with zipfile.ZipFile(next(ponk.project.glob("*.zip"))) as archive:
        everything = {name: archive.read(name) for name in archive.namelist()}
    for value in (b"hush5", b"abc12", b"tok3n", b"secretpw77", b"dan:k9x"):
        assert [name for name, text in everything.items() if value in text] == []
    assert everything["project/pip.conf"].splitlines()[1:] == [
        b"index-url = https://***@pypi.example/simple", b"find-links = https://store.example/w?page=2&sig=***",
        b"trusted = https://***@host.example", b"proxy = ***@proxy.local:3128"]
    assert b"from https://***@host.example/ by " in everything["driver_log.txt"]


TELLER = r'''
import os, sys
import ponk
import azureml.logging
value = os.environ["KEY"]
ponk.log(value, 1)
ponk.log("text", value)
ponk.log("mixed", "token is %s!" % value)
ponk.log("list", [value, value])
ponk.log("dictionary", {"k": value})
ponk.log({"d-" + value: 2.5})
if value.isdigit():
    ponk.log("number", int(value))
    ponk.log("numbers", [1.0, float(value)])
ponk.log_params({"p": value, value: "q"})
ponk.set_tag("t", value)
ponk.set_tag(value, "u")
ponk.log_image(value, [[0, 255], [255, 0]])
logger = azureml.logging.get_azureml_logger()
logger.log("old", value)
logger.log(value, 3)
os.makedirs("outputs/sub", exist_ok=True)
for name in (value, "sub/" + value, "sub/x-" + value + ".bin", "sub/" + value + ".d/deep"):
    name = "outputs/" + name.replace("\n", "_")
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "w").close()
os.symlink("/nowhere/" + value, "outputs/link")
open(os.path.join(os.environ["PONK_RUN_DIRECTORY"], "journal", "9-" + value.replace("/", "").replace("\n", "") + ".journal"), "w").close()
open("outputs/plain.txt", "w").write("kept")
raise RuntimeError("cannot log in with " + value)
'''


@pytest.mark.parametrize("name", sorted(VALUES))
def test_nothing_that_ponk_keeps_holds_a_secret(ponk, name):
    ponk.write("x.py", TELLER)
    done = ponk.run(*use(ponk, name), "x.py", code=1)
    assert_silent(done.stdout + done.stderr, "submit")
    assert b"RuntimeError: cannot log in with ***" in done.stdout + done.stderr
    info = ponk.json("history", "info", "last")
    assert info["metrics"]["text"] == "***" and info["metrics"]["mixed"] == "token is ***!"
    assert info["metrics"]["***"] == 3 and info["metrics"]["d-***"] == 2.5
    assert info["tags"]["t"] == "***" and info["params"]["p"] == "***"
    assert info["metrics"].get("number", "***") == "***"
    assert "outputs/plain.txt" in info["attachments"]
    for words in (("history", "info", "last"), ("history", "info", "last", "-o", "json"), ("runs", "-o", "json"),
                  ("history", "export", "last"), ("history", "list", "-o", "json")):
        assert_silent(ponk.run(*words, code=None).stdout, words)
    ponk.run("experiment", "diagnostics", "-r", "last")
    with zipfile.ZipFile(next(ponk.project.glob("*.zip"))) as archive:
        for member in archive.namelist():
            if not member.startswith("project/"):
                assert_silent(member.encode() + archive.read(member), member)

    for after_stop in (False, True):  # with the WAL, and folded into the database
        assert_silent_home(ponk)
        if not after_stop:
            ponk.run("daemon", "stop")


def assert_silent_home(ponk):
    """All of PONK_HOME but what docs/design/secrets.md calls the script's own."""
    seen = 0
    for path in ponk.home.rglob("*"):
        inside = path.relative_to(ponk.home).parts
        of_task = inside[6:7] if inside[2:3] == ("attempts",) else inside[2:3]
        own = inside[0] == "runs" and of_task in (("log",), ("journal",), ("work",))
        if own and inside[2:4] != ("work", "outputs"):
            continue
        assert_silent(str(path.relative_to(ponk.home)).encode(), "name")
        if path.is_file() and not path.is_symlink() and not own:
            seen += 1
            assert_silent(path.read_bytes(), path)
    assert seen > 5
    assert (ponk.home / "history").is_dir() and list(ponk.home.glob("secrets/*.secret"))


def test_a_secret_is_not_in_the_arguments_of_any_process(ponk):
    ponk.write("x.py", "import glob, os\nfor name in glob.glob('/proc/[0-9]*/cmdline'):\n"
                       "    try:\n        print(name, open(name).read().replace('\\0', ' '))\n    except OSError: pass\n")
    ponk.run(*use(ponk, "plain"), "x.py")
    raw = ponk.run("logs", "last", "--raw").stdout
    assert b"ponk-stub" in raw and VALUES["plain"].encode() not in raw


def test_a_run_without_its_keys_tells_nothing(ponk):
    """The file of a secret is gone bad: what cannot be hidden is not shown."""
    ponk.write("x.py", "import os, ponk; print(os.environ['KEY'])\n")
    ponk.run(*use(ponk, "plain"), "x.py")
    file = next(ponk.home.glob("secrets/*.secret"))
    file.write_bytes(file.read_bytes()[:-5])
    refused = ponk.run("logs", "last", code=None)
    assert refused.returncode != 0 and b"plain" in refused.stderr
    assert_silent(refused.stdout + refused.stderr, "logs")
    assert VALUES["plain"].encode() in ponk.run("logs", "last", "--raw").stdout


@pytest.mark.parametrize("kind", VALUES)
def test_the_name_and_tags_of_a_run_are_stored_without_its_secrets(ponk, kind):
    value = VALUES[kind]
    ponk.run("secret", "set", "TOK", input=value.encode())
    ponk.write("a.py", "print(1)\n")

    submitted = ponk.run("submit", "--env", "KEY=secret:TOK", "--name", f"n{value}", "--tag", f"t={value}", "--tag",
                         f"{value.replace('=', '')}=v", "-o", "json", "a.py")

    run = json.loads(submitted.stdout)
    assert run["name"] == "n***" and run["tags"] == {"t": "***", "***": "v"}
    ponk.run("experiment", "rerun", "last")
    ponk.run("daemon", "stop")
    told = [path for path in ponk.home.rglob("*") if path.is_file() and value.encode() in path.read_bytes()]
    assert told == []
