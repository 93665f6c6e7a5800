# SPDX-License-Identifier: Apache-2.0
"""A notebook file: read (format 3 or 4), given outputs, written again as format 4."""
import json
import os
import threading
import time
import uuid

# More of one cell's text is in the log only.
MOST_TEXT = 8 << 20
# At most this share of the time goes into writing the executed copy while a cell runs.
WRITE_SHARE = 20


class Unusable(Exception):
    """The file cannot be executed; the message is for the user."""


def _text(source):
    return source if isinstance(source, str) else "".join(source or [])


def _from_format_3(book):
    cells = []
    for sheet in book.get("worksheets") or []:
        for cell in sheet.get("cells") or []:
            kind = cell.get("cell_type")
            source = _text(cell.get("input") if kind == "code" else cell.get("source"))
            if kind == "heading":
                kind, source = "markdown", "#" * int(cell.get("level", 1)) + " " + source
            made = {"cell_type": kind if kind in ("code", "raw") else "markdown",
                    "metadata": cell.get("metadata") or {}, "source": source}
            cells.append(made)
    metadata = {key: value for key, value in (book.get("metadata") or {}).items() if key != "name"}
    return {"nbformat": 4, "nbformat_minor": 2, "metadata": metadata, "cells": cells}


def _language(metadata):
    spec, info = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    return spec.get("language") or info.get("name") or {"ir": "R"}.get(spec.get("name"), "python")


def read(path):
    """The notebook, as format 4, without earlier outputs."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            book = json.load(file)
    except UnicodeDecodeError as problem:
        raise Unusable("%s is not a notebook: %s" % (path, problem))
    except ValueError as problem:
        raise Unusable("%s is not a notebook: it is not JSON (%s)" % (path, problem))
    version = book.get("nbformat") if isinstance(book, dict) else None
    if version == 3:
        book = _from_format_3(book)
    elif version != 4 or not isinstance(book.get("cells"), list):
        raise Unusable("%s is not a notebook of format 3 or 4 ('nbformat' is %r)" % (path, version))
    language = _language(book.setdefault("metadata", {}))
    if "python" not in language.lower():
        raise Unusable("%s is a notebook for %s, and ponk runs those for Python" % (path, language))
    has_ids = (book.get("nbformat_minor") or 0) >= 5
    for cell in book["cells"]:
        cell["source"] = _text(cell.get("source"))
        cell.setdefault("metadata", {})
        if has_ids:
            cell.setdefault("id", uuid.uuid4().hex[:8])
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return book


class Book(object):
    """The executed copy. Cells write into it from any thread; it is on disk a moment later."""

    def __init__(self, book, place):
        self.book = book
        self.place = place
        self._lock = threading.Lock()
        self._cell = None
        self._size = 0
        self._changed = False
        self._owner = os.getpid()
        self._wake = threading.Event()
        threading.Thread(target=self._keep_written, daemon=True).start()

    def code_cells(self):
        return [cell for cell in self.book["cells"] if cell.get("cell_type") == "code" and cell["source"].strip()]

    def begin(self, cell, number):
        with self._lock:
            self._cell, self._size = cell, 0
            cell["execution_count"] = number
        self.write()

    def end(self):
        self.write()

    def stream(self, name, text):
        # A child of a cell has a copy of all this, and nobody to hand it to.
        if os.getpid() != self._owner or not text:
            return
        with self._lock:
            if self._cell is None or self._size > MOST_TEXT:
                return
            self._size += len(text)
            if self._size > MOST_TEXT:
                text = "\n[the rest of this cell's output is in the log of the run]\n"
            outputs = self._cell["outputs"]
            if outputs and outputs[-1].get("name") == name:
                # Joined when written: adding to a long text again and again takes its square.
                outputs[-1]["text"].append(text)
            else:
                outputs.append({"output_type": "stream", "name": name, "text": [text]})
            self._note_change()

    def add(self, output):
        if os.getpid() != self._owner:
            return
        with self._lock:
            if self._cell is not None:
                self._cell["outputs"].append(output)
                self._note_change()

    def clear(self):
        with self._lock:
            if self._cell is not None:
                del self._cell["outputs"][:]

    def _note_change(self):
        self._changed = True
        self._wake.set()

    def _keep_written(self):
        while True:
            self._wake.wait()
            self._wake.clear()
            began = time.monotonic()
            try:
                if self._changed:
                    self.write()
            except OSError:
                pass  # the end of the cell reports it
            time.sleep(max(1.0, WRITE_SHARE * (time.monotonic() - began)))

    def write(self):
        with self._lock:
            self._changed = False
            for cell in self.book["cells"]:
                for output in cell.get("outputs") or []:
                    if isinstance(output.get("text"), list):
                        output["text"][:] = ["".join(output["text"])]
            text = json.dumps(self.book, indent=1, ensure_ascii=False, sort_keys=True, default=str)
            os.makedirs(os.path.dirname(self.place), exist_ok=True)
            # A reader, or the end of the run, never finds half of it.
            part = self.place + ".part"
            with open(part, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
            os.replace(part, self.place)
