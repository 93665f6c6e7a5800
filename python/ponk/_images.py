# SPDX-License-Identifier: Apache-2.0
"""Keeps files and pictures below `outputs/`, where they are collected when the run ends."""
import os
import re
import shutil
import struct
import zlib

from ponk._journal import run, warn


def safe_name(name):
    """A relative path without '..' and odd characters."""
    parts = [re.sub(r"[^\w.\-+ ]", "_", part) for part in str(name).replace("\\", "/").split("/")]
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "unnamed"


def name_below_outputs(name):
    """As a safe name; many write the folder's own name before it."""
    relative = safe_name(name)
    return relative[len("outputs/"):] if relative.startswith("outputs/") else relative


def keep(path, name=None):
    """Copies a file or folder into outputs and returns the relative names."""
    if not run.outputs:
        return []
    path = str(path)
    inside = os.path.realpath(path)
    outputs = os.path.realpath(run.outputs)
    if name is None and (inside + os.sep).startswith(outputs + os.sep):
        return [os.path.relpath(file, outputs) for file in files_of(inside)]
    relative = name_below_outputs(name) if name else safe_name(os.path.basename(os.path.abspath(path)))
    if not os.path.isdir(path):
        return [_copy(path, relative)]
    return _copy_all(path, relative + "/")


def _copy_all(folder, prefix):
    return [_copy(source, safe_name(prefix + os.path.relpath(source, folder)))
            for source in files_of(folder, os.path.realpath(run.outputs))]


# What each name below outputs was made from: another file in its place is worth a warning.
_made_from = {}


def _note_origin(relative, origin):
    if _made_from.setdefault(relative, origin) != origin:
        warn("outputs/%s: '%s' takes the place of '%s'; another name keeps both" % (relative, origin, _made_from[relative]))
        _made_from[relative] = origin


def _copy(path, relative):
    target = os.path.join(run.outputs, relative)
    make_folder(os.path.dirname(target))
    _note_origin(relative, os.path.realpath(path))
    if os.path.realpath(path) != os.path.realpath(target):
        shutil.copy(path, target)
    return relative


def files_of(path, without=None):
    """The file itself, or all files of a folder; a folder of it can be left out."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(each for each in folders
                            if os.path.realpath(os.path.join(folder, each)) != without)
        found += [os.path.join(folder, each) for each in sorted(names)]
    return found


def keep_contents(folder, name=None):
    """Copies what is in a folder into outputs, or into a folder of it."""
    if not run.outputs:
        return []
    return _copy_all(str(folder), name_below_outputs(name) + "/" if name else "")


def keep_bytes(name, data):
    """Writes a file below outputs and returns its relative name."""
    if not run.outputs:
        return None
    relative = name_below_outputs(name)
    target = os.path.join(run.outputs, relative)
    make_folder(os.path.dirname(target))
    _note_origin(relative, str(name))
    with open(target, "wb") as out:
        out.write(data)
    return relative


def keep_figure(name, figure):
    """A figure as a file whose ending says the format: of matplotlib, or of plotly."""
    if not run.outputs:
        return None
    relative = name_below_outputs(name)
    if not os.path.splitext(relative)[1]:
        relative += ".png"
    target = os.path.join(run.outputs, relative)
    make_folder(os.path.dirname(target))
    if hasattr(figure, "savefig"):
        figure.savefig(target)
    elif hasattr(figure, "write_html") and relative.endswith((".html", ".htm")):
        figure.write_html(target)
    elif hasattr(figure, "write_image"):
        figure.write_image(target)
    else:
        raise TypeError("'%s' is not a figure" % type(figure).__name__)
    return relative


def make_folder(path):
    try:
        os.makedirs(path)
    except OSError:
        if not os.path.isdir(path):
            raise


def keep_image(name, image, step):
    """Stores a picture as outputs/images/NAME-STEP.png and returns that relative name."""
    if not run.outputs:
        return None
    relative = "images/%s-%d.png" % (safe_name(name), step)
    target = os.path.join(run.outputs, relative)
    make_folder(os.path.dirname(target))
    if hasattr(image, "savefig"):
        image.savefig(target, format="png")
    elif hasattr(image, "save") and not hasattr(image, "shape"):
        image.save(target, format="PNG")
    elif isinstance(image, bytes):
        with open(target, "wb") as out:
            out.write(image)
    elif isinstance(image, str) or hasattr(image, "__fspath__"):
        extension = os.path.splitext(str(image))[1] or ".png"
        relative = relative[:-len(".png")] + extension
        shutil.copy(str(image), os.path.join(run.outputs, relative))
    else:
        data = png(image)  # before there is a file: what is no image leaves none
        with open(target, "wb") as out:
            out.write(data)
    return relative


def png(array):
    """A PNG of nested lists or of anything with tolist()."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    rows = array.tolist() if hasattr(array, "tolist") else [list(row) for row in array]
    height, width = len(rows), len(rows[0])
    pixels = [[cell if isinstance(cell, (list, tuple)) else [cell] for cell in row] for row in rows]
    channels = len(pixels[0][0])
    kind = {1: 0, 2: 4, 3: 2, 4: 6}.get(channels)
    if kind is None:
        raise ValueError("an image has 1 to 4 channels, not %d" % channels)
    flat = [value for row in pixels for cell in row for value in cell]
    scale = 255.0 if any(isinstance(v, float) for v in flat) and max(flat) <= 1.0 else 1.0
    raw = bytearray()
    for row in pixels:
        raw.append(0)  # no filter
        for cell in row:
            raw.extend(min(255, max(0, int(round(value * scale)))) for value in cell)

    def chunk(tag, data):
        return (struct.pack(">I", len(data)) + tag + data +
                struct.pack(">I", zlib.crc32(tag + data) & 0xffffffff))

    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(bytes(raw), 6)) + chunk(b"IEND", b""))
