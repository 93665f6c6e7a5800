#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ponk promises about GPUs, on a machine that has one: check_gpu.py PONK [--docker PACK] [--ssh PACK] [--only WORD]

Needs python3 with PyTorch for that GPU. PACK is an archive of a Docker engine (dockerd, docker, containerd, runc and their
libraries in lib/), or of OpenSSH, for machines without. Each row of the table is a run of its own; the exit code is the number of rows
that are not as promised.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

TRAIN = """
import sys, time, torch
device = torch.device("cuda")
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, labels = torch.randn(4096, 1024, device=device), torch.randint(0, 10, (4096,), device=device)
end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 5)
step = 0
while time.time() < end:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(data), labels)
    loss.backward()
    optimizer.step()
    step += 1
torch.cuda.synchronize()
print(torch.cuda.get_device_name(0), "steps", step, "loss", float(loss))
"""
SLEEP = "import time; time.sleep(4); print('slept')\n"
IDLE = """
import time, torch
x = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda"); torch.cuda.synchronize()
time.sleep(12); print("held", x.numel())
"""
HIDDEN = """
import os, time
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import torch
print("cuda", torch.cuda.is_available()); x = torch.randn(512, 512)
end = time.time() + 4
while time.time() < end: x = torch.tanh(x @ x)
"""
NONE = "import sys, torch; sys.exit(torch.cuda.is_available())\n"
WORKERS = """
import multiprocessing as mp, sys
def work(n):
    import torch, time
    x = torch.randn(4096, 4096, device="cuda"); end = time.time() + 5
    while time.time() < end: x = torch.tanh(x @ x)
    torch.cuda.synchronize()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    several = [mp.Process(target=work, args=(n,)) for n in range(2)]
    [p.start() for p in several]; [p.join() for p in several]
    print("workers done")
"""
SHORT = """
import torch
x = torch.randn(8192, 8192, device="cuda")
for _ in range(200): x = torch.tanh(x @ x)
torch.cuda.synchronize(); print("short")
"""


