# SPDX-License-Identifier: Apache-2.0
"""Tell ponk how a run is doing.

    import ponk
    ponk.log("loss", 0.3, step=7)
    ponk.log({"loss": 0.3, "accuracy": 0.9})
    ponk.log("curve", [0.9, 0.5, 0.3])
    ponk.log_params({"lr": 0.1})
    ponk.log_image("digits", figure)
    ponk.log_artifact("model.pkl")
    ponk.set_tag("stage", "draft")

Everything here is safe to leave in a script: outside a run the calls do nothing, and no call ever
raises, blocks on a network or waits for anything but a write to a local file. What goes wrong is
said once on standard error.
"""
from ponk import _images
from ponk import _journal
from ponk._journal import run

__all__ = ["log", "log_params", "log_image", "log_artifact", "set_tag", "run"]


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
def log_params(params=None, **named):
    """Records what the run was started with, e.g. log_params({"lr": 0.1}) or log_params(lr=0.1)."""
    merged = dict(params or {})
    merged.update(named)
    _journal.write([{"param": str(key), "value": str(value), "time": _journal.now()}
                    for key, value in merged.items()])


@_journal.never_fails
def set_tag(name, value=""):
    """Puts a word on the run, to find it by later."""
    _journal.write([{"tag": str(name), "value": str(value), "time": _journal.now()}])


@_journal.never_fails
def log_artifact(path, name=None):
    """Keeps a file or a folder with the run, below `outputs/`."""
    for kept in _images.keep(path, name):
        _journal.write([{"artifact": kept, "kind": "file", "time": _journal.now()}])


@_journal.never_fails
def log_image(name, image, step=None):
    """Keeps a picture: a file's path, PNG bytes, a matplotlib figure, a PIL image or an array of
    numbers (height x width, or height x width x 1, 3 or 4; 0-255, or 0.0-1.0)."""
    step = _journal.step_of(str(name), step)
    kept = _images.keep_image(str(name), image, step)
    if kept:
        _journal.write([{"artifact": kept, "kind": "image", "name": str(name), "step": step,
                         "time": _journal.now()}])
