# SPDX-License-Identifier: Apache-2.0
"""The commands of a ponk binary, read from its manual pages."""
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile


@dataclasses.dataclass
class Command:
    path: str  # "experiment submit"
    usage: str = ""
    aliases: list = dataclasses.field(default_factory=list)
    text: list = dataclasses.field(default_factory=list)
    entries: list = dataclasses.field(default_factory=list)  # (label, help): arguments and options
    exits: str = ""
    examples: list = dataclasses.field(default_factory=list)  # (line, says)

    def options(self):
        return options_of(self.entries)


@dataclasses.dataclass
class Page:
    name: str  # "experiment"
    summary: str
    commands: list
    global_entries: list


def options_of(entries):
    """{"--gpus": True, "-c": True, "--async": False}: each spelling, and whether a value follows."""
    found = {}
    for label, _ in entries:
        if not label.startswith("-"):
            continue
        *names, last = label.split(", ")
        last, _, value = last.partition(" ")
        found.update(dict.fromkeys([*names, last], bool(value)))
    return found


def plain(line):
    return line.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def read_page(source):
    lines = source.splitlines()
    name, summary = plain(lines[lines.index(".SH NAME") + 1]).split(" - ", 1)
    page = Page(name.removeprefix("ponk").lstrip("-"), summary, [], [])
    section, command, place = "", None, 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith(".SH "):
            section = line[4:]
            if section == "DESCRIPTION" and page.name:
                command = Command(page.name)
                page.commands.append(command)
        elif line.startswith(".SS "):
            command = Command(f"{page.name} {plain(line[4:])}")
            page.commands.append(command)
        elif line == ".TP":
            entry = plain(lines[place].removeprefix(".B ")), plain(lines[place + 1])
            place += 2
            if section == "GLOBAL OPTIONS":
                page.global_entries.append(entry)
            elif command and section in ("COMMANDS", "DESCRIPTION"):
                command.entries.append(entry)
        elif command is None or section not in ("COMMANDS", "DESCRIPTION"):
            continue
        elif line.startswith(".B ") and not command.usage:
            command.usage = plain(line[3:])
        elif line == ".nf":
            end = lines.index(".fi", place)
            command.examples.append((plain("\n".join(lines[place:end])), command.text.pop()))
            place = end + 1
        elif alias := re.fullmatch(r"Short form: ponk (.*)\.", line):
            command.aliases.append(plain(alias[1]))
        elif line.startswith("Exit code: "):
            command.exits = plain(line[11:])
        elif not line.startswith("."):
            command.text.append(plain(line))
    return page


def read_pages(ponk):
    """All pages: the first is that of ponk itself, without commands."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PONK_HOME=os.path.join(folder, "home"))
        subprocess.run([ponk, "man", "--all-to", folder], check=True, capture_output=True, env=environment)
        return [read_page(file.read_text()) for file in sorted(pathlib.Path(folder).glob("ponk*.1"), key=lambda file: file.stem)]
