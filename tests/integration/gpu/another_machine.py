# SPDX-License-Identifier: Apache-2.0
"""GPUs of another machine: this one, reached through an sshd of the checks' own. The daemon here knows nothing of the card but
what the other side tells; leases are shared with the runs that are started here directly."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "host"))
import host as hosts  # noqa: E402


def unpack(pack, folder):
    """OpenSSH for machines without it, first on the path."""
    programs = folder / "ssh"
    programs.mkdir()
    subprocess.run(["tar", "-C", str(programs), "-xJf", pack], check=True)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    if subprocess.run(["getent", "passwd", "sshd"], capture_output=True).returncode != 0:
        subprocess.run(["useradd", "--system", "--no-create-home", "--home-dir", "/run/sshd", "sshd"], check=True)


def check(checks, pack, folder):
    if pack:
        unpack(pack, folder)
    why = hosts.missing()
    if why:
        checks.row("another machine", "there", why)
        return
    checks.environment["PATH"] = os.environ["PATH"]
    subprocess.run([checks.ponk, "daemon", "stop"], env=checks.environment, capture_output=True)
    machine = hosts.Host(folder / "machine", {"PONK_GPU_LOCKS": checks.environment["PONK_GPU_LOCKS"]})
    machine.start()
    try:
        machine.trust(Home(checks))
        settings = checks.project / "aml_config"
        settings.mkdir(exist_ok=True)
        (settings / "far.compute").write_text(machine.compute("remote", f"pythonLocation: {sys.executable}"))
        (settings / "far.runconfig").write_text("Target: far\nFramework: Python\nPrepareEnvironment: false\n")
        print(checks.run("gpu", "list").stdout)
        checks.verdict("another machine: PyTorch training", "confirmed", "-c", "far", "train.py", "8")
        checks.verdict("another machine: sleep", "cpu-fallback", "-c", "far", "sleep.py")
        wait_for_the_card(checks)
        lose_the_connection(checks, machine)
    finally:
        subprocess.run([checks.ponk, "daemon", "stop"], env=checks.environment, capture_output=True)
        machine.stop()


class Home:
    """What Host.trust asks of a workbench."""

    def __init__(self, checks):
        self.home = pathlib.Path(checks.environment["PONK_HOME"])


def wait_for_the_card(checks):
    first = checks.start("--gpus", "1", "train.py", "14")
    checks.wait_for(first, "Running")
    second = checks.start_queued("-c", "far", "--gpus", "1", "short.py")
    waiting = checks.wait_for(second, "Queued", "Running", "Completed", seconds=20)
    checks.row("another machine: waits for a run of this one", "Queued", waiting["status"],
               str((waiting.get("gpu_evidence") or {}).get("waiting")))
    one, two = checks.wait_for(first, "Completed", "Failed"), checks.wait_for(second, "Completed", "Failed")
    checks.row("another machine: and runs after it", True, two["status"] == "Completed" and two["start_time_utc"] >= one["end_time_utc"],
               f"{one['end_time_utc']} then {two['start_time_utc']}, verdict {two['gpu_verdict']}")


def lose_the_connection(checks, machine):
    run = checks.start("-c", "far", "--gpus", "1", "train.py", "15")
    checks.wait_for(run, "Running")
    time.sleep(3)
    lost = [*machine.sessions(), *machine.helpers()]
    for pid in lost:
        hosts.signal_process(pid, signal.SIGKILL)
    busy, _ = checks.holder()
    checks.row("another machine: leased while the connection is lost", True, busy, f"{len(lost)} processes of sshd and ponk-agent killed")
    record = checks.wait_for(run, "Completed", "Failed", "Lost")
    evidence = record.get("gpu_evidence") or {}
    checks.row("another machine: the verdict comes home", "Completed confirmed", f"{record['status']} {record['gpu_verdict']}", evidence.get("reason", ""))
