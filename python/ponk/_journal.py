# SPDX-License-Identifier: Apache-2.0
"""Appends records to this process's own journal in the run directory.

No locks: each process has its own file, each record is one write() to a file opened for appending,
and the tables below are only changed by calls that the interpreter makes in one step. So threads
may log at the same time, and a fork at any moment leaves both sides able to log.
"""
import atexit
import binascii
import functools
import itertools
import math
import os
import re
import sys
import time

from ponk._standard import standard

json = standard("json")

LONGEST_LIST = 5000  # numbers in one record; longer lists become several
LONGEST_TEXT = 100000  # a record must stay below 1 MiB
LONGEST_NAME = 250  # as every client of the tracking API takes it

_writers = {}  # pid -> _Writer; after a fork the child finds no entry of its own
_steps = {}  # (pid, name) -> counter
_params = {}  # name -> the value it was logged with
_numbered = set()  # names whose values are numbers
_lost = {}  # (pid, errno) -> the file that tells how many values were lost, and their counter
_warned = set()  # kinds that were said
_MOST_WARNINGS = 10


class Run(object):
    """What the script can know about its run; all None outside of one."""

    @property
    def id(self):
        return os.environ.get("PONK_RUN_ID")

    @property
    def name(self):
        """As `--name` gave it; None when it has none."""
        return os.environ.get("PONK_RUN_NAME") or None

    @property
    def project(self):
        """The id of its project."""
        return os.environ.get("PONK_PROJECT_ID")

    @property
    def directory(self):
        return os.environ.get("PONK_RUN_DIRECTORY")

    @property
    def outputs(self):
        return os.environ.get("PONK_OUTPUTS_DIRECTORY")

    def __bool__(self):
        return bool(self.id and self.directory)

    def __repr__(self):
        return "<ponk run %s>" % self.id if self else "<no ponk run>"


run = Run()


def warn(text):
    """Says each kind of problem once, and not very many: training goes on."""
    kind = tuple(text.split(": ", 2)[:2])
    if kind in _warned or len(_warned) == _MOST_WARNINGS:
        return
    _warned.add(kind)
    try:
        sys.stderr.write("ponk: warning: %s (shown once)\n" % text)
        sys.stderr.flush()
    except Exception:
        pass


def never_fails(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as problem:
            warn("%s: %s: %s" % (function.__name__, type(problem).__name__, problem))
            return None
    return wrapped


def one_name(name, key):
    """Of a call that takes its name as either."""
    if name is None and key is None:
        raise TypeError("the name is missing")
    return key if name is None else name


def now():
    return int(time.time() * 1000)


def next_step(name):
    return next(_steps.setdefault((os.getpid(), str(name)), itertools.count()))


def step_given(name, step):
    """Lets steps that nobody gives go on behind this one."""
    key = (os.getpid(), name)
    counter = _steps.get(key)
    # Its text, "count(5)", tells what comes next without taking it.
    if step >= (int(repr(counter)[6:-1]) if counter is not None else 0):
        _steps[key] = itertools.count(step + 1)


def step_of(name, step):
    """The step of one value; None: the next one."""
    if step is None:
        return next_step(name)
    step = whole_step(name, step)
    step_given(name, step)
    return step


def whole_step(name, step):
    whole = int(step)
    if not -2 ** 63 <= whole < 2 ** 63:
        raise ValueError("the step of '%s' has more than 64 bits" % name[:100])
    if isinstance(step, float) and whole != step:
        warn("log: the step %r of '%s' is not a whole number: %d is used" % (step, name[:100], whole))
    return whole


def as_number(value):
    """A float or int, or None when the value is not a number."""
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return value
    if isinstance(value, (str, bytes)) or value is None:
        return None
    try:
        item = value.item()  # numpy and torch scalars, also those on a device
    except Exception:
        item = value
    if isinstance(item, (bool, int)):
        return int(item)
    try:
        return float(item)
    except Exception:
        return None


def as_json(number):
    if isinstance(number, float) and not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if isinstance(number, int) and not -2 ** 63 <= number < 2 ** 63:
        if abs(number) < 10 ** 308:
            return float(number)
        return "Infinity" if number > 0 else "-Infinity"
    return number


def as_list(value):
    """The numbers of a list, tuple or one-dimensional array; None when it is none."""
    if isinstance(value, (str, bytes)) or hasattr(value, "items"):
        return None
    if getattr(value, "ndim", None) == 0:
        return None
    if hasattr(value, "tolist"):
        try:
            value = value.tolist()
        except Exception:
            return None
    if not isinstance(value, (list, tuple, range)) and not hasattr(value, "__iter__"):
        return None
    numbers = [as_number(item) for item in value]
    return None if None in numbers else numbers


def metric_records(name, value, step):
    """The records for one name."""
    if name is None or not str(name):
        warn("log: a value without a name is ignored")
        return []
    name = short_name(name)
    if value is None:
        warn("log: the value of '%s' is None and is ignored" % name[:100])
        return []
    number = as_number(value)
    if number is None:
        numbers = as_list(value)
        if numbers is not None:
            return series_records(name, numbers, step)
        if name in _numbered:
            warn("log: '%s' has numbers, so the text '%s' is ignored" % (name[:100], str(value)[:100]))
            return []
        if isinstance(value, dict) or hasattr(value, "shape") or \
                isinstance(value, (list, tuple)) and any(as_number(part) is not None for part in value):
            warn("log: '%s' is recorded as text: its value is neither a number nor a list of numbers: %s"
                 % (name[:100], str(value)[:100]))
        step = step_of(name, step)
        return [{"metric": name, "text": str(value)[:LONGEST_TEXT], "step": step, "time": now()}]
    step = step_of(name, step)
    _numbered.add(name)
    return [{"metric": name, "value": as_json(number), "step": step, "time": now()}]


def short_name(name):
    name = str(name)
    if len(name) > LONGEST_NAME:
        warn("log: names are truncated to %d characters; names that are then equal count as one: '%s...'" % (LONGEST_NAME, name[:100]))
    return name[:LONGEST_TEXT]  # the daemon cuts it, when it has hidden secrets in it


def word_records(kind, words):
    """The records for parameters or tags."""
    records = []
    for name, value in words.items():
        name, value = short_name(name), str(value)
        if not name:
            warn("log: a %s without a name is ignored" % kind)
            continue
        if len(value) > LONGEST_TEXT:
            warn("log: only the first %d characters of %s '%s' are kept" % (LONGEST_TEXT, kind, name[:100]))
            value = value[:LONGEST_TEXT]
        if kind == "param" and run and _params.setdefault(name, value) != value:
            warn("log: parameter '%s' was '%s' and is now '%s'" % (name[:100], _params[name][:100], value[:100]))
            _params[name] = value
        records.append({kind: name, "value": value, "time": now()})
    return records


def series_records(name, numbers, step):
    records = []
    _numbered.add(name)
    for start in range(0, len(numbers), LONGEST_LIST):
        part = numbers[start:start + LONGEST_LIST]
        if step is None:
            first = next_step(name)
            for _ in part[1:]:
                next_step(name)
        else:
            first = whole_step(name, step) + start
            step_given(name, first + len(part) - 1)
        records.append({"metric": name, "values": [as_json(number) for number in part],
                        "step": first, "time": now()})
    return records


_HALVES = re.compile(u"[\ud800-\udc7f\udd00-\udfff]")


def _whole(value):
    """Without halves of characters, which no JSON can tell; U+DC80 to U+DCFF are bytes of file names."""
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(each) for each in value]
    return _HALVES.sub(u"\ufffd", value) if isinstance(value, str) else value


