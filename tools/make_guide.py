#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the pages of the user guide together: tools/make_guide.py PONK FOLDER

Copies docs/guide and the documents that it links, and writes a page for each group of commands and one for the keys of
configuration files, as the binary describes them. The result is FOLDER/pages, which MkDocs reads.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

from man_pages import read_pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = {
    "runconfig": "NAME.runconfig",
    "compute": "NAME.compute",
    "conda": "conda_dependencies.yml",
    "spark": "spark_dependencies.yml",
    "project": "project.json",
    "mlproject": "MLproject",
}


def shown(text):
    """Text that Markdown prints as it is."""
    return re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", text)


def copy_documents(pages):
    for file in sorted((ROOT / "docs/guide").glob("*.md")):
        # The guide is the root of the site; in the repository it lies beside the other documents.
        (pages / file.name).write_text(file.read_text().replace("](../", "]("))
    for file in sorted((ROOT / "docs").glob("*.md")):
        shutil.copy(file, pages / file.name)
    for folder in ("design", "adr"):
        shutil.copytree(ROOT / "docs" / folder, pages / folder)


def command_text(command):
    lines = [f"## ponk {command.path}", "", f"    {command.usage}", ""]
    for alias in command.aliases:
        lines += [f"Short form: `ponk {alias}`", ""]
    for paragraph in command.text:
        lines += [shown(paragraph), ""]
    if command.entries:
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{label.replace('|', chr(92) + '|')}` | {shown(says)} |" for label, says in command.entries]
        lines.append("")
    if command.exits:
        lines += [f"Exit code: {shown(command.exits)}", ""]
    for line, says in command.examples:
        lines += [shown(says), "", *("    " + each for each in line.splitlines()), ""]
    return "\n".join(lines)


def write_commands(ponk, folder):
    folder.mkdir()
    main, *pages = read_pages(ponk)
    index = ["# Commands", "", "Made from the binary. `ponk COMMAND --help` and `ponk man` show the same.", ""]
    for page in pages:
        (folder / f"{page.name}.md").write_text(
            f"# ponk {page.name}\n\n{shown(page.summary)}\n\n" + "\n".join(command_text(each) for each in page.commands))
        index += [f"- [ponk {page.name}]({page.name}.md): {shown(page.summary)}"]
        if len(page.commands) > 1:
            index += [f"    - [{each.path}]({page.name}.md#ponk-{each.path.replace(' ', '-')})" for each in page.commands]
    index += ["", "## Global options", "", "Every command takes them.", "", "| | |", "|---|---|"]
    index += [f"| `{label}` | {shown(says)} |" for label, says in main.global_entries]
    (folder / "index.md").write_text("\n".join(index) + "\n")


def type_of(value):
    if "enum" in value:
        return ", ".join(f"`{word}`" for word in value["enum"] if word is not None)
    types = [each for each in value.get("type", []) if each != "null"]
    if "pattern" in value:
        return "time"
    if "array" in types and len(types) > 1:
        return "text or list"
    if "string" in types:
        return "text"
    return {"boolean": "true or false", "integer": "whole number", "array": "list", "object": "map"}.get("".join(types), "".join(types) or "any")


def rows(properties, prefix=""):
    for key, value in properties.items():
        yield f"| `{prefix}{key}` | {type_of(value)} | {shown(value['description'])} |"
        below = value.get("properties") or (value.get("items") or {}).get("properties")
        if below:
            yield from rows(below, f"{prefix}{key}.")


def table(properties):
    return ["| key | value | meaning |", "|---|---|---|", *rows(properties), ""]


def write_keys(ponk, file):
    lines = ["# Configuration keys", "", "Made from the binary: `ponk project schema KIND` prints the same as JSON Schema "
             "([editors](editors.md)). An empty value means the default. [configuration.md](design/configuration.md) has the details.", ""]
    for kind, name in FILES.items():
        schema = json.loads(subprocess.run([ponk, "project", "schema", kind, "-o", "json"], check=True, capture_output=True).stdout)
        if kind == "runconfig":
            lines += [f"## {name}", "", *table(schema["else"]["properties"])]
            lines += [f"## {name}, form of late 2018", "", *table(schema["then"]["properties"])]
        else:
            lines += [f"## {name}", "", *table(schema["properties"])]
    file.write_text("\n".join(lines))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ponk, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    pages = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    pages.mkdir(parents=True)
    copy_documents(pages)
    write_commands(ponk, pages / "commands")
    write_keys(ponk, pages / "keys.md")


if __name__ == "__main__":
    main()
