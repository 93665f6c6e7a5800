# SPDX-License-Identifier: Apache-2.0
"""A Python that has imported mlflow already: importing it takes seconds, a copy of this process none.

For each line of JSON on standard input a copy executes a program as its own Python would: {"code" or "script", "words", "environment",
"folder", "stdout", "stderr"}. Answers with lines of JSON: {"code": exit code}.
"""
import contextlib
import json
import os
import runpy
import sys
import tempfile

import mlflow  # noqa: F401
import pandas  # noqa: F401


def become(program):
    for number, name in ((1, "stdout"), (2, "stderr")):
        descriptor = os.open(program[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(program["environment"])
    tempfile.tempdir = None  # another TMPDIR, maybe
    os.chdir(program["folder"])
    if "script" in program:
        sys.argv = [program["script"], *program["words"]]
        sys.path[0] = os.path.dirname(program["script"])
        runpy.run_path(program["script"], run_name="__main__")
        return
    sys.argv, sys.path[0] = ["-c"], ""
    exec(compile(program["code"], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})


def serve():
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            # The copy ends as a Python does: with all that mlflow does at its end.
            become(json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


serve()
