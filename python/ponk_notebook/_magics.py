# SPDX-License-Identifier: Apache-2.0
"""The magics that notebooks use most, for interpreters without IPython."""
import os
import shutil
import subprocess
import sys
import time

FIGURES = "module://ponk_notebook._figures"

# They are about an editor, or about an extension that is not here: the notebook computes the same without them.
WITHOUT_EFFECT = {"autoreload", "autosave", "config", "load_ext", "reload_ext", "unload_ext", "azureml", "colors",
                  "xmode", "precision", "tensorboard", "logstart", "logstop", "pdb", "reset_selective", "alias"}
LINE, CELL = {}, {}


class UnknownMagic(Exception):
    pass


def _line(*names):
    def keep(function):
        LINE.update((name, function) for name in names)
        return function
    return keep


def _cell(*names):
    def keep(function):
        CELL.update((name, function) for name in names)
        return function
    return keep


def without_effect(shell, name, words):
    shell.notice("%%%s has no effect in a run" % (name + (" " + words if words else "")))


def _timed(shell, call):
    wall, used = time.time(), time.process_time()
    try:
        return call()
    finally:
        print("CPU times: %.3g s" % (time.process_time() - used))
        print("Wall time: %.3g s" % (time.time() - wall))


@_line("time")
def _time(shell, words, namespace):
    return _timed(shell, lambda: shell.run_piece(words, namespace))


@_cell("time")
def _time_cell(shell, words, body, skipped):
    if words.strip():
        return _timed(shell, lambda: shell.run_body(words + "\n" + body, skipped - 1))
    return _timed(shell, lambda: shell.run_body(body, skipped))


def _timeit(statement, setup, namespace):
    import timeit
    words, options = statement.split(" "), {"-n": 0, "-r": 5}
    while words and words[0][:2] in options:
        word = words.pop(0)
        options[word[:2]] = int(word[2:] or words.pop(0))
    timer = timeit.Timer(" ".join(words) or "pass", setup or "pass", globals=namespace)
    loops, repeats = options["-n"], max(1, options["-r"])
    if not loops:
        loops = 1
        while timer.timeit(loops) < 0.2:
            loops *= 10
    best = min(timer.repeat(repeats, loops)) / loops
    print("%d loops, best of %d: %.3g s per loop" % (loops, repeats, best))


@_line("timeit")
def _timeit_line(shell, words, namespace):
    _timeit(words, "", namespace)


@_cell("timeit")
def _timeit_cell(shell, words, body, skipped):
    options = [word for word in words.split(" ") if word.startswith("-")]
    rest = words[len(" ".join(options)):].strip()
    _timeit(" ".join(options + [body]), rest, shell.user_ns)


@_line("matplotlib")
def _matplotlib(shell, words, namespace):
    os.environ["MPLBACKEND"] = FIGURES
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].use(FIGURES)


@_line("pylab")
def _pylab(shell, words, namespace):
    _matplotlib(shell, words, namespace)
    shell.run_piece("import numpy, matplotlib, matplotlib.pylab as pylab, matplotlib.pyplot as plt, numpy as np\n"
                    "from matplotlib.pylab import *\nfrom numpy import *", namespace)


@_cell("writefile", "file")
def _writefile(shell, words, body, skipped):
    append = words.startswith("-a ")
    name = os.path.expanduser((words[3:] if append else words).strip().strip("\"'"))
    there = os.path.exists(name)
    with open(name, "a" if append else "w", encoding="utf-8") as file:
        file.write(body + ("" if body.endswith("\n") else "\n"))
    print("%s %s" % ("Appending to" if append else "Overwriting" if there else "Writing", name))


@_cell("bash", "sh", "script")
def _bash(shell, words, body, skipped, name="bash"):
    program = words.split() if name == "script" else [shutil.which(name) or "sh"]
    code = shell.run_process(program, body)
    if code:
        raise subprocess.CalledProcessError(code, program)


@_cell("capture")
def _capture(shell, words, body, skipped):
    import contextlib
    import io
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept), contextlib.redirect_stderr(kept):
        shell.run_body(body, skipped)
    name = [word for word in words.split() if not word.startswith("-")]
    if name:
        kept.stdout = kept.getvalue()
        shell.user_ns[name[0]] = kept


def _shown_as(kind):
    def show(shell, words, body, skipped):
        shell.show({kind: body, "text/plain": "<%s>" % kind})
    return show


for _name, _kind in [("html", "text/html"), ("HTML", "text/html"), ("markdown", "text/markdown"),
                     ("latex", "text/latex"), ("svg", "image/svg+xml"), ("javascript", "application/javascript"),
                     ("js", "application/javascript")]:
    CELL[_name] = _shown_as(_kind)


@_line("cd")
def _cd(shell, words, namespace):
    os.chdir(os.path.expanduser(words.strip().strip("\"'") or "~"))
    print(os.getcwd())


@_line("pwd")
def _pwd(shell, words, namespace):
    return os.getcwd()


@_line("env", "set_env")
def _env(shell, words, namespace):
    if not words:
        return dict(os.environ)
    name, equals, value = words.partition("=")
    if not equals:
        name, equals, value = words.partition(" ")
    if not equals:
        return os.environ.get(name)
    os.environ[name.strip()] = value.strip()
    print("env: %s=%s" % (name.strip(), value.strip()))


@_line("pip")
def _pip(shell, words, namespace):
    shell.system_line('"%s" -m pip %s' % (sys.executable, words))


@_line("conda", "ls", "mkdir", "rm", "cp", "mv", "cat")
def _program(shell, words, namespace, name):
    shell.system_line(name + " " + words)


@_line("run")
def _run(shell, words, namespace):
    import runpy
    import shlex
    words = [word for word in shlex.split(words) if word not in ("-i", "-t")]
    before, sys.argv = sys.argv, words
    try:
        made = runpy.run_path(words[0], run_name="__main__")
    finally:
        sys.argv = before
    namespace.update((name, value) for name, value in made.items() if not name.startswith("__"))


@_line("reset")
def _reset(shell, words, namespace):
    for name in [name for name in namespace if not name.startswith("_")]:
        del namespace[name]
    shell.fill(namespace)


@_line("who", "whos", "who_ls")
def _who(shell, words, namespace):
    print("   ".join(sorted(name for name in namespace if not name.startswith("_") and name not in shell.own_names)))


@_line("pinfo", "pdoc")
def _pinfo(shell, words, namespace):
    import pydoc
    print(pydoc.render_doc(eval(words, namespace), renderer=pydoc.plaintext))
