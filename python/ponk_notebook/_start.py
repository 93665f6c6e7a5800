# SPDX-License-Identifier: Apache-2.0
"""Where the run of a notebook begins and ends."""
import os
import signal
import sys

from ponk_notebook import _book
from ponk_notebook import _kernel
from ponk_notebook import _run


class _Here(object):
    """The cells in this process, with the calls of a kernel."""

    def __init__(self, book, arguments):
        sys.argv = arguments
        self._shell = _run.Shell(book)
        self._shell.start()

    def run_cell(self, source, number):
        problem = self._shell.run_cell(source, number)
        if isinstance(problem, SystemExit):
            code = problem.code
            raise _kernel.Ended(code if isinstance(code, int) else 0 if code is None else 1,
                                "" if code is None or isinstance(code, int) else str(code))
        if isinstance(problem, KeyboardInterrupt):
            raise problem
        return problem and type(problem).__name__

    def stop(self):
        pass


def _executor(book, arguments):
    try:
        return _kernel.Kernel(book, arguments)
    except _kernel.Unavailable as why:
        if str(why):
            print("ponk: the kernel of this Python does not start, the cells are executed without it: %s" % why,
                  file=sys.stderr)
        return _Here(book, arguments)


def _link_outputs(folder):
    """Where a notebook in a folder of the project writes 'outputs/x', the run has to find it."""
    kept = os.environ.get("PONK_OUTPUTS_DIRECTORY", os.path.abspath("outputs"))
    os.makedirs(kept, exist_ok=True)
    place = os.path.join(folder, "outputs")
    if os.path.lexists(place):
        return kept, None
    try:
        os.symlink(kept, place)
    except OSError:
        return kept, None
    return kept, place


def _header(number, count, source):
    first = next(line.strip() for line in source.split("\n") if line.strip())
    print("In [%d/%d] %s" % (number, count, first if len(first) <= 70 else first[:69] + "\u2026"),
          file=sys.__stdout__, flush=True)


def _may_fail(cell):
    return "raises-exception" in (cell["metadata"].get("tags") or [])


def _run_cells(book, executor):
    """The run's code."""
    cells = book.code_cells()
    for number, cell in enumerate(cells, 1):
        _header(number, len(cells), cell["source"])
        book.begin(cell, number)
        try:
            error = executor.run_cell(cell["source"], number)
        except _kernel.Ended as end:
            if str(end):
                print(str(end), file=sys.__stderr__, flush=True)
            if number < len(cells):
                print("ponk: the notebook ended at cell %d of %d" % (number, len(cells)), file=sys.__stderr__,
                      flush=True)
            return end.code
        finally:
            book.end()
        if error and not _may_fail(cell):
            print("ponk: cell %d of %d failed (%s); the executed copy is %s" % (
                number, len(cells), error, os.path.join("outputs", os.path.basename(book.place))),
                file=sys.__stderr__, flush=True)
            return 1
    return 0


def main(words):
    # Where the locale says ASCII, a cell that prints "é" would fail: it cannot be encoded.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    path = os.path.abspath(words[0])
    try:
        content = _book.read(words[0])
    except (_book.Unusable, OSError) as problem:
        sys.exit("ponk: %s" % problem)
    folder = os.path.dirname(path)
    kept, link = _link_outputs(folder)
    os.chdir(folder)
    os.environ["PWD"] = folder
    # As for a script: its own folder comes first, and not the one that this module was found from.
    sys.path[0] = folder
    book = _book.Book(content, os.path.join(kept, os.path.basename(path)))
    executor = _executor(book, [words[0]] + words[1:])
    try:
        code = _run_cells(book, executor)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = 128 + signal.SIGINT
    finally:
        executor.stop()
        if link:
            os.unlink(link)
    sys.stdout.flush()
    sys.exit(code)
