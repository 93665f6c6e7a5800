# SPDX-License-Identifier: Apache-2.0
"""Executes cells in this process, for interpreters without a kernel."""
import __future__
import ast
import builtins
import codecs
import inspect
import io
import linecache
import os
import re
import shutil
import subprocess
import sys
import traceback
import types

from ponk_notebook import _display
from ponk_notebook import _magics
from ponk_notebook import _translate

current = None  # the shell of this process

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_NAMED = re.compile(r"\{\{|\}\}|\{([^{}]+)\}|\$\$|\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_PLACE = re.compile(r'\bFile "(Cell In\[\d+\])", line (\d+)(?:, in <module>)?')


class Stream(io.TextIOBase):
    """stdout or stderr of cells: to the log at once, and into the notebook."""

    def __init__(self, name, real, book):
        self._name, self._real, self._book = name, real, book
        self.buffer = getattr(real, "buffer", None)

    encoding = property(lambda self: self._real.encoding)
    errors = property(lambda self: self._real.errors)

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self._real.fileno()

    def flush(self):
        self._real.flush()

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        self._real.write(text)
        if "\n" in text or "\r" in text:
            self._real.flush()
        self._book.stream(self._name, text)
        return len(text)


def substituted(command, namespace):
    """{expression} and $name of a command; where one cannot be found, the command stays as it is."""
    def value(found):
        word = found.group(0)
        if word in ("{{", "}}", "$$"):
            return word[0]
        if found.group(1) is not None:
            return str(eval(found.group(1), namespace))
        name = found.group(2)
        if name.split(".")[0] not in namespace:
            return word  # a variable of the shell
        return str(eval(name, namespace))
    try:
        return _NAMED.sub(value, command)
    except Exception:
        return command


class Lines(list):
    """What `x = !command` gives: a list of lines that knows the text, too."""
    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)
    l = list = property(lambda self: self)  # noqa: E741


def _caller():
    """The frame of the cell, or of a function of it, that calls."""
    frame = sys._getframe(1)
    while frame and not frame.f_code.co_filename.startswith("Cell In["):
        frame = frame.f_back
    return frame


def _caller_names():
    frame = _caller()
    return dict(frame.f_globals, **frame.f_locals) if frame else current.user_ns


