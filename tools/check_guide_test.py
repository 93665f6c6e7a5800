#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the check of the guide finds, and what it lets pass."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_guide
import man_pages

PAGE = r""".TH ponk\-experiment 1 "" "ponk 1" "ponk manual"
.SH NAME
ponk\-experiment \- Run scripts
.SH COMMANDS
.SS submit
.PP
.B ponk experiment submit [OPTIONS] [SCRIPT [ARGUMENTS…]]
.PP
Short form: ponk submit.
.PP
Run a script.
.TP
.B SCRIPT
The script.
.TP
.B \-c, \-\-run\-configuration NAME
Configuration.
.TP
.B \-\-async
Do not follow.
.PP
Run it.
.RS 4
.nf
ponk submit train.py
.fi
.RE
.SS clean
.PP
.B ponk experiment clean [OPTIONS]
.PP
Remove copies.
.SH GLOBAL OPTIONS
.TP
.B \-o, \-\-output FORMAT
Format.
.SH EXIT STATUS
.TP
.B 64
usage.
"""


class ManPages(unittest.TestCase):
    def test_a_page_has_its_commands_with_options_and_examples(self):
        page = man_pages.read_page(PAGE)
        submit, clean = page.commands
        self.assertEqual((page.name, page.summary), ("experiment", "Run scripts"))
        self.assertEqual((submit.path, submit.aliases, submit.text), ("experiment submit", ["submit"], ["Run a script."]))
        self.assertEqual(submit.options(), {"-c": True, "--run-configuration": True, "--async": False})
        self.assertEqual(submit.examples, [("ponk submit train.py", "Run it.")])
        self.assertEqual((clean.path, clean.options()), ("experiment clean", {}))
        self.assertEqual(page.global_entries, [("-o, --output FORMAT", "Format.")])


class Calls(unittest.TestCase):
    def setUp(self):
        page = man_pages.read_page(PAGE)
        self.commands = check_guide.Commands([page, page])

    def test_calls_are_found_in_blocks_and_in_backquotes(self):
        text = "Use `ponk runs` or ponk logs.\n```\n$ ponk submit a.py\nponk: RunId: 1\nsee ponk other\neval \"$(ponk x)\"\n```\n"
        self.assertEqual(list(check_guide.calls(text)), [(1, "runs"), (3, "submit a.py"), (6, 'x)"')])

    def test_what_exists_passes(self):
        for text in ("submit -c gpu1 --async train.py --epochs 3", "experiment submit -- torchrun --x", "experiment clean -o json",
                     "experiment", "ml experiment submit a.py", "COMMAND --help", "submit a.py   # --no", "submit a.py > --b"):
            self.assertIsNone(self.commands.problem(text), text)

    def test_what_does_not_exist_is_named(self):
        for text, said in (("sweep", "there is no command 'ponk sweep'"), ("experiment fly", "there is no command 'ponk experiment fly'"),
                           ("submit --epochs 3 a.py", "'ponk submit' has no option '--epochs'"),
                           ("experiment clean all --async", "'ponk experiment clean' has no option '--async'")):
            self.assertEqual(self.commands.problem(text), said)


class Site(unittest.TestCase):
    def test_links_to_no_file_and_to_no_anchor_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.html").write_text('<h1 id="x">A</h1><a href="b.html#y"><a href="b.html#no"><a href="c.html"><a href="#x">')
            pathlib.Path(folder, "b.html").write_text('<p id="y"><a href="https://example.org/none">')
            problems, _ = check_guide.check_site(folder)
            self.assertEqual([problem.split(": ", 1)[1] for problem in problems],
                             ["'b.html#no' leads to no anchor", "'c.html' leads to no file"])


if __name__ == "__main__":
    unittest.main()
