#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the check of named tests finds, and what it lets pass."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_named_tests

FILES = {"tests/e2e/test_a.py", "src/b/c_test.cpp", "tools/d_test.py"}


class CheckNamedTests(unittest.TestCase):
    def found(self, text, *messages, document="docs/design/promises.md"):
        self.assertEqual([message for _, message in check_named_tests.problems_of(document, text, FILES)], list(messages))

    def test_names_that_files_have(self):
        self.found("`tests/e2e/test_a.py`, `test_a.py`, `c_test.cpp`, `d_test.py`, `src/**/x_test.cpp`, `--test_z.py`, test_z.py")

    def test_names_that_no_file_has(self):
        self.found("x\n`tests/e2e/test_z.py` `test_y.py`", "there is no test 'tests/e2e/test_z.py'", "there is no test 'test_y.py'", document="a.md")
        self.found("`src/a/c_test.cpp`", "there is no test 'src/a/c_test.cpp'")

    def test_rows(self):
        self.found("| A1 | x | `test_a.py` |\n| A2 | x | `test_a.py` |\n| B1 | x | `test_a.py` |")
        self.found("| A1 | x | nothing |", "the promise A1 names no test")
        self.found("| A2 | x | `test_a.py` |", "a promise is missing before A2")
        self.found("| A2 | x |", document="docs/testing.md")


if __name__ == "__main__":
    unittest.main()
