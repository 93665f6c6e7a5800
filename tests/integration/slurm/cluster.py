# SPDX-License-Identifier: Apache-2.0
"""A real Slurm cluster on this machine: munged, slurmctld and two slurmd on private paths and loopback ports."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

BOUND = 60
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo", "sdiag")


def missing():
    """Why there can be no cluster here; empty: there can."""
    absent = [name for name in PROGRAMS if find(name) is None]
    if absent:
        return f"no {', '.join(absent)}"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def find(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


CONFIGURATION = """\
ClusterName=ponktest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CredType=cred/munge
MpiDefault=none
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=defer_batch=0,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
GresTypes=gpu
ReturnToService=2
KillWait={kill_wait}
MinJobAge={min_job_age}
InactiveLimit=0
SlurmdTimeout=5
SlurmctldTimeout=10
MaxArraySize=1001
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=4 RealMemory=2000 Gres=gpu:stand:2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=4 RealMemory=2000 Gres=gpu:stand:2 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP OverSubscribe=NO PriorityTier=10
PartitionName=low Nodes=n1,n2 MaxTime=30 State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime=0
"""


class Cluster:
    def __init__(self, root, kill_wait=5, min_job_age=300):
        self.root = pathlib.Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.host = socket.gethostname()
        self.processes = {}
        values = {"root": self.root, "host": self.host, "controller_port": free_port(), "port1": free_port(),
                  "port2": free_port(), "kill_wait": kill_wait, "min_job_age": min_job_age}
        self.configuration = self.root / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(**values))
        (self.root / "gres.conf").write_text(
            "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=stand File=/dev/null,/dev/zero\n")
        (self.root / "cgroup.conf").write_text("CgroupPlugin=autodetect\n")
        (self.root / "state").mkdir(exist_ok=True)

    @property
    def variables(self):
        return {"SLURM_CONF": str(self.configuration)}

    def start(self):
        key = self.root / "munge.key"
        key.write_bytes(b"a key that is for these tests alone" * 8)
        key.chmod(0o600)
        self.root.chmod(0o755)
        self._start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.root}/munge.socket",
                    f"--pid-file={self.root}/munged.pid", f"--log-file={self.root}/munged.log",
                    f"--seed-file={self.root}/munged.seed")
        self._wait(lambda: (self.root / "munge.socket").exists(), "munged")
        self.start_controller()
        for node in ("n1", "n2"):
            self.start_node(node)
        self.wait_until_idle()
        return self

    def wait_until_idle(self):
        self._wait(self._is_idle, "the nodes")

    def start_controller(self):
        self._start("slurmctld", "-D", "-f", str(self.configuration))

    def start_node(self, node):
        self._start("slurmd", "-D", "-N", node, "-f", str(self.configuration), name=node)

    def stop_process(self, name, signal="kill"):
        process = self.processes.pop(name)
        getattr(process, signal)()
        process.wait(timeout=BOUND)

    def stop(self):
        for name in reversed(list(self.processes)):
            with contextlib.suppress(Exception):
                self.stop_process(name, "terminate")

    def call(self, *words):
        """A command of Slurm, its output."""
        return subprocess.run([find(words[0]), *words[1:]], env=os.environ | self.variables, text=True, check=True,
                              capture_output=True, timeout=BOUND).stdout

    def _is_idle(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            return self.call("sinfo", "-h", "-N", "-p", "main", "-o", "%T").split() == ["idle", "idle"]
        return False

    def _start(self, program, *words, name=None):
        with open(self.root / f"{name or program}.out", "ab") as out:
            self.processes[name or program] = subprocess.Popen(
                [find(program), *words], env=os.environ | self.variables, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True)

    def _wait(self, done, what):
        end = time.monotonic() + BOUND
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not start: see {self.root}")
            time.sleep(0.05)
