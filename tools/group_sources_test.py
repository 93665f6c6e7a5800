#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which files group_sources.py puts together, and which it keeps apart."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "group_sources.py")


def source(own, rest=""):
    return "namespace ponk::a {\nnamespace {\n\n%s\n\n}  // namespace\n\n%s\n}  // namespace ponk::a\n" % (own, rest)


class GroupSources(unittest.TestCase):
    def groups(self, files, most=12):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([sys.executable, TOOL, str(most), *files], cwd=folder, check=True,
                                  capture_output=True, text=True)
            return done.stdout.split()

    def test_strangers_go_together(self):
        files = {"a.cpp": source("int first()\n{\n    return 1;\n}"), "b.cpp": source("constexpr int second = 2;")}
        self.assertEqual(self.groups(files), ["a.cpp,b.cpp"])

    def test_equal_names_stay_apart(self):
        for own in ("int same(int x)\n{\n    return x;\n}", "constexpr int same = 1;", "struct same {\n};",
                    "const char* const same[] = {}", "using same = int;", "std::map<int, int> same;"):
            files = {"a.cpp": source(own), "b.cpp": source("enum class same { one };")}
            self.assertEqual(self.groups(files), ["a.cpp", "b.cpp"], own)

    def test_a_name_that_is_any_word_elsewhere_stays_apart(self):
        files = {"a.cpp": source("constexpr int limit = 1;"), "b.cpp": source("", "int f(int limit);")}
        self.assertEqual(self.groups(files), ["a.cpp", "b.cpp"])

    def test_words_of_comments_and_texts_do_not_count(self):
        files = {"a.cpp": source("constexpr int limit = 1;"), "b.cpp": source('// a limit\nconst char* x = "limit";')}
        self.assertEqual(self.groups(files), ["a.cpp,b.cpp"])

    def test_types_of_headers_count(self):
        files = {"a.cpp": source("struct Json {\n};"), "b.cpp": '#include "base/json.hpp"\n'}
        self.assertEqual(self.groups(files), ["a.cpp", "b.cpp"])

    def test_namespaces_and_macros_stay_apart_and_folders_do_not(self):
        inner = "namespace ponk::a::b {\nint x;\n}  // namespace ponk::a::b\n"
        files = {"a.cpp": source(""), "b.cpp": inner, "c.cpp": "#define C 1\n", "d/d.cpp": source("")}
        self.assertEqual(self.groups(files), ["a.cpp,d/d.cpp", "b.cpp", "c.cpp"])

    def test_a_group_has_its_size(self):
        files = {name: "int x;\n" for name in ("a.cpp", "b.cpp", "c.cpp")}
        self.assertEqual(self.groups(files, 2), ["a.cpp,b.cpp", "c.cpp"])


if __name__ == "__main__":
    unittest.main()
