# SPDX-License-Identifier: Apache-2.0
"""Our page beside MLflow's, TensorBoard's and Trackio's on the same data, in Debian's Chromium: the first visit, by a browser that has nothing of it."""
import json
import os
import re
import socket
import subprocess
import urllib.parse
import urllib.request

import page_data
import tracking_servers
from bench_place import CommandFailed
from mlflow_environment import environment_with, mlflow_environment

PATIENCE = 180
TURNS = 3


class Browser:
    """The program that drives Chromium, with one question and one answer a line."""

    def __init__(self, place, python):
        here = os.path.dirname(os.path.abspath(__file__))
        self.process = subprocess.Popen([python, os.path.join(here, "page_browser.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=place.folder, env={"PATH": "/usr/bin:/bin", "HOME": place.folder})

    def visit(self, address, ready, count, **more):
        self.process.stdin.write(json.dumps({"address": address, "ready": ready, "count": count, "seconds": PATIENCE, **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A server of another product, ended with the measurement."""

    def __init__(self, place, words, extra=None):
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place.folder,
                                        start_new_session=True, env={"PATH": "/usr/bin:/bin", "HOME": place.folder, "DO_NOT_TRACK": "1", **(extra or {})})

    def wait(self, address):
        for _ in range(600):
            try:
                urllib.request.urlopen(address, timeout=5).read()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                subprocess.run(["sleep", "0.2"], check=True)
        self.close()
        raise CommandFailed("no answer from " + address)

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 15)
        self.process.wait(30)


def seconds(value):
    return "not within %d s" % PATIENCE if value is None else "%.2f s" % value


class Views:
    """The three views that are compared: rows of the report, filled by one product after another."""
    NAMES = {"runs": "table of %(runs)d runs: first rows", "wide": "run with %(metrics)d metrics: first charts",
             "long": "metric with %(points)d points: its chart"}
    GOALS = {"runs": 0.5, "wide": 1.0, "long": 1.0}
    LONGEST, HEAP = 0.1, 150e6

    def __init__(self, report, data):
        self.report, self.data, self.found = report, data, {}

    def take(self, browser, product, view, address, ready, count, **more):
        """The best of some visits, each with nothing kept; address() gives a new one for each."""
        best = {"ready": None}
        for _ in range(TURNS):
            result = browser.visit(address(), ready, count, **more)
            if result["ready"] is None:
                best = {**result, **best}
                break
            if best["ready"] is None or result["ready"] < best["ready"]:
                best = result
        self.found[view, product] = best
        print("    %s, %s: %s" % (product, view, {name: value for name, value in best.items() if name != "drawn"}), flush=True)
        return best

    def others(self, view, text):
        parts = [(product, text(result)) for (of, product), result in self.found.items() if of == view and product != "ponk"]
        return ", ".join("%s %s" % part for part in parts if part[1])

    def show(self):
        for view, goal in self.GOALS.items():
            name = self.NAMES[view] % vars(self.data)
            ours = self.found[view, "ponk"]
            self.report.add(name, seconds(ours["ready"]), self.others(view, lambda result: seconds(result["ready"])), "", "at most %.1f s" % goal,
                            self.report.verdict(*[ours["ready"] is not None and ours["ready"] <= goal] * 2))
            if "longest" in ours:
                text = lambda result: "%.0f ms" % (result["longest"] * 1000) if "longest" in result else ""  # noqa: E731
                self.report.add("  longest task while scrolling", text(ours), self.others(view, text), "", "at most 100 ms",
                                self.report.verdict(*[ours["longest"] <= self.LONGEST] * 2))
            if "heap" in ours:
                text = lambda result: "%.0f MB" % (result["heap"] / 1e6) if "heap" in result else ""  # noqa: E731
                self.report.add("  heap of scripts", text(ours), self.others(view, text), "", "at most 150 MB",
                                self.report.verdict(*[ours["heap"] <= self.HEAP] * 2))


def seen(data, drawn):
    """How many planted spikes are drawn: with their very step, and within the pixel that they belong to."""
    high = sorted(step for step, value in drawn["points"] if value > page_data.SPIKE / 2)
    pixel = data.points / drawn["width"]
    exact = len(set(high) & set(data.spikes))
    near = sum(any(abs(step - spike) <= pixel for step in high) for spike in data.spikes)
    return exact, near


def ours(place, report, views, browser, data, database):
    project = place.project("page", {"noop.py": "pass\n"})
    taken = place.run([place.ponk, "history", "import", database], project)[0]
    report.fact("import of that mlflow.db", "%.0f s" % taken, "%d runs, %d points" % (data.runs + 2, data.metrics * page_data.POINTS_OF_WIDE + data.points))

    def address(to):
        def fresh():
            text = place.run([place.ponk, "ui", "--no-open"], project)[1].decode()
            return re.search(r"http\S+", text).group(0).split("&project=")[0] + "&to=" + to
        return fresh

    views.take(browser, "ponk", "runs", address("/runs"), "[role=row] [role=rowheader]", 10, scroll="[role=row] [role=rowheader]")
    views.take(browser, "ponk", "wide", address("/run/%s/metrics" % page_data.run_id(page_data.WIDE)), ".uplot canvas", 2, scroll=".uplot")
    result = views.take(browser, "ponk", "long", address("/run/%s/metrics?metrics=loss" % page_data.run_id(page_data.LONG)), ".uplot canvas", 1, table=True)
    if "drawn" in result:
        exact, near = seen(data, result["drawn"])
        report.fact("  of %d planted spikes" % len(data.spikes), "%d in their pixel" % near, "%d with their own step, on %d pixels" % (exact, result["drawn"]["width"]),
                    "all", near == len(data.spikes))


def mlflows(views, browser, server, experiment):
    def at(path):
        return lambda: "http://127.0.0.1:%d/#/experiments/%s/runs%s" % (server.port, experiment, path)

    views.take(browser, "MLflow", "runs", at(""), ".ag-center-cols-container .ag-row", 10, scroll=".ag-body-viewport")
    views.take(browser, "MLflow", "wide", at("/%s/model-metrics" % page_data.run_id(page_data.WIDE)), ".js-plotly-plot .main-svg .trace", 2, scroll=".js-plotly-plot")
    views.take(browser, "MLflow", "long", at("/%s/model-metrics" % page_data.run_id(page_data.LONG)), ".js-plotly-plot .main-svg .trace", 1,
               value="(() => { for (const plot of document.querySelectorAll('.js-plotly-plot')) return [...plot.data[0].y].filter((y) => y > 50).length; })()")


def tensorboards(place, views, browser, python, data):
    folder = os.path.join(place.folder, "events")
    place.run([python, os.path.join(os.path.dirname(os.path.abspath(__file__)), "page_data.py"), folder, str(data.runs), str(data.metrics), str(data.points)])
    port = free_port()
    program = Program(place, [os.path.join(os.path.dirname(python), "tensorboard"), "--logdir", folder, "--port", str(port)])
    try:
        root = "http://127.0.0.1:%d/" % port
        program.wait(root + "data/runs")
        # It reads its files beside its answers: a reader comes when that is done.
        for _ in range(PATIENCE):
            tags = json.load(urllib.request.urlopen(root + "data/plugin/scalars/tags"))
            if len(tags.get(page_data.WIDE, {})) == data.metrics and page_data.LONG in tags:
                break
            subprocess.run(["sleep", "1"], check=True)
        views.take(browser, "TensorBoard", "wide", lambda: root + "?tagFilter=layer#timeseries", "line-chart svg.ticks", 4, scroll="line-chart")
        views.take(browser, "TensorBoard", "long", lambda: root + "?tagFilter=%5Eloss%24#timeseries", "line-chart svg.ticks", 2)
        points = json.load(urllib.request.urlopen(root + "data/plugin/scalars/scalars?" + urllib.parse.urlencode({"run": page_data.LONG, "tag": "loss"})))
        views.found["long", "TensorBoard"]["value"] = sum(value > page_data.SPIKE / 2 for _, _, value in points)
    finally:
        program.close()


def trackios(place, views, browser, python, data):
    folder = os.path.join(place.folder, "trackio")
    os.makedirs(folder)
    extra = {"TRACKIO_DIR": folder, "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "GRADIO_SERVER_PORT": str(free_port())}
    for name in (page_data.WIDE, page_data.LONG):
        place.run([python, "-c", "import trackio; trackio.init(project=%r, name='seed'); trackio.finish()" % name], extra=extra)
    page_data.fill_trackio({name: os.path.join(folder, name + ".db") for name in (page_data.WIDE, page_data.LONG)}, data)
    root = "http://127.0.0.1:%s/" % extra["GRADIO_SERVER_PORT"]
    program = Program(place, [os.path.join(os.path.dirname(python), "trackio"), "show", "--project", page_data.WIDE], extra)
    try:
        program.wait(root)
        views.take(browser, "Trackio", "wide", lambda: root + "?project=" + page_data.WIDE, "canvas.marks", 2, scroll=".plot-grid")
        views.take(browser, "Trackio", "long", lambda: root + "?project=" + page_data.LONG, "canvas.marks", 1)
    finally:
        program.close()


def page(place, report):
    data = page_data.Data(*place.options.page)
    try:
        python = os.path.join(environment_with("page-bench", ["playwright", "tensorboard", "trackio", "numpy"]), "bin", "python")
        mlflow = mlflow_environment()
    except (subprocess.SubprocessError, OSError) as problem:
        report.skip("the page beside others", "its tools cannot be installed (%s)" % type(problem).__name__)
        return
    views = Views(report, data)
    browser = Browser(place, python)
    server = tracking_servers.Mlflow(mlflow, os.path.join(place.folder, "mlflow"), 4)
    try:
        experiment = page_data.fill_mlflow(server, data)
        ours(place, report, views, browser, data, server.database)
        mlflows(views, browser, server, experiment)
        server.close()
        tensorboards(place, views, browser, python, data)
        trackios(place, views, browser, python, data)
    finally:
        server.close()
        browser.close()
    views.show()
    others = views.others("long", lambda result: str(result["value"]) if "value" in result else "")
    report.fact("  planted spikes in what others draw", others, "of %d" % len(data.spikes))