def _ends_quietly(source):
    """A semicolon at the end keeps the value from being shown."""
    lines = [line for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and lines[-1].split("#")[0].rstrip().endswith(";")


class _Events(object):
    """Libraries register what is to happen after each cell; only drawing does, and that happens anyway."""

    def register(self, *_):
        pass

    unregister = trigger = register


class Shell(object):
    """The object that get_ipython() returns, and the one that executes cells."""
    own_names = ("In", "Out", "get_ipython", "display", "exit", "quit")

    def __init__(self, book):
        self._book = book
        self._flags = 0
        self._loop = None
        self._noticed = set()
        self._out, self._err = sys.stdout, sys.stderr
        self.events = _Events()
        self.execution_count = 0
        self.cell_source = ""
        self.module = types.ModuleType("__main__")
        self.user_ns = self.module.__dict__
        self.fill(self.user_ns)

    def fill(self, namespace):
        namespace.update({"__builtins__": builtins, "In": [""], "Out": {}, "_": "", "get_ipython": lambda: self,
                          "display": self.display})

    def start(self):
        """From here on this process is the notebook's."""
        global current
        current = self
        sys.modules["__main__"] = self.module
        builtins.get_ipython = lambda: self
        builtins.display = self.display
        os.environ.setdefault("MPLBACKEND", _magics.FIGURES)
        _display.stand_in_for_ipython(self)
        sys.stdout = Stream("stdout", self._out, self._book)
        sys.stderr = Stream("stderr", self._err, self._book)

    # What cells call.

    def run_line_magic(self, name, line, _stack_depth=1):
        name, namespace = name.lstrip("%"), _caller_names()
        words = substituted(line, namespace) if name not in ("time", "timeit") else line
        known = _magics.LINE.get(name)
        if known is not None:
            if known is _magics._program:
                return known(self, words, self.user_ns, name)
            return known(self, words, self.user_ns)
        if name not in _magics.WITHOUT_EFFECT:
            frame = _caller()
            raise self._unknown("%" + name, frame.f_lineno if frame else 1)
        _magics.without_effect(self, name, words)

    magic = run_magic = lambda self, words: self.run_line_magic(*_translate.magic_words(words))

    def run_cell_magic(self, name, line, cell, skipped=1):
        known = _magics.CELL.get(name)
        if known is None:
            if name not in _magics.WITHOUT_EFFECT:
                raise self._unknown("%%" + name, skipped)
            _magics.without_effect(self, "%" + name, line)
            return self.run_body(cell, skipped)
        if known is _magics._bash:
            return known(self, line, cell, skipped, name)
        return known(self, line, cell, skipped)

    def _unknown(self, name, line):
        return _magics.UnknownMagic(
            "there is no magic '%s' here (cell %d, line %d: %s). Remove the line, or install ipykernel in the run's "
            "environment if the magic is one of IPython." % (name, self.execution_count, line,
                                                  self.cell_source.split("\n")[line - 1].strip()))

    def system(self, command):
        self.system_line(substituted(command, _caller_names()))

    system_piped = system_raw = system

    def system_line(self, command):
        self.user_ns["_exit_code"] = self.run_process([shutil.which("bash") or "sh", "-c", command])

    def getoutput(self, command, split=True):
        done = subprocess.run([shutil.which("bash") or "sh", "-c", substituted(command, _caller_names())],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.user_ns["_exit_code"] = done.returncode
        text = done.stdout.decode("utf-8", "replace")
        return Lines(text.splitlines()) if split else text

    def run_process(self, words, text=None):
        """Its output goes to the log as it comes, and into the notebook; returns its code."""
        sys.stdout.flush()
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 stdin=None if text is None else subprocess.PIPE)
        if text is not None:
            import threading
            threading.Thread(target=_feed, args=(child.stdin, text.encode("utf-8")), daemon=True).start()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            data = os.read(child.stdout.fileno(), 65536)
            sys.stdout.write(decoder.decode(data, not data))
            if not data:
                break
        child.stdout.close()
        return child.wait()

    def display(self, *values, **options):
        for value in values:
            raw = options.get("raw") and isinstance(value, dict)
            self.show(value if raw else _display.bundle(value))

    def show(self, data):
        sys.stdout.flush()
        print(data.get("text/plain") or "<%s>" % ", ".join(sorted(data)), file=self._out, flush=True)
        self._book.add({"output_type": "display_data", "data": data, "metadata": {}})

    def clear_output(self, wait=False):
        self._book.clear()

    def notice(self, text):
        if text not in self._noticed:
            self._noticed.add(text)
            print("ponk: " + text, file=sys.stderr)

    def enable_matplotlib(self, gui=None):
        self.run_line_magic("matplotlib", gui or "inline")

    def enable_gui(self, gui=None):
        pass

    def set_next_input(self, *_, **__):
        pass

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        name = magic_name or function.__name__
        if magic_kind in ("line", "line_cell"):
            _magics.LINE[name] = lambda shell, words, namespace: function(words)
        if magic_kind in ("cell", "line_cell"):
            _magics.CELL[name] = lambda shell, words, body, skipped: function(words, body)

    # Execution.

    def run_body(self, source, skipped=0):
        """A cell's Python, and shows the value of its last expression."""
        value = self._execute(source, skipped)
        if value is not None and not _ends_quietly(source):
            self._result(value)

    def run_piece(self, source, namespace):
        frame = _caller()
        return self._execute(source, frame.f_lineno - 1 if frame else 0)

    def _execute(self, source, skipped):
        text = "\n" * skipped + _translate.to_python(source)
        name = "Cell In[%d]" % self.execution_count
        flags = self._flags | _translate.ALLOW_AWAIT
        tree = compile(text, name, "exec", flags | ast.PyCF_ONLY_AST, True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = compile(tree, name, "exec", flags, True)
        self._flags |= body.co_flags & _FUTURE
        self._evaluate(body)
        if last is None:
            return None
        return self._evaluate(compile(ast.Expression(last.value), name, "eval", flags, True))

    def _evaluate(self, code):
        made = eval(code, self.user_ns)
        if not code.co_flags & inspect.CO_COROUTINE:
            return made
        import asyncio
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(made)

    def _result(self, value):
        namespace, data = self.user_ns, _display.bundle(value)
        namespace["_"] = namespace["Out"][self.execution_count] = value
        sys.stdout.flush()
        print(data["text/plain"], file=self._out, flush=True)
        self._book.add({"output_type": "execute_result", "data": data, "metadata": {},
                        "execution_count": self.execution_count})

    def run_cell(self, source, number):
        """None, or the exception that the cell ended with."""
        self.execution_count, self.cell_source = number, source
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache["Cell In[%d]" % number] = (len(source), None, lines, "Cell In[%d]" % number)
        self.user_ns["In"].append(source)
        try:
            magic = _translate.cell_magic(source)
            if magic:
                self.run_cell_magic(magic[0], magic[1], magic[2], magic[3])
            else:
                self.run_body(source)
            self._show_figures()
            return None
        except SystemExit as end:
            return end
        except BaseException as problem:
            self._show_error(problem)
            return problem
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def _show_figures(self):
        if "matplotlib.pyplot" in sys.modules and "ponk_notebook._figures" in sys.modules:
            sys.modules["ponk_notebook._figures"].show()

    def _show_error(self, problem):
        text = error_text(problem)
        sys.stdout.flush()
        print(text, end="", file=self._err, flush=True)
        self._book.add({"output_type": "error", "ename": type(problem).__name__, "evalue": str(problem),
                        "traceback": text.rstrip("\n").split("\n")})


def error_text(problem):
    """The traceback from the cell on: what executes it is of no interest."""
    shown = problem.__traceback__
    while shown and not shown.tb_frame.f_code.co_filename.startswith("Cell In["):
        shown = shown.tb_next
    lines = traceback.format_exception(type(problem), problem.with_traceback(shown), shown)
    return _PLACE.sub(r"\1, line \2", "".join(lines))


def _feed(file, data):
    try:
        file.write(data)
        file.close()
    except OSError:
        pass  # it did not want all of it