def frame(record):
    payload = json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii")
    if b"\\ud" in payload:
        payload = json.dumps(_whole(record), separators=(",", ":"), allow_nan=False).encode("ascii")
    return b"\x1e%08x %s\n" % (binascii.crc32(payload) & 0xffffffff, payload)


class _Writer(object):
    def __init__(self):
        self.fd = None
        folder = os.path.join(run.directory, "journal")
        name = "%d-%s.journal" % (os.getpid(), binascii.hexlify(os.urandom(6)).decode("ascii"))
        self.path = os.path.join(folder, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            self.fd = os.open(self.path, flags, 0o600)
        except OSError:
            if os.path.isdir(folder):
                raise
            os.makedirs(folder)
            self.fd = os.open(self.path, flags, 0o600)
        self.file = self.identity()
        problem = self.put(frame({"journal": 1, "run": run.id, "pid": os.getpid(), "time": now()}))[1]
        if problem is not None:
            os.close(self.fd)
            os.unlink(self.path)
            raise problem

    def identity(self):
        try:
            info = os.fstat(self.fd)
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def is_open(self):
        """A script may close descriptors that are not its own, and the number may be another
        file's by now."""
        return self.identity() == self.file

    def put(self, data):
        """How many bytes were written, and what kept the rest from it; None: nothing did."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self.fd, data[done:])
        except OSError as problem:
            return done, problem
        return done, None


def _count_of(records):
    return sum(len(record.get("values", "1")) for record in records)


def _show_lost(path, total):
    """The length of a file that has no bytes: a full disk has room for that."""
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        fd = os.open(path, flags, 0o600)
        try:
            os.ftruncate(fd, total)
        finally:
            os.close(fd)
    except Exception:
        pass


def _show_all_lost():
    for (pid, _), (path, counter) in list(_lost.items()):
        if pid == os.getpid():
            _show_lost(path, int(repr(counter)[6:-1]) - 1)  # of "count(5)", see step_given


def _note_lost(count, problem):
    """The daemon tells the run's reader how many values could not be written, and why."""
    key = os.getpid(), problem.errno or 0
    if not any(pid == key[0] for pid, _ in _lost):
        atexit.register(_show_all_lost)
    if key not in _lost:
        name = "lost-%d-%d-%s.journal" % (key[1], key[0], binascii.hexlify(os.urandom(6)).decode("ascii"))
        _lost.setdefault(key, (os.path.join(run.directory, "journal", name), itertools.count(1)))
    path, counter = _lost[key]
    total = 0
    for _ in range(count):
        total = next(counter)
    if total:
        _show_lost(path, total)


_disabled = []  # something, once `ponk.disable()` was called


def disable():
    _disabled.append(True)


def outside():
    """What logs outside of runs: only the installed package has it."""
    try:
        from ponk import _outside
    except ImportError:
        return None
    return _outside


def write(records):
    """Appends records; outside a run the installed package makes one, and the module of runs is silent."""
    if not records or _disabled:
        return
    if not run:
        there = outside()
        if there:
            there.write(records, warn)
        return
    frames = [frame(record) for record in records]
    try:
        writer = _own_writer()
    except OSError as problem:
        _note_lost(_count_of(records), problem)
        raise
    done, problem = writer.put(b"".join(frames))
    if problem is None:
        return
    whole = 0  # records that got through
    for data in frames:
        done -= len(data)
        if done < 0:
            break
        whole += 1
    _note_lost(_count_of(records[whole:]), problem)
    raise problem


def _own_writer():
    """This process's, as long as it is open."""
    pid = os.getpid()
    writer = _writers.get(pid)
    if writer is not None and not writer.is_open():
        _writers.pop(pid, None)
        writer = None
    if writer is None:
        writer = _Writer()
        kept = _writers.setdefault(pid, writer)
        if kept is not writer:  # another thread was first
            os.close(writer.fd)
            writer = kept
    return writer
