# SPDX-License-Identifier: Apache-2.0
"""The page hears what changes: by one socket for each tab, after the daemon was killed, and without a socket as before."""
import os
import re
import signal

from bench import until

TICKS = """
import pathlib
import time
print("first words", flush=True)
for number in (1, 2):
    while not pathlib.Path(f"{gate}-{number}").exists():
        time.sleep(0.05)
    print(f"words {number}", flush=True)
"""


def submit_ticks(served, name):
    gate = served.project.parent / f"gate-{name}"
    served.write(f"{name}.py", TICKS.replace("{gate}", str(gate)))
    run = served.text("submit", "--async", "--name", name, f"{name}.py").split()[0]
    return run, lambda number: gate.with_name(f"{gate.name}-{number}").touch()


def watched(page):
    """Sockets and calls of a page from here on."""
    sockets, calls = [], []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.on("request", lambda request: calls.append(request.url))
    return sockets, calls


def connected(page):
    """Waits until a new socket of the page has said hello."""
    with page.expect_websocket() as opening:
        page.reload()
    with opening.value.expect_event("framereceived"):
        pass
    return opening.value


def test_one_socket_says_what_changes(visit, served):
    run, pass_gate = submit_ticks(served, "heard")
    page = visit(f"/run/{run}")
    page.get_by_text("first words").wait_for()
    socket = connected(page)
    page.get_by_text("first words").wait_for()
    sockets, _ = watched(page)
    for number in (1, 2):
        pass_gate(number)
        page.get_by_text(f"words {number}", exact=True).wait_for()
    page.get_by_text("Exit code 0").wait_for()
    # Other views of the tab have the same one.
    page.goto(page.url.split("#")[0] + "#/runs")
    page.locator("[role=row][aria-rowindex]", has_text="heard").wait_for()
    assert sockets == [] and not socket.is_closed()
    # The address has no secret.
    assert "?" not in socket.url and "session" not in socket.url


def test_nobody_asks_while_nothing_changes(visit, served):
    page = visit("/runs")
    # Logged in: a page that is loaded again before that has no session.
    page.locator("[role=row][aria-rowindex]").first.wait_for()
    connected(page)
    page.locator("[role=row][aria-rowindex]").first.wait_for()
    _, calls = watched(page)
    page.wait_for_timeout(3000)
    calls.clear()
    # Longer than all the intervals without a socket.
    page.wait_for_timeout(6000)
    assert [url.partition("/api/")[2] for url in calls if "/api/" in url] == []
    served.write("news.py", "print('news')")
    served.run("submit", "--name", "news", "news.py")
    page.get_by_text(re.compile("new run")).first.wait_for()


def test_two_tabs_of_one_session_miss_nothing_of_a_daemon_that_was_killed(visit, served):
    run, pass_gate = submit_ticks(served, "killed")
    first = visit(f"/run/{run}")
    first.get_by_text("first words").wait_for()
    second = first.context.new_page()
    second.goto(first.url.split("#")[0] + "#/runs")
    row = second.locator("[role=row][aria-rowindex]", has_text="killed")
    row.wait_for()
    for page in (first, second):
        connected(page)
    first.get_by_text("first words").wait_for()
    row.get_by_text("Running").first.wait_for()
    os.kill(served.json("daemon", "status")["pid"], signal.SIGKILL)
    # While there is none, the run goes on and ends.
    pass_gate(1)
    pass_gate(2)
    with first.expect_websocket(), second.expect_websocket():
        served.run("history", "info", run)
    first.get_by_text("words 2", exact=True).wait_for()
    first.get_by_text("Exit code 0").wait_for()
    row.get_by_text("Completed").first.wait_for()
    until(first, "!document.body.textContent.includes('What is shown is what was last known')")


def test_without_a_socket_the_page_asks_as_before(visit, served):
    run, pass_gate = submit_ticks(served, "asked")
    page = visit("/runs")
    # As behind a proxy that does not pass it.
    page.route_web_socket("**/api/v1/ui/live", lambda socket: socket.close(code=1011))
    page.reload()
    page.goto(page.url.split("#")[0] + f"#/run/{run}")
    page.get_by_text("first words").wait_for()
    pass_gate(1)
    page.get_by_text("words 1", exact=True).wait_for()
    pass_gate(2)
    page.get_by_text("Exit code 0").wait_for()


def test_the_socket_ends_with_the_session(visit, served):
    page = visit("/runs")
    page.get_by_role("row").first.wait_for()
    socket = connected(page)
    until(page, "document.querySelector('[role=row]')")
    for row in served.json("session", "list"):
        served.run("session", "remove", row["id"])
    page.get_by_role("heading", name="The session has ended").wait_for()
    assert socket.is_closed()
