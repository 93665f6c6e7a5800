#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer check must be able to fail: each rule is broken once in a small tree."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_layers

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = check_layers.main(root)
        return code, out.getvalue()


class CheckLayers(unittest.TestCase):
    def refused(self, path, text, word):
        code, said = check({path: text})
        self.assertEqual(code, 1, said)
        self.assertIn(word, said)

    def accepted(self, path, text):
        code, said = check({path: text})
        self.assertEqual(code, 0, said)

    def test_lower_layer_may_not_use_a_higher_one(self):
        self.refused("src/os/a.cpp", LICENCE + '#include "engine/submit.hpp"\n', "'os' may not use 'engine'")

    def test_higher_layer_uses_a_lower_one(self):
        self.accepted("src/engine/a.cpp", LICENCE + '#include "os/file.hpp"\n#include "executor/executor.hpp"\n')

    def test_command_line_may_not_reach_into_the_store(self):
        self.refused("src/cli/a.cpp", LICENCE + '#include "store/runs.hpp"\n', "'cli' may not use 'store'")

    def test_subfolders_have_layers_too(self):
        self.refused("src/executor/local/a.cpp", LICENCE + '#include "executor/docker/b.hpp"\n', "may not use 'executor/docker'")
        self.accepted("src/executor/local/a.cpp", LICENCE + '#include "executor/executor.hpp"\n')
        self.refused("src/store/rows/a.cpp", LICENCE + '#include "store/history/b.hpp"\n', "may not use 'store/history'")
        self.refused("src/cli/commands/gpu/a.cpp", LICENCE + '#include "cli/commands/token/b.hpp"\n', "may not use")
        self.accepted("src/store/rows/a_test.cpp", LICENCE + '#include "store/history/b.hpp"\n')

    def test_unknown_subfolder_is_refused(self):
        self.refused("src/store/things/a.cpp", LICENCE, "is no folder of the table")
        self.refused("src/store/rows/a.cpp", LICENCE + '#include "store/things/b.hpp"\n', "is no folder of the table")

    def test_module_may_not_depend_upwards(self):
        text = "# SPDX-License-Identifier: Apache-2.0\nponk_module(os\n  SOURCES a.cpp\n  DEPENDS base engine)\n"
        self.refused("src/os/CMakeLists.txt", text, "may not depend on 'engine'")

    def test_library_stays_in_its_home(self):
        self.refused("src/engine/a.cpp", LICENCE + "#include <sqlite3.h>\n", "belongs to db only")
        self.accepted("src/db/a.cpp", LICENCE + "#include <sqlite3.h>\n")

    def test_test_library_stays_in_tests(self):
        self.refused("src/os/a.cpp", LICENCE + "#include <gtest/gtest.h>\n", "belongs to test only")
        self.accepted("src/os/a_test.cpp", LICENCE + "#include <gtest/gtest.h>\n")

    def test_licence_and_guard_are_asked_for(self):
        self.refused("src/os/a.cpp", "int x;\n", "no SPDX line")
        self.refused("src/os/a.hpp", LICENCE, "#pragma once")

    def test_file_that_gathers_everything_is_refused(self):
        self.refused("src/os/string_utils.cpp", LICENCE, "name it after what it does")

    def test_long_file_is_warned_of_and_then_refused(self):
        code, said = check({"src/os/a.cpp": LICENCE + "int x;\n" * 600})
        self.assertEqual(code, 0)
        self.assertIn("warning: 601 lines", said)
        self.refused("src/os/a.cpp", LICENCE + "int x;\n" * 900, "split it")

    def test_unknown_folder_is_refused(self):
        self.refused("src/things/a.cpp", LICENCE, "is no folder of the table")

    def test_table_of_texts_has_a_keyed_hash(self):
        for table in ("std::unordered_map<std::string, int>", "std::unordered_set<std::string_view>"):
            self.refused("src/os/a.cpp", LICENCE + table + " seen;\n", "KeyedMap")
        self.accepted("src/os/a.cpp", LICENCE + "std::unordered_map<pid_t, std::string> seen;\n")

    def test_machine_path_and_registry_are_refused(self):
        self.refused("docs/a.md", "see /home/" + "carol/x\n", "a path of one machine")
        self.refused("docs/a.md", "image quay.i" + "o/x/y\n", "a registry host")
        self.refused("docs/a.md", "from https://pypi.or" + "g/simple\n", "a registry host")

    def test_a_command_that_is_not_listed(self):
        listed = LICENCE + "const Command* all[] = {&cmd_a_b};\n"
        command = LICENCE + "constinit const Command %s = {\n};\n"
        files = {"src/cli/commands/commands.cpp": listed, "src/cli/commands/a/b.cpp": command % "cmd_a_b"}
        self.assertNotIn("is not in the list", check(files)[1])
        files["src/cli/commands/a/c.cpp"] = command % "cmd_a_c"
        self.assertIn("'cmd_a_c' is not in the list of src/cli/commands/commands.cpp", check(files)[1])


if __name__ == "__main__":
    unittest.main()
