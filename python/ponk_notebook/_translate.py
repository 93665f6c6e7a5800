# SPDX-License-Identifier: Apache-2.0
"""Turns what a cell has besides Python (%magic, !command, name?) into calls, line for line.

Only the first line of a statement can be one: what looks like it inside a text of several lines or an open bracket
is Python. A cell that is Python as it is stays untouched.
"""
import ast
import re

ALLOW_AWAIT = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)

_ASSIGNED = re.compile(r"^(\s*)([^=!%#'\"]+?)\s*=\s*([!%])(?!=)\s*(\S.*)$")
_HELP = re.compile(r"^(\s*)(?:(\?{1,2})\s*([\w.]+)|([\w.]+)(\?{1,2}))\s*;?\s*$")
# IPython takes these without a percent sign, and notebooks rely on it.
_BARE = re.compile(r"^\s*(pip|conda)\s+(install|uninstall|list|freeze|show)\b")


def is_python(source):
    try:
        compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ALLOW_AWAIT, True)
        return True
    except (SyntaxError, ValueError):
        return False


class _Scanner(object):
    """Follows Python's lines: whether the next one begins a statement."""

    def __init__(self):
        self._quote = None
        self._raw_continues = False
        self._depth = 0

    def at_statement(self):
        return self._quote is None and self._depth == 0 and not self._raw_continues

    def feed(self, line):
        at, end = 0, len(line)
        self._raw_continues = False
        while at < end:
            if self._quote:
                at = self._inside(line, at)
                continue
            char = line[at]
            if char == "#":
                return
            if char in "([{":
                self._depth += 1
            elif char in ")]}":
                self._depth = max(0, self._depth - 1)
            elif char == "\\" and not line[at + 1:].strip("\r\n"):
                self._raw_continues = True
                return
            elif char in "\"'":
                self._quote = char * 3 if line.startswith(char * 3, at) else char
                at += len(self._quote) - 1
            at += 1
        if self._quote and len(self._quote) == 1:
            # A plain text ends with its line, unless a backslash carries it on.
            if not line.rstrip("\r\n").endswith("\\"):
                self._quote = None

    def _inside(self, line, at):
        if line[at] == "\\":
            return at + 2  # in a raw text, too, a quote after a backslash does not end it
        if line.startswith(self._quote, at):
            at += len(self._quote)
            self._quote = None
            return at
        return at + 1


def _call(name, *words):
    return "get_ipython().%s(%s)" % (name, ", ".join(repr(word) for word in words))


def magic_words(text):
    """'time x = 3' as ('time', 'x = 3')."""
    name, _, rest = text.strip().partition(" ")
    return name, rest.strip()


def _translated(line):
    """The Python of a statement's first line; None: it is Python."""
    stripped = line.lstrip()
    indent = line[:len(line) - len(stripped)]
    if stripped.startswith("!!"):
        return indent + _call("getoutput", stripped[2:].strip())
    if stripped.startswith("!"):
        return indent + _call("system", stripped[1:].strip())
    if stripped.startswith("%"):
        return indent + _call("run_line_magic", *magic_words(stripped.lstrip("%")))
    if _BARE.match(line):
        return indent + _call("run_line_magic", *magic_words(stripped))
    found = _HELP.match(line)
    if found:
        return found.group(1) + _call("run_line_magic", "pinfo", found.group(3) or found.group(4))
    found = _ASSIGNED.match(line)
    if found:
        call = (_call("getoutput", found.group(4).strip()) if found.group(3) == "!"
                else _call("run_line_magic", *magic_words(found.group(4))))
        return "%s%s = %s" % (found.group(1), found.group(2), call)
    return None


def cell_magic(source):
    """('time', 'words of the first line', 'the rest', lines before the rest), or None."""
    lines = source.split("\n")
    first = 0
    while first < len(lines) and not lines[first].strip():
        first += 1
    if first == len(lines) or not lines[first].startswith("%%"):
        return None
    name, words = magic_words(lines[first][2:])
    return name, words, "\n".join(lines[first + 1:]), first + 1


def to_python(source):
    """The cell as Python with as many lines, so that places in it stay right."""
    if is_python(source):
        return source
    lines = source.split("\n")
    out, scanner, at = [], _Scanner(), 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if scanner.at_statement():
            whole, more = line, 0
            while whole.rstrip().endswith("\\") and at + more < len(lines) and _translated(line) is not None:
                whole = whole.rstrip()[:-1] + " " + lines[at + more].strip()
                more += 1
            made = _translated(whole)
            if made is not None:
                out.append(made)
                out.extend([""] * more)
                at += more
                continue
        scanner.feed(line + "\n")
        out.append(line)
    return "\n".join(out)