class Checks:
    def __init__(self, ponk, folder, only):
        self.ponk, self.folder, self.only, self.rows, self.bad = ponk, folder, only, [], 0
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = dict(os.environ, PONK_HOME=str(folder / "home"), PONK_GPU_LOCKS=str(folder / "locks"))
        for name, text in {"train.py": TRAIN, "sleep.py": SLEEP, "idle.py": IDLE, "hidden.py": HIDDEN, "workers.py": WORKERS,
                           "short.py": SHORT, "none.py": NONE, "nothing.py": ""}.items():
            (self.project / name).write_text(text)

    def run(self, *words, code=None, timeout=300):
        done = subprocess.run([self.ponk, *map(str, words)], cwd=self.project, env=self.environment, capture_output=True,
                              text=True, timeout=timeout)
        if code is not None and done.returncode != code:
            print(f"$ ponk {' '.join(map(str, words))} -> {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        return done

    def record(self, run):
        return json.loads(self.run("history", "info", run, "-o", "json").stdout)

    def submit(self, *words, timeout=300):
        """A run followed to its end: its record and what was said on stderr."""
        done = self.run("submit", "-o", "json", *words, timeout=timeout)
        try:
            return json.loads(done.stdout), done.stderr
        except ValueError:
            print(done.stdout[-1500:], done.stderr[-3000:])
            raise

    def start(self, *words):
        return self.run("submit", "--async", *words, code=0).stdout.strip()

    def wait_for(self, run, *states, seconds=60):
        for _ in range(int(seconds * 5)):
            record = self.record(run)
            if record["status"] in states:
                return record
            time.sleep(0.2)
        return record

    def row(self, name, wanted, seen, detail=""):
        good = wanted == seen
        self.bad += not good
        self.rows.append((name, wanted, seen, "ok" if good else "NOT AS PROMISED", detail))
        print(f"{'ok ' if good else 'BAD'}  {name}: {seen}   {detail}", flush=True)

    def verdict(self, name, wanted, *words, state="Completed", reason=None):
        if self.only and self.only not in name:
            return
        record, said = self.submit(*words)
        evidence = record.get("gpu_evidence") or {}
        why = evidence.get("reason", "")
        self.row(name, wanted, record["gpu_verdict"], why)
        if record["status"] != state:
            self.row(name + ", state", state, record["status"], str(record.get("error")) + said[-1500:])
        if reason:
            self.row(name + ", reason", True, any(word in why for word in reason), why)
        return record

    def print_table(self):
        print("\n| check | promised | seen | |\n|---|---|---|---|")
        for name, wanted, seen, good, _ in self.rows:
            print(f"| {name} | {wanted} | {seen} | {good} |")
        print(f"{len(self.rows) - self.bad} of {len(self.rows)} as promised")

    # -- several runs

    def pids(self, run):
        """Stub, guard and script of a run on this machine."""
        text = (pathlib.Path(self.environment["PONK_HOME"]) / "runs" / run / "attempts/1/tasks/0/pid").read_text()
        return {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if line.split()[0] in ("stub", "guard", "main")}

    def holder(self):
        """True while nobody else can have the card: a run that does not wait is refused."""
        done = self.run("submit", "--gpus", "1", "--no-wait", "nothing.py", timeout=60)
        return done.returncode != 0 and "busy" in done.stderr, done.stderr

    def queue(self):
        first = self.start("--gpus", "1", "train.py", "12")
        self.wait_for(first, "Running")
        second = self.start_queued("--gpus", "1", "short.py")
        waiting = self.wait_for(second, "Queued", "Running", "Completed", seconds=20)
        self.row("second run on one GPU waits", "Queued", waiting["status"], str((waiting.get("gpu_evidence") or {}).get("waiting")))
        one, two = self.wait_for(first, "Completed", "Failed"), self.wait_for(second, "Completed", "Failed")
        self.row("and runs after the first", True, two["status"] == "Completed" and two["start_time_utc"] >= one["end_time_utc"],
                 f"{one['end_time_utc']} then {two['start_time_utc']}, queue {two['timings'].get('queue')} ms")

    def start_queued(self, *words):
        process = subprocess.Popen([self.ponk, "submit", *words], cwd=self.project, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "RunId:" in line:
                return line.split()[-1]

    def killed(self):
        run = self.start("--gpus", "1", "train.py", "25")
        self.wait_for(run, "Running")
        time.sleep(3)
        pids = self.pids(run)
        os.kill(pids["stub"], signal.SIGKILL)
        time.sleep(1)
        busy, said = self.holder()
        self.row("stub killed: card still leased", True, busy, said.strip().splitlines()[-2] if busy else said)
        os.kill(pids["guard"], signal.SIGKILL)
        os.kill(pids["main"], signal.SIGKILL)
        began = time.time()
        while self.holder()[0] and time.time() - began < 20:
            pass
        self.row("all killed: card free", True, time.time() - began < 10, f"after {time.time() - began:.1f} s")
        self.wait_for(run, "Failed", "Lost", "Completed")

    def foreign(self):
        python = shutil.which("python3")
        process = subprocess.Popen([python, "-c", "import torch,time; x=torch.zeros(1<<30,dtype=torch.uint8,device='cuda'); print('up',flush=True); time.sleep(60)"],
                                   stdout=subprocess.PIPE)
        process.stdout.readline()
        busy, said = self.holder()
        self.row("foreign process: card seen busy", True, busy and str(process.pid) in said, said.strip().splitlines()[-2] if busy else said)
        process.kill()
        process.wait()

    def required(self):
        (self.project / "aml_config").mkdir(exist_ok=True)
        (self.project / "aml_config" / "must.runconfig").write_text("Target: local\nFramework: Python\ngpu: required\ngpuGrace: 3s\n")
        (self.project / "long.py").write_text("import time; time.sleep(60)\n")
        began = time.time()
        record, said = self.submit("-c", "must", "long.py")
        self.row("gpu: required ends a fall-back", "Failed", record["status"], f"after {time.time() - began:.0f} s: {(record.get('error') or {}).get('message')}")

    def live_view(self):
        """What `gpu watch` shows while a run computes: its last whole picture."""
        run = self.start("--gpus", "1", "train.py", "12")
        self.wait_for(run, "Running")
        time.sleep(3)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(self.ponk, [self.ponk, "gpu", "watch"], dict(self.environment, TERM="xterm-256color", COLUMNS="110", LINES="40"))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
        seen, end = b"", time.time() + 7
        while time.time() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 65536)
        os.kill(pid, signal.SIGINT)
        os.waitpid(pid, 0)
        os.close(terminal)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", lambda found: "\f" if found.group().endswith(("H", "J")) else "", seen.decode(errors="replace"))
        frames = [frame for frame in text.split("\f") if frame.strip()]
        last = max(frames[-6:], key=len) if frames else ""
        print("--- gpu watch\n" + last)
        self.row("gpu watch names the run", True, run[-8:] in text, f"{len(frames)} pieces")
        self.wait_for(run, "Completed", "Failed")

    def overhead(self):
        """Steps of training under ponk and by Python alone, in turns."""
        steps = {"with": [], "without": []}
        for _ in range(3):
            alone = subprocess.run([sys.executable, "train.py", "8"], cwd=self.project, env=self.environment, capture_output=True,
                                   text=True, check=True).stdout
            run, _ = self.submit("--gpus", "1", "train.py", "8")
            for kind, text in (("without", alone), ("with", self.run("logs", run["run_id"]).stdout)):
                steps[kind].append(int(text.rsplit("steps", 1)[1].split()[0]))
        best = {kind: max(values) for kind, values in steps.items()}
        self.rows.append(("training steps in 8 s, without and with sampling", "within noise", f"{best['without']} and {best['with']}",
                          f"{100 * (best['with'] / best['without'] - 1):+.2f} %", str(steps)))
        print("overhead", steps, flush=True)

    def cost(self):
        """Processor time of ponk-gpu-monitor and its child during a run."""
        run = self.start("--gpus", "1", "train.py", "20")
        self.wait_for(run, "Running")
        time.sleep(8)
        def used():
            total = {}
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    name = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
                    fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                    if "ponk-gpu-monitor" in name or "ponk-nvml" in name or "nvidia-smi" in name:
                        total[os.path.basename(name)] = total.get(os.path.basename(name), 0) + int(fields[11]) + int(fields[12])
                except OSError:
                    pass
            return total
        before = used()
        time.sleep(10)
        after = used()
        spent = {name: (after[name] - before.get(name, 0)) / os.sysconf("SC_CLK_TCK") * 10 for name in after}
        self.rows.append(("processor use of sampling", "< 0.5 %", f"{sum(spent.values()):.2f} % of a core",
                          "ok" if sum(spent.values()) < 0.5 else "MORE", str(spent)))
        self.bad += sum(spent.values()) >= 0.5
        print("cost", spent, flush=True)
        self.wait_for(run, "Completed", "Failed")


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("ponk")
    words.add_argument("--docker")
    words.add_argument("--ssh")
    words.add_argument("--only", help="only the checks with this word in their names")
    words = words.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ponk-gpu-"))
    checks = Checks(os.path.abspath(words.ponk), folder, words.only)
    wants = lambda name: not words.only or words.only in name
    try:
        print(checks.run("gpu", "list").stdout)
        record = checks.verdict("PyTorch training", "confirmed", "train.py", "8")
        if record:
            print(checks.run("history", "info", record["run_id"], "-o", "table").stdout)
            banner = checks.run("submit", "short.py")
            print("--- stderr of a submit\n" + banner.stderr)
        checks.verdict("sleep", "cpu-fallback", "sleep.py")
        checks.verdict("allocate and idle", "idle", "idle.py")
        checks.verdict("hidden in the script", "cpu-fallback", "hidden.py", reason=["CUDA_VISIBLE_DEVICES", "hid"])
        checks.verdict("hidden by a variable", "cpu-fallback", "--env", "CUDA_VISIBLE_DEVICES=-1", "hidden.py", reason=["CUDA_VISIBLE_DEVICES", "hid"])
        checks.verdict("a second of work", "confirmed", "short.py")
        checks.verdict("workers that are forked", "confirmed", "workers.py")
        checks.verdict("--gpus none", "not-requested", "--gpus", "none", "sleep.py")
        checks.verdict("--gpus none hides the card", "not-requested", "--gpus", "none", "none.py")
        checks.verdict("--gpus none hides it from a variable", "not-requested", "--gpus", "none", "--env", "CUDA_VISIBLE_DEVICES=0", "none.py")
        for name in ("live_view", "queue", "killed", "foreign", "required", "cost", "overhead"):
            if wants(name):
                getattr(checks, name)()
        if words.docker and wants("container"):
            import container
            container.check(checks, words.docker, folder)
        if wants("another machine"):
            import another_machine
            another_machine.check(checks, words.ssh, folder)
        checks.print_table()
    finally:
        subprocess.run([checks.ponk, "daemon", "stop"], env=checks.environment, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
    return min(checks.bad, 100)


if __name__ == "__main__":
    sys.exit(main())
