# SPDX-License-Identifier: Apache-2.0
"""Starts the supervisor the way a launcher does and reads what it leaves behind."""
import ctypes
import os
import signal
import struct
import time


def spec_text(entries):
    out = [b"ponk-spec 1\n"]
    for key, value in entries + [("end", "")]:
        value = os.fsencode(value)
        out.append(b"%s %d\n%s\n" % (key.encode(), len(value), value))
    return b"".join(out)


class StubRun:
    def __init__(self, command, directory):
        self.command = command
        self.directory = str(directory)
        self.work = os.path.join(self.directory, "work")
        os.makedirs(self.work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write_spec(self, argv, program=None, **values):
        entries = [("run", "run" + str(os.getpid())), ("token", "t"), ("directory", self.work),
                   ("program", program or argv[0])]
        entries += [(key.replace("_", "-"), str(value)) for key, value in values.items()]
        entries += [("arg", word) for word in argv]
        with open(self.path("spec"), "wb") as out:
            out.write(spec_text(entries))

    def start(self, env=None):
        """Returns the pid of the supervisor's outer process and what it reported."""
        env = {b"PATH": b"/usr/bin:/bin"} if env is None else env
        fd = os.memfd_create("environment")
        os.write(fd, b"".join(b"%s=%s\0" % item for item in env.items()))
        os.lseek(fd, 0, os.SEEK_SET)
        back, report = os.pipe()
        os.set_inheritable(fd, True)
        os.set_inheritable(report, True)
        pid = os.fork()
        if pid == 0:
            try:
                os.execv(self.command[0], self.command + [self.directory, str(fd), str(report)])
            finally:
                os._exit(99)
        os.close(fd)
        os.close(report)
        said = b""
        while not said.endswith(b"\n"):
            more = os.read(back, 4096)
            if not more:
                break
            said += more
        os.close(back)
        return pid, said.decode()

    def pids(self):
        out = {}
        with open(self.path("pid")) as lines:
            for line in lines:
                words = line.split()
                if words[0] in ("stub", "guard", "main"):
                    out[words[0]] = int(words[1])
        return out

    def wait(self, pid, limit=20):
        """Waits for the record; the outer process is reaped when it is ours."""
        deadline = time.monotonic() + limit
        while not os.path.exists(self.path("exit")):
            assert time.monotonic() < deadline, "no exit record: %r" % os.listdir(self.directory)
            time.sleep(0.002)
        if pid:
            os.waitpid(pid, 0)
        return self.record()

    def record(self):
        with open(self.path("exit")) as lines:
            text = lines.read()
        assert text.startswith("ponk-exit 1\n") and text.endswith("\nend\n")
        return dict(line.partition(" ")[::2] for line in text.splitlines()[1:-1])

    def log(self):
        with open(self.path("log"), "rb") as log:
            return log.read()

    def run(self, argv, env=None, program=None, **values):
        self.write_spec(argv, program, **values)
        pid, said = self.start(env)
        assert said == "started\n", said
        return self.wait(pid)


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as text:
            return text.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_locked(path):
    import fcntl
    with open(path, "r+b") as lock:
        what = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        answer = fcntl.fcntl(lock.fileno(), 36, what)  # F_OFD_GETLK
        return struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK
