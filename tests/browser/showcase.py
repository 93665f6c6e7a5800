# SPDX-License-Identifier: Apache-2.0
"""A workbench as somebody has it after some weeks, for pictures of the page: one project with files, targets, cards and real runs among a
made history, some others, models, tokens and saved views. Nothing in it is secret, and nothing is asked of machines outside."""
import json
import pathlib
import shutil
import subprocess
import sys
import time

from history_lines import write
from workbench import REPOSITORY, Ponk

sys.path[:0] = [str(REPOSITORY / "tests" / "e2e"), str(REPOSITORY / "tests" / "integration" / "ssh")]
import host as hosts  # noqa: E402
from gpus import Gpus, wait_for  # noqa: E402
from login import Page  # noqa: E402

FILES = pathlib.Path(__file__).resolve().parent / "showcase"
MADE = 1248
SETTINGS = {
    "wide-256": "--epochs 20 --lr 0.003 --hidden 256", "wide-128": "--epochs 20 --lr 0.003 --hidden 128", "deep-4": "--epochs 20 --lr 0.001 --hidden 64",
}
DAY = 86_400_000


class Showcase(Ponk):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.project = self.project.rename(folder / "mnist-vision")
        shutil.copytree(FILES, self.project, dirs_exist_ok=True)
        self.environment["USER"] = "ann"
        self.gpus = Gpus(self, folder)
        self.now = int(time.time() * 1000)
        self.held, self.hosts, self.host, self.runs = [], [], None, {}

    def cards(self):
        """Four cards: two for our runs, one that a run holds without using it, one that somebody uses by hand."""
        by_hand = subprocess.Popen(["/usr/bin/python3", "-c", "import time; time.sleep(1e6)"])
        self.held.append(by_hand)
        self.on_cards = {3: ({"pid": by_hand.pid, "memory": 38 << 30}, 0.38)}
        self.put_on_cards({})

    def put_on_cards(self, runs):
        """{run: share of its card}: the processes of these runs are seen at work on the cards that they were given."""
        for run, share in runs.items():
            evidence = self.json("history", "info", run)["gpu_evidence"]
            self.on_cards[evidence["devices"][0]["index"]] = ({"environment": run, "program": "python", "memory": 11_400_000_000, "sm_utilisation": share, "sm_span_ms": 1}, share)
        cards = []
        for card in range(4):
            process, share = self.on_cards.get(card, (None, 0))
            sample = {"utilisation": share, "sm_activity": round(share * 0.91, 2), "power_watts": 480, "temperature": 38 + int(25 * share)}
            cards.append({"name": "NVIDIA H200", "memory_total": 140 << 30, "sample": sample, "processes": [process] if process else []})
        self.gpus.set(cards)

    def history(self):
        """The past of three projects; the first is the one that has files."""
        self.run("project", "create", "mnist-vision", ".", code=None)
        self.id = self.json("project", "show")["id"]
        lines = self.project.parent / "lines.jsonl"
        with open(lines, "w") as stream:
            write(stream, MADE, self.now - 600_000)
            first = lines.read_text().splitlines() if stream.flush() is None else []
        mine = [self.of(line, "mnist-vision", self.id, str(self.project), 77) for line in first]
        others = [self.of(line, name, "%032x" % (0xB00 + place), str(self.project.parent / name), 78 + place, f"{place + 1:02d}")
                  for place, name in enumerate(("cifar-distill", "speech-small")) for line in first[-60 * (place + 1):]]
        completed = [json.loads(line)["run"]["run_id"] for line in mine if json.loads(line)["run"]["status"] == "Completed"]
        lines.write_text("".join(line + "\n" for line in [*mine, *others, *map(json.dumps, self.models(completed))]))
        self.run("history", "import", lines)

    @staticmethod
    def of(line, name, project, path, number, digits=""):
        read = json.loads(line)
        if read["run"]["target"] == "slurm":
            read["run"].update(target="cluster", run_configuration="cluster", host="cluster")
        read["run"].update(project=project, project_path=path, run_id=(digits + read["run"]["run_id"])[:32] if digits else read["run"]["run_id"])
        read["experiment"].update(id=number, name=name, project=project, project_name=name, path=path)
        return json.dumps(read)

    def models(self, runs):
        for place, (name, about, versions, aliases) in enumerate((
                ("digits", "Reads handwritten digits of 28 × 28 pixels", 7, {"champion": 5, "candidate": 7}), ("digits-small", "The same for devices without a GPU", 3, {"champion": 3}),
                ("speech-commands", "Twelve words, 16 kHz", 2, {}))):
            begun = self.now - (20 - 3 * place) * DAY
            yield {"registered_model": {"name": name, "description": about, "created": begun, "updated": begun + versions * DAY, "aliases": aliases, "last_version": versions, "versions": [
                {"version": one, "created": begun + one * DAY, "updated": begun + one * DAY, "run_id": runs[-(10 * place + one)], "source": f"runs:/{runs[-(10 * place + one)]}/model",
                 "stage": "Production" if one == aliases.get("champion") else "None", "location": ""} for one in range(1, versions + 1)]}}

    def submit(self, name, *words, **more):
        return self.text("submit", "--async", "--name", name, *words, **more).split()[0]

    def environments(self):
        """Two, of which one is used by runs to come, where packages can be had; without them runs have the Python of this machine."""
        self.write("check.py", "import tabulate\nprint(tabulate.__version__)\n")
        for packages in ("tabulate==0.9.0\n", "tabulate==0.9.0\ntqdm==4.67.1\n"):
            needs = self.write("requirements.txt", packages)
            if self.run("submit", "--gpus", "0", "--name", "packages", "check.py", code=None).returncode != 0:
                needs.unlink()
                break
        (self.project / "check.py").unlink()

    def train(self):
        """Runs whose evidence, log, outputs and code are real."""
        # At once, each with its own code; the third holds a card and works without it.
        for name, words in SETTINGS.items():
            self.write("model.py", (FILES / "model.py").read_text().replace("WIDTH = 256", f"WIDTH = {words.split()[-1]}"))
            self.runs[name] = self.submit(name, "--gpus", "1", *(("--tag", "baseline=yes") if "wide" in name else ()), "train.py", *words.split())
            wait_for(self, self.runs[name], "Running")
        self.put_on_cards({self.runs["wide-256"]: 0.94, self.runs["wide-128"]: 0.71})
        for name in SETTINGS:
            wait_for(self, self.runs[name], "Completed", "Failed")
        for card in (0, 1, 2):
            self.on_cards.pop(card, None)
        self.put_on_cards({})
        self.runs["missing"] = self.submit("night run", "--gpus", "0", "train.py", "--data", "data/mnist-60k.npz", *SETTINGS["wide-256"].split())
        wait_for(self, self.runs["missing"], "Failed")
        self.runs["live"] = self.submit("wide-512", "--gpus", "1", "train.py", "--epochs", "900", "--lr", "0.003", "--hidden", "512")
        wait_for(self, self.runs["live"], "Running")
        self.put_on_cards({self.runs["live"]: 0.88})
        self.runs["waiting"] = self.submit("sweep-all", "--gpus", "4", "train.py", "--epochs", "20", "--hidden", "64")
        wait_for(self, self.runs["waiting"], "Queued")

    def people(self):
        for name, role in (("ci", "write"), ("dashboard", "read"), ("notebook-ann", "administer")):
            self.run("token", "create", "--name", name, "--role", role)
        page = Page(self)
        session = page.log_in(code=page.code()["code"])[1]["session"]
        columns = ["state", "started", "time", "gpu", "metric:loss", "min:loss", "metric:accuracy", "param:lr"]
        for name, view in (("Best of the sweep", {"filter": "metrics.loss < 0.2 AND params.lr = '0.003'", "order": "metrics.loss ASC", "columns": columns}),
                           ("By learning rate", {"order": "metrics.accuracy DESC", "group": "params.lr", "columns": columns}), ("Failed this week", {"filter": "status = 'Failed'"})):
            status, text = page.ask("PUT", f"/api/v1/views/{name.replace(' ', '%20')}?project={self.id}", session,
                                    {"filter": "", "order": "", "group": "", "columns": [], "only_differing": False, **view})
            assert status in (200, 201), text

    def targets(self):
        """Where this machine can have users of its own: one that answers and one that is switched off."""
        if hosts.missing() is not None:
            return
        user = hosts.User("pageshow", self.project.parent, hosts.PASSWORD)
        self.hosts = [hosts.Sshd().start(), hosts.Sshd().start(), user]
        self.host, away, _ = self.hosts
        for name, server in (("gpu-box", self.host), ("cluster", away)):
            self.run("computetarget", "attach", "remote", "--name", name, "--address", f"127.0.0.1:{server.port}", "--username", user.name,
                     "--password", hosts.PASSWORD, "--fingerprint", server.fingerprint())
        away.stop()

    def fill(self):
        self.cards()
        self.history()
        self.targets()
        self.people()
        self.environments()
        self.train()

    def close(self):
        for name in ("live", "waiting"):
            if name in self.runs:
                self.run("experiment", "cancel", self.runs[name], code=None)
        subprocess.run([self.program, "daemon", "stop"], env=self.environment, capture_output=True, timeout=60)
        for process in self.held:
            process.kill()
            process.wait()
        for one in self.hosts:
            one.remove()
