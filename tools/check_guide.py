#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the user guide names.

tools/check_guide.py PONK          each command and option of docs/guide and README.md exists in that binary
tools/check_guide.py --site DIR    each link of the built pages leads to a file, and to an anchor in it

Prints each place as file:line: message and exits 1 when there is one.
"""
import html.parser
import pathlib
import re
import shlex
import sys
import urllib.parse

from man_pages import options_of, read_pages

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A prompt, a variable, a substitution or another program may come before it.
CALL = re.compile(r"(?:^|[$(\s])(?:ponk|az ml)\s(.*)$")
# Names of groups that stand for the full one.
GROUPS = {"runconfig": "runconfiguration"}
# What these print or take is not an option of ponk.
OTHER = ("help", "version")


def calls(text):
    """(line number, words after 'ponk') of each call in a code block or in backquotes."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
            continue
        if inside:
            # Output follows the commands; only lines of the reader begin with a prompt or the program.
            found = CALL.search(line) if re.match(r"\s*(\$ |ponk |az ml |eval |id=)", line) and not line.startswith("ponk:") else None
            if found:
                yield number, found[1]
        else:
            for code in re.findall(r"`((?:ponk|az ml) [^`]*)`", line):
                yield number, CALL.search(code)[1]


def words_of(text):
    text = re.sub(r"\s+#.*$|[<>|].*$", "", text)
    try:
        return shlex.split(text)
    except ValueError:
        return [word.strip("\"')") for word in text.split()]


class Commands:
    def __init__(self, pages):
        self.globals = options_of(pages[0].global_entries)
        self.options = {}
        self.groups = set()
        self.takes_words = set()
        for page in pages[1:]:
            for command in page.commands:
                if " " in command.path:
                    self.groups.add(page.name)
                for path in (command.path, *command.aliases):
                    self.options[path] = {**self.globals, **command.options()}
                    if "[ARGUMENTS…]" in command.usage:
                        self.takes_words.add(path)

    def problem(self, text):
        """What is wrong with a call, or None."""
        words = words_of(text)
        if words[:1] == ["ml"]:
            words = words[1:]
        # 'ponk COMMAND --help' stands for any command.
        if not words or words[0].startswith(("…", "-")) or words[0].isupper() or words[0] in OTHER:
            return None
        words[0] = GROUPS.get(words[0], words[0])
        path = next((" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in self.options), None)
        if path is None:
            if words[0] in self.groups and (len(words) == 1 or words[1].startswith(("…", "-")) or words[1].isupper()):
                return None
            return f"there is no command 'ponk {' '.join(words[:2])}'"
        return self.wrong_option(path, words[len(path.split()):])

    def wrong_option(self, path, words):
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if word == "--" or not word.startswith("-"):
                # From its script on, submit passes everything to the script; allow has a word of this kind, too.
                if path in self.takes_words:
                    return None
                continue
            name, is_joined, _ = word.rstrip(")\"'").partition("=")
            if name not in self.options[path]:
                return f"'ponk {path}' has no option '{name}'"
            if self.options[path][name] and not is_joined:
                place += 1
            if name in ("-m", "--module") and path in self.takes_words:
                return None
        return None


def check_commands(ponk):
    commands = Commands(read_pages(ponk))
    problems, count = [], 0
    for file in [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]:
        for number, text in calls(file.read_text()):
            count += 1
            if problem := commands.problem(text):
                problems.append(f"{file.relative_to(ROOT)}:{number}: {problem}")
    return problems, f"{count} commands of the guide exist"


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.hrefs, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if names.get("id"):
            self.ids.add(names["id"])
        for name in ("href", "src"):
            if names.get(name):
                self.hrefs.append((self.getpos()[0], names[name]))


def check_site(site):
    pages = {file.resolve(): Links(file.read_text()) for file in pathlib.Path(site).rglob("*.html")}
    problems, count = [], 0
    for file, page in pages.items():
        # Its links are for the root of a server.
        if file.name == "404.html":
            continue
        for number, href in page.hrefs:
            url = urllib.parse.urlsplit(href)
            if url.scheme or url.netloc:
                continue
            count += 1
            place = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
            if place.is_dir():
                place /= "index.html"
            if not place.exists():
                problems.append(f"{file}:{number}: '{href}' leads to no file")
            elif url.fragment and place in pages and urllib.parse.unquote(url.fragment) not in pages[place].ids:
                problems.append(f"{file}:{number}: '{href}' leads to no anchor")
    return problems, f"{count} links of {len(pages)} pages lead somewhere"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--site":
        problems, said = check_site(sys.argv[2])
    elif len(sys.argv) == 2:
        problems, said = check_commands(sys.argv[1])
    else:
        sys.exit(__doc__)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        sys.exit(1)
    print(said)


if __name__ == "__main__":
    main()
