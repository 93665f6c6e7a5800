# SPDX-License-Identifier: Apache-2.0
"""Finds and kills the processes of one private PONK_HOME, and never any other.

A process is ours when its environment names that home, or its command line, program or working
directory lies in it. It is killed through a pidfd opened before that check, so a pid that was
reused in between cannot be hit.
"""
import os
import re
import signal


def _read(path):
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def _link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Process:
    def __init__(self, pid):
        self.pid = pid
        self.words = [os.fsdecode(word) for word in _read("/proc/%d/cmdline" % pid).split(b"\0") if word]
        self.program = _link("/proc/%d/exe" % pid)

    def role(self):
        names = (os.path.basename(self.program), os.path.basename(self.words[0]) if self.words else "")
        if any("stub" in name for name in names):
            return "stub"
        if any(name.startswith("ponk-gpu-monitor") for name in names):
            return "monitor"
        if any(os.path.basename(word) == "oracle.py" for word in self.words[1:]) and "python" in names[0]:
            return "script"
        if any(name == "ponk" or name.startswith("ponk ") for name in names):
            return "daemon" if "daemon" in self.words else "cli"
        return "other"


def belongs_to(pid, home):
    needle = os.fsencode(home)
    if b"PONK_HOME=" + needle in _read("/proc/%d/environ" % pid).split(b"\0"):
        return True
    if needle in _read("/proc/%d/cmdline" % pid):
        return True
    inside = home.rstrip("/") + "/"
    return any((_link("/proc/%d/%s" % (pid, name)) + "/").startswith(inside) for name in ("exe", "cwd"))


def is_zombie(pid):
    return b") Z" in _read("/proc/%d/stat" % pid)


def all_of(home, exclude=()):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid() or int(name) in exclude:
            continue
        pid = int(name)
        if belongs_to(pid, home) and not is_zombie(pid):
            process = Process(pid)
            if process.words:
                found.append(process)
    return found


def daemons(home):
    return [process for process in all_of(home) if process.role() == "daemon"]


def attempt_of(process):
    """The attempt a script works for: the word after oracle.py."""
    for index, word in enumerate(process.words[:-1]):
        if os.path.basename(word) == "oracle.py":
            return process.words[index + 1]
    return ""


def run_id_of(process):
    places = " ".join(process.words) + " " + _link("/proc/%d/cwd" % process.pid)
    match = re.search(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", places)
    return match.group(0) if match else ""


def supervisors_of(home, attempt):
    """The supervising processes (stub, guard) of one run, the first of them first: of the run whose
    script works for `attempt`, else of one that has not started its script yet."""
    everyone = all_of(home)
    groups = {}
    for process in everyone:
        if process.role() == "stub":
            groups.setdefault(run_id_of(process), []).append(process)
    attempts = {process.pid: attempt_of(process) for process in everyone if process.role() == "script"}
    busy = {parent_of(pid): name for pid, name in attempts.items()}
    young = []
    for group in groups.values():
        pids = {process.pid for process in group}
        group.sort(key=lambda process: (parent_of(process.pid) in pids, process.pid))
        names = {busy[pid] for pid in pids if pid in busy}
        if attempt in names:
            return group
        if not names:
            young.append(group)
    return young[0] if young else []


def parent_of(pid):
    text = _read("/proc/%d/stat" % pid)
    return int(text.rpartition(b")")[2].split()[1]) if text else 0


def kill(process, home):
    """SIGKILL, when it is still the process that was seen. Says whether it was."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if not belongs_to(process.pid, home) or Process(process.pid).words != process.words:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
