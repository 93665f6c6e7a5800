# SPDX-License-Identifier: Apache-2.0
"""A daemon with something to see: a made history of one project, real runs of another."""
import re
import time

from history_lines import write
from playwright.sync_api import Error
from workbench import Ponk

# A moment of its own would make ages of runs differ from test to test; the page shows the clock's.
NOW = 1_790_000_000_000
HOSTILE = "<img src=x onerror=\"window.pwned='yes'\"><script>window.pwned='yes'</script>"

TRAIN = """
import math
import ponk
ponk.log_params({"lr": 0.01, "hidden": 256})
for step in range(200):
    ponk.log_metrics({"loss": 2 * math.exp(-step / 40) + 0.1, "accuracy": 1 - math.exp(-step / 40)}, step=step)
print("trained")
"""
WAITS = """
import pathlib
import time
import ponk
ponk.log_metric("loss", 1.5)
for _ in range(1200):
    if pathlib.Path("{gate}").exists():
        break
    time.sleep(0.1)
"""
BAD = f"""
import ponk
hostile = {HOSTILE!r}
ponk.log_params({{"evil": hostile}})
ponk.set_tag("bad", hostile)
ponk.log_metric("m", 1.0)
print(hostile)
"""


def expected(text):
    """Chromium reports each refused request and each socket that a killed daemon leaves; tests ask for some."""
    return re.search(r"Failed to load resource|ERR_CONNECTION|net::ERR|WebSocket connection to", text) is not None


def until(page, expression, seconds=30):
    """Asks again until it holds. The page's policy forbids the evaluation that Playwright's own waiting needs.
    An error is an answer too: after a reload, elements are not there yet."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = page.evaluate(expression)
        except Error as error:
            answer = error
        if answer and not isinstance(answer, Error):
            return
        assert time.monotonic() < deadline, f"{expression}: {answer}"
        page.wait_for_timeout(50)


class Bench(Ponk):
    def fill(self, count, now=NOW):
        self.write("train.py", TRAIN)
        self.write("hostile.py", BAD)
        lines = self.project.parent / "lines.jsonl"
        with open(lines, "w") as stream:
            write(stream, count, now)
        self.run("history", "import", lines)
        self.run("submit", "--name", "first", "train.py")
        self.run("submit", "--name", HOSTILE, "--tag", f"note={HOSTILE}", "hostile.py")

    def address(self, place="/runs", project=False):
        """Where the page is, with a code for one login, at a view; of all projects, or of the current folder's."""
        text = self.run("ui", "--no-open").stdout.decode()
        found = re.search(r"http\S+", text).group(0)
        return f"{found if project else found.split('&project=')[0]}&to={place}"

    def root(self):
        return self.address().split("#")[0]

    def submit_waiting(self, name):
        """A run that goes on until the returned file exists."""
        gate = self.project.parent / f"gate-{name}"
        self.write(f"{name}.py", WAITS.replace("{gate}", str(gate)))
        run = self.text("submit", "--async", "--name", name, f"{name}.py").split()[0]
        return run, gate
