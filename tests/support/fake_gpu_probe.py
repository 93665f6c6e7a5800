#!/usr/bin/env -S python3 -S -s
# SPDX-License-Identifier: Apache-2.0
"""GPUs that are not there: speaks the probe protocol (docs/design/gpu.md) for tests.

    PONK_GPU_PROBE=tests/support/fake_gpu_probe.py PONK_FAKE_GPUS=gpus.json ponk gpu list

PONK_FAKE_GPUS names a JSON file, read again at each request: change it (by rename) and the next answer
is another one. A file that is not there means no GPUs; one that is no JSON means the last good one.

    {"driver_version": "580.1",         all of these are optional
     "cuda_version": "13.0",
     "way": "fake",
     "problem": {"kind": "unavailable", "message": "…", "hint": "…"},
     "hang": true,                       never answers
     "exit": 3,                          ends with this code instead of answering
     "delay": 0.5,                       seconds before each answer
     "sample_fails": "why",              it knows its devices, and not how they are
     "devices": [                        or a number: so many cards with default values
       {"uuid": "GPU-0",                 default GPU-<index>; also "card", "name", "vendor",
                                         "compute_capability", "clock_mhz", "pci_bus_id",
                                         "memory_total", "memory_free", "nodes",
                                         "power_limit_watts"
        "absent": true,                  the driver does not list it (any more)
        "sample": {"utilisation": 0.9, "sm_activity": 0.7, "memory_used": 1000, "power_watts": 300,
                   "energy_joules": 5, "temperature": 60, "clock_mhz": 1900, "xids": [79],
                   "ecc_errors": 0, "lost": "why"},
        "processes": [
          {"pid": 123, "memory": 5000, "sm_utilisation": 0.5, "sm_span_ms": 1200, "draws_only": true, "ended": true},
          {"word": "abc", "memory": 5000}]}]}

A sample says nothing that it is not told, but: memory_used is the sum of the processes' when it is not
given (and memory_free the rest), and a card with power_watts and without energy_joules counts its energy
by the clock.

An entry of "processes" stands for every process for which all of these hold: "word" is in its environment
or command line, "environment" in its environment, "command" in its command line (words parted by a blank),
"program" in the name of its program. A process that two
entries fit is as the last one says. Processes that end are no longer listed. This program itself never is.
"""
import json
import os
import sys
import time


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def fits(entry, pid):
    folder = "/proc/%d/" % pid
    command = read_file(folder + "cmdline")
    if not command:  # a kernel thread, or gone
        return False
    environment = read_file(folder + "environ")
    program = os.path.basename(command.split(b"\0")[0])
    command = command.rstrip(b"\0").replace(b"\0", b" ")
    places = {"word": environment + b"\0" + command, "environment": environment, "command": command,
              "program": program}
    return all(entry[key].encode() in place for key, place in places.items() if key in entry)


def pids_of(entry):
    if "pid" in entry:
        return [entry["pid"]]
    if not any(key in entry for key in ("word", "environment", "command", "program")):
        return []
    return [int(name) for name in os.listdir("/proc")
            if name.isdigit() and int(name) != os.getpid() and fits(entry, int(name))]


def inventory_entry(index, device):
    entry = {"uuid": "GPU-%d" % index, "index": index, "name": "Fake GPU", "vendor": "nvidia",
             "compute_capability": "9.0", "clock_mhz": 1980, "pci_bus_id": "0000:%02X:00.0" % (index + 1),
             "memory_total": 80 << 30, "memory_free": 80 << 30, "nodes": ["/dev/nvidia%d" % index],
             "power_limit_watts": 700}
    entry.update((key, value) for key, value in device.items() if key in entry or key == "card")
    if "memory_free" not in device:
        entry["memory_free"] = max(0, entry["memory_total"] - sample_entry(index, device)["memory_used"])
    return entry


def sample_entry(index, device):
    entry = {"uuid": device.get("uuid", "GPU-%d" % index)}
    entry.update(device.get("sample", {}))
    found = {}
    for described in device.get("processes", []):
        for pid in pids_of(described):
            found[pid] = {"pid": pid, "memory": described.get("memory", 0)}
            found[pid].update((key, described[key]) for key in ("sm_utilisation", "sm_span_ms", "draws_only", "ended") if key in described)
    processes = entry["processes"] = list(found.values())
    entry.setdefault("memory_used", sum(process["memory"] for process in processes))
    if "power_watts" in entry:
        entry.setdefault("energy_joules", round(entry["power_watts"] * time.monotonic(), 3))
    return entry


def answer(request, state):
    devices = state.get("devices", [])
    if isinstance(devices, int):
        devices = [{} for _ in range(devices)]
    listed = [(index, device) for index, device in enumerate(devices) if not device.get("absent")]
    if request == "sample" and "sample_fails" in state:
        return {"error": state["sample_fails"]}
    if request == "sample":
        return {"time": int(time.time() * 1000), "devices": [sample_entry(*pair) for pair in listed]}
    if request != "inventory":
        return {"error": "the requests are 'inventory' and 'sample'"}
    said = {"way": state.get("way", "fake"), "driver_version": state.get("driver_version", "580.1"),
            "cuda_version": state.get("cuda_version", "13.0"),
            "devices": [inventory_entry(*pair) for pair in listed]}
    if "problem" in state:
        said["problem"] = state["problem"]
    return said


def main():
    state = {}
    for line in iter(sys.stdin.readline, ""):
        text = read_file(os.environ.get("PONK_FAKE_GPUS", ""))
        try:
            state = json.loads(text) if text else {}
        except ValueError:
            pass
        if state.get("hang"):
            time.sleep(1e6)
        if "exit" in state:
            sys.exit(state["exit"])
        time.sleep(state.get("delay", 0))
        print(json.dumps(answer(line.strip(), state)), flush=True)


if __name__ == "__main__":
    main()
