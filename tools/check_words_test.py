#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the check of words finds, and what it lets pass."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_words


class CheckWords(unittest.TestCase):
    def found(self, path, source, *words):
        self.assertEqual([word for _, word, _ in check_words.slips(path, source)], list(words), source)

    def test_words_in_messages(self):
        self.found("src/a.cpp", 'fail("submit it anew");', "anew")
        self.found("src/a.cpp", 'fail("it was ended for want of memory, so mend it");', "mend", "for want of")
        self.found("src/a.cpp", 'fail("{} is no folder", name);', "is no")
        self.found("src/a.cpp", 'fail(R"(look at the box)");', "the box")
        self.found("python/ponk/a.py", "warn('the run was cancelled')", "cancelled")

    def test_a_literal_that_is_broken_into_lines_is_one(self):
        self.found("src/a.cpp", 'fail("the file is "\n     "there already");', "is there already")

    def test_lines_are_counted(self):
        self.assertEqual([line for line, _, _ in check_words.slips("src/a.cpp", '\n\nfail("do it anew");')], [3])
        self.assertEqual([line for line, _, _ in check_words.slips("docs/a.md", "a\n\ndo it anew\n")], [3])

    def test_plain_english_passes(self):
        self.found("src/a.cpp", 'fail("there is no folder {}", name);')
        self.found("src/a.cpp", 'fail("the folder {} is no longer there", name);')
        self.found("src/a.cpp", 'fail("unbox the settlement, recommend amendments");')

    def test_keys_comments_and_characters_pass(self):
        self.found("src/a.cpp", 'note["wish"] = 1;  // "do it anew"\nchar quote = \'"\'; f("a", "b");')
        self.found("src/a.cpp", '#include "anew or mend.hpp"\n')

    def test_documents_without_their_code(self):
        self.found("docs/a.md", "Do it anew.", "anew")
        self.found("docs/a.md", "The key `do it anew`:\n\n```\ndo it anew\n```\n\n    do it anew\n")

    def test_what_is_read(self):
        for path in ("README.md", "docs/logging.md", "docs/design/api.md", "src/cli/a.cpp", "src/os/a.hpp", "python/ponk/a.py"):
            self.assertTrue(check_words.is_for_people(path), path)
        for path in ("src/cli/a_test.cpp", "src/executor/testing/a.cpp", "tests/e2e/test_a.py", "changes/a.md", "tools/a.py"):
            self.assertFalse(check_words.is_for_people(path), path)


if __name__ == "__main__":
    unittest.main()
