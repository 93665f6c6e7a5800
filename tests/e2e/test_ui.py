# SPDX-License-Identifier: Apache-2.0
"""The page's login: codes, sessions, tokens, and a daemon that is killed between them."""
import http.client
import json
import os
import signal

import pytest
from login import Page, ask


@pytest.fixture
def page(ponk):
    return Page(ponk)


def test_a_code_is_for_one_login(page):
    code = page.code()["code"]
    status, made = page.log_in(code=code)
    assert status == 201 and made["owner"] is True and made["role"] == "administer"
    for wrong in (code, code[:-1], "", "0" * 64):
        status, refused = page.log_in(code=wrong)
        assert status == 401 and "older than a minute" in refused["error"]["message"]
    assert page.ask("GET", "/api/v1/tokens", made["session"])[0] == 200
    # Codes come from the socket alone.
    assert page.ask("POST", "/api/v1/ui/codes", made["session"], {})[0] == 403


def test_a_session_outlives_the_daemon_and_not_its_end(ponk, page):
    session = page.log_in(code=page.code()["code"])[1]["session"]
    unused = page.code()["code"]
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    ponk.run("runs")
    assert page.ask("GET", "/api/v1/ui/session", session)[0] == 200
    assert page.log_in(code=unused)[0] == 401
    rows = ponk.json("session", "list")
    assert len(rows) == 1 and session not in json.dumps(rows)
    assert session.encode() not in (ponk.home / "sessions").read_bytes()
    ponk.run("session", "remove", rows[0]["id"])
    assert page.ask("GET", "/api/v1/ui/session", session)[0] == 401
    assert ponk.json("session", "list") == []
    assert b"ponk session list" in ponk.run("session", "remove", rows[0]["id"], code=66).stderr


def test_a_token_gives_a_session_that_ends_with_it(ponk, page):
    token = ponk.text("token", "create", "--name", "ann", "--role", "read", "-o", "table").strip()
    status, made = page.log_in(token=token)
    assert status == 201 and made["role"] == "read" and made["owner"] is False and made["token"] == "ann"
    session = made["session"]
    assert page.ask("GET", "/api/v1/runs", session)[0] == 200
    assert page.ask("GET", "/api/v1/tokens", session)[0] == 403
    ponk.run("token", "remove", "ann")
    assert page.ask("GET", "/api/v1/runs", session)[0] == 401


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}])
def test_pages_of_others_cannot_log_in(page, headers):
    code = page.code()["code"]
    assert page.ask("POST", "/api/v1/ui/login", body={"code": code}, headers=headers)[0] == 403
    assert page.log_in(code=code)[0] == 201


def test_the_page_is_there_or_the_program_says_why_not(ponk, page):
    status, body = page.ask("GET", "/")
    if page.code()["missing"]:
        assert status == 503 and "without the page" in body["error"]["message"]
        assert b"without the page" in ponk.run("ui", "--no-open", code=69).stderr
        return
    assert status == 200
    address = ponk.text("ui", "--no-open").strip()
    assert page.log_in(code=address.partition("#code=")[2].partition("&")[0])[0] == 201


def test_an_address_for_a_frame_or_a_download_is_of_one_thing_and_runs_nothing(ponk, page):
    ponk.write("x.py", "open('outputs/a.html', 'w').write('<script>1</script>')\nopen('outputs/b c.bin', 'wb').write(b'\\0' * 10)\n")
    ponk.run("submit", "x.py")
    run = ponk.json("history", "last")["run_id"]
    made = page.log_in(code=page.code()["code"])[1]
    session = made["session"]

    def sign(path, show, session=session, **more):
        return page.ask("POST", "/api/v1/ui/addresses", session, {"path": path, "show": show, **more})

    def fetch(address, method="GET"):
        return ask(http.client.HTTPConnection("127.0.0.1", page.port, timeout=30), method, "/" + address)

    status, frame = sign(f"api/v1/runs/{run}/artifacts/outputs/a.html", "frame")
    assert status == 201, frame
    reply, text = fetch(frame["address"])
    assert (reply.status, text) == (200, b"<script>1</script>")
    assert reply.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert reply.headers["Content-Type"].startswith("text/html") and reply.headers["X-Content-Type-Options"] == "nosniff"

    status, file = sign(f"api/v1/runs/{run}/artifact", "download", query={"path": "outputs/b c.bin"})
    reply, text = fetch(file["address"])
    assert (reply.status, text) == (200, bytes(10)) and "attachment" in reply.headers["Content-Disposition"]

    # For nothing else: another path, another query, another method, without a session, after the session.
    assert fetch(frame["address"].replace("a.html", "b%20c.bin"))[0].status == 401
    assert fetch(file["address"].replace("b%20c", "a"))[0].status == 401
    assert fetch(frame["address"], "DELETE")[0].status == 401
    assert sign("api/v1/tokens", "frame")[0] == 400 and sign("../x", "frame")[0] == 400
    assert sign(f"api/v1/runs/{run}/log", "other")[0] == 400
    assert sign(f"api/v1/runs/{run}/log", "download", session="ponk_session_" + "0" * 64)[0] == 401
    ponk.run("session", "remove", made["id"])
    assert fetch(frame["address"])[0].status == 401
