# SPDX-License-Identifier: Apache-2.0
"""What the driver's library answers, as a stream of JSON lines: nvml_stream.py OUTPUT [SECONDS_BETWEEN]

Ends with its standard input, or with SIGTERM. Each line has the wall clock and CLOCK_BOOTTIME, then the raw answers for the first card: utilisation, the
driver's own buffer of utilisation samples, samples by process (asked twice: since the last line, and all that is kept), GPM's counters
since the last line, processes, memory and energy. Facts for whoever changes how work is attributed (docs/design/gpu.md)."""
import ctypes as c
import json
import os
import select
import signal
import sys
import time


class Rates(c.Structure):
    _fields_ = [("gpu", c.c_uint), ("memory", c.c_uint)]


class Value(c.Union):
    _fields_ = [("real", c.c_double), ("word", c.c_uint), ("long", c.c_ulonglong)]


class Timed(c.Structure):
    _fields_ = [("time", c.c_ulonglong), ("value", Value)]


class ByProcess(c.Structure):
    _fields_ = [("pid", c.c_uint), ("time", c.c_ulonglong), ("sm", c.c_uint), ("memory", c.c_uint), ("encoder", c.c_uint), ("decoder", c.c_uint)]


class Process(c.Structure):
    _fields_ = [("pid", c.c_uint), ("memory", c.c_ulonglong), ("gpu_instance", c.c_uint), ("compute_instance", c.c_uint)]


class Memory(c.Structure):
    _fields_ = [("total", c.c_ulonglong), ("free", c.c_ulonglong), ("used", c.c_ulonglong)]


class Metric(c.Structure):
    _fields_ = [("id", c.c_uint), ("status", c.c_int), ("value", c.c_double), ("names", c.c_void_p * 3)]


class Query(c.Structure):
    _fields_ = [("version", c.c_uint), ("count", c.c_uint), ("earlier", c.c_void_p), ("later", c.c_void_p), ("metrics", Metric * 512)]


class Card:
    def __init__(self):
        self.nvml = c.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        self.card = c.c_void_p()
        assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, c.byref(self.card)) == 0
        self.samples_seen = self.processes_seen = 0
        self.gpm = [c.c_void_p(), c.c_void_p()]
        self.gpm_works = all(self.call("nvmlGpmSampleAlloc", c.byref(one)) == 0 for one in self.gpm) and \
            self.call("nvmlGpmSampleGet", self.card, self.gpm[0]) == 0

    def call(self, name, *words):
        try:
            return getattr(self.nvml, name)(*words)
        except AttributeError:
            return "absent"

    def facts(self):
        mode = c.c_uint()
        answer = {"accounting": [self.call("nvmlDeviceGetAccountingMode", self.card, c.byref(mode)), mode.value], "gpm": self.gpm_works}
        answer["persistence"] = [self.call("nvmlDeviceGetPersistenceMode", self.card, c.byref(mode)), mode.value]
        return answer

    def by_process(self, since):
        count = c.c_uint(0)
        status = self.call("nvmlDeviceGetProcessUtilization", self.card, None, c.byref(count), c.c_ulonglong(since))
        if status != 7 or count.value == 0:
            return status, []
        count = c.c_uint(count.value + 16)
        room = (ByProcess * count.value)()
        status = self.call("nvmlDeviceGetProcessUtilization", self.card, room, c.byref(count), c.c_ulonglong(since))
        return status, [[one.pid, one.time, one.sm, one.memory] for one in room[:count.value]] if status == 0 else []

    def utilisation_samples(self):
        kind, count = c.c_uint(), c.c_uint(0)
        words = [self.card, 1, c.c_ulonglong(self.samples_seen), c.byref(kind), c.byref(count)]
        status = self.call("nvmlDeviceGetSamples", *words, None)
        if status != 0 or count.value == 0:
            return status, []
        room = (Timed * count.value)()
        status = self.call("nvmlDeviceGetSamples", *words, room)
        found = [[one.time, one.value.real if kind.value == 0 else one.value.word] for one in room[:count.value]] if status == 0 else []
        self.samples_seen = max([self.samples_seen, *(one[0] for one in found)])
        return status, found

    def counters(self):
        """SM and tensor activity in percent since the last line."""
        if not self.gpm_works or self.call("nvmlGpmSampleGet", self.card, self.gpm[1]) != 0:
            return None
        query = Query(version=1, count=2, earlier=self.gpm[0], later=self.gpm[1])
        query.metrics[0].id, query.metrics[1].id = 2, 5
        status = self.call("nvmlGpmMetricsGet", c.byref(query))
        self.gpm.reverse()
        return [status, *((one.status, one.value) for one in query.metrics[:2])]

    def processes(self, call):
        count, room = c.c_uint(64), (Process * 64)()
        status = self.call(call, self.card, c.byref(count), room)
        return [status, *([one.pid, one.memory if one.memory < 1 << 60 else None] for one in room[:count.value if status == 0 else 0])]

    def line(self):
        rates, memory, energy = Rates(), Memory(), c.c_ulonglong()
        answer = {"wall_us": time.time_ns() // 1000, "boot_us": time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000}
        answer["counters"] = self.counters()
        answer["rates"] = [self.call("nvmlDeviceGetUtilizationRates", self.card, c.byref(rates)), rates.gpu]
        answer["samples"] = self.utilisation_samples()
        answer["by_process"] = self.by_process(self.processes_seen)
        answer["by_process_kept"] = self.by_process(0)
        self.processes_seen = max([self.processes_seen, *(one[1] for one in answer["by_process"][1] if one[1] <= answer["wall_us"] + 2_000_000)])
        answer["compute"] = self.processes("nvmlDeviceGetComputeRunningProcesses_v3")
        answer["mps"] = self.processes("nvmlDeviceGetMPSComputeRunningProcesses_v3")
        self.call("nvmlDeviceGetMemoryInfo", self.card, c.byref(memory))
        self.call("nvmlDeviceGetTotalEnergyConsumption", self.card, c.byref(energy))
        answer["memory_used"], answer["energy_mj"] = memory.used, energy.value
        answer["took_us"] = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000 - answer["boot_us"]
        return answer


def main():
    between = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    card = Card()
    with open(sys.argv[1], "w") as out:
        print(json.dumps(card.facts()), file=out, flush=True)
        while True:
            print(json.dumps(card.line(), separators=(",", ":")), file=out, flush=True)
            if select.select([0], [], [], between)[0] and not os.read(0, 1):
                return


if __name__ == "__main__":
    main()
