# SPDX-License-Identifier: Apache-2.0
"""Tell ponk how a run is doing.

    import ponk
    ponk.log("loss", 0.3, step=7)
    ponk.log({"loss": 0.3, "accuracy": 0.9})
    ponk.log("curve", [0.9, 0.5, 0.3])
    ponk.log_params({"lr": 0.1})
    ponk.log_image("digits", figure)
    ponk.log_artifact("model.pkl")
    ponk.log_dict({"classes": ["cat", "dog"]}, "classes.json")
    ponk.set_tag("stage", "draft")

Everything here is safe to leave in a script: no call ever raises, and in a run none blocks on a
network or waits for anything but a write to a local file. What goes wrong is said once on standard
error. Outside a run the module of the installed package makes one with the first call that logs;
PONK_TRACKING=off, or `ponk.disable()`, and it does nothing.
"""

from ponk import _images
from ponk import _journal
from ponk._journal import json as _json
from ponk._journal import run

__all__ = ["log", "log_metric", "log_metrics", "log_list", "log_table", "log_param", "log_params", "set_tag",
           "set_tags", "log_artifact", "log_artifacts", "log_text", "log_dict", "log_image", "log_figure", "run",
           "disable"]


@_journal.never_fails
def log(name, value=None, step=None):
    """Records a value, a list of values (a series) or a dictionary of both.

    Without `step` each name counts its own: 0, 1, 2... and goes on behind the largest step that
    this process gave to the name. Values may be numbers, numpy or torch scalars, NaN and
    infinities; anything else is recorded as text. A value without a name is left out.
    """
    items = list(name.items()) if hasattr(name, "items") else [(name, value)]
    if value is not None and hasattr(name, "items") and step is None:
        step = value  # ponk.log({...}, 7)
    records = []
    for key, item in items:
        records.extend(_journal.metric_records(key, item, step))
    _journal.write(records)


@_journal.never_fails
def log_metric(name=None, value=None, step=None, key=None, **_not_needed):
    """The same as `log` of one value, under the name that MLflow gives it. `key` is MLflow's word for
    the name; others of its call, `synchronous` for example, change nothing here."""
    log(_journal.one_name(name, key), value, step)


@_journal.never_fails
def log_metrics(metrics, step=None, **_not_needed):
    """Records several values at once: log_metrics({"loss": 0.3, "accuracy": 0.9}, step=7)."""
    if not hasattr(metrics, "items"):
        raise TypeError("it takes a dictionary of names and values, not %s" % type(metrics).__name__)
    log(metrics, step=step)


@_journal.never_fails
def log_list(name, values, step=None):
    """Records a series; anything that can be gone through."""
    log(name, list(values), step)


@_journal.never_fails
def log_table(name, table):
    """Records each column of a table as a series NAME.COLUMN: a dictionary of lists, a list of
    dictionaries (rows), or a data frame."""
    if not hasattr(table, "items"):
        rows, table = list(table), {}
        for row in rows:
            for key, value in row.items():
                table.setdefault(key, []).append(value)
    records = []
    for key, column in table.items():
        records.extend(_journal.metric_records("%s.%s" % (name, key), list(column), None))
    _journal.write(records)


@_journal.never_fails
def log_param(name=None, value=None, key=None, **_not_needed):
    """Records one thing that the run was started with. `key` is MLflow's word for the name."""
    log_params({_journal.one_name(name, key): value})


@_journal.never_fails
def log_params(params=None, **named):
    """Records what the run was started with, e.g. log_params({"lr": 0.1}) or log_params(lr=0.1).

    A parameter that is logged again with another value has the later one, and a warning says so.
    """
    merged = dict(params or {})
    merged.update(named)
    _journal.write(_journal.word_records("param", merged))


@_journal.never_fails
def set_tag(name=None, value="", key=None, **_not_needed):
    """Puts a word on the run, to find it by later. `key` is MLflow's word for the name."""
    _journal.write(_journal.word_records("tag", {_journal.one_name(name, key): value}))


@_journal.never_fails
def set_tags(tags):
    """Several at once."""
    _journal.write(_journal.word_records("tag", tags))


def disable():
    """Nothing is logged from now on by this process and those that it forks."""
    _journal.disable()


def _note_files(names):
    if not any(names) and not run and _journal.outside() and _journal.outside().wanted():
        _journal.warn("files: they are kept only in runs that 'ponk submit' started")
    _journal.write([{"artifact": name, "kind": "file", "time": _journal.now()} for name in names if name])


@_journal.never_fails
def log_artifact(path, name=None):
    """Keeps a file or a folder with the run, below `outputs/`."""
    _note_files(_images.keep(path, name))


@_journal.never_fails
def log_artifacts(folder, name=None):
    """Keeps what is in a folder, below `outputs/` or below a folder of it."""
    _note_files(_images.keep_contents(folder, name))


@_journal.never_fails
def log_text(text, name):
    """Keeps a text as a file: log_text("fine", "notes/verdict.txt")."""
    data = text if isinstance(text, bytes) else str(text).encode("utf-8")
    _note_files([_images.keep_bytes(name, data)])


@_journal.never_fails
def log_dict(dictionary, name):
    """Keeps a dictionary or list as a file of JSON (which is YAML, too)."""
    text = _json.dumps(dictionary, indent=2, default=str) + "\n"
    _note_files([_images.keep_bytes(name, text.encode("utf-8"))])


@_journal.never_fails
def log_figure(figure, name):
    """Keeps a figure of matplotlib or plotly; the ending of the name says the format."""
    kept = _images.keep_figure(name, figure)
    if kept:
        _journal.write([{"artifact": kept, "kind": "image", "name": str(name), "step": 0,
                         "time": _journal.now()}])


@_journal.never_fails
def log_image(name, image, step=None):
    """Keeps a picture: a file's path, PNG bytes, a matplotlib figure, a PIL image or an array of
    numbers (height x width, or height x width x 1, 3 or 4; 0-255, or 0.0-1.0)."""
    step = _journal.step_of(str(name), step)
    kept = _images.keep_image(str(name), image, step)
    if kept:
        _journal.write([{"artifact": kept, "kind": "image", "name": str(name), "step": step,
                         "time": _journal.now()}])
