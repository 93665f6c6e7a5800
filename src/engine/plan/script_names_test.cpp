// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "engine/plan/script_names.hpp"

#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

TEST(ScriptNames, FindsWhatIsUsedAndNotImported)
{
    const std::pair<const char*, const char*> cases[] = {
        {"os.makedirs('outputs')\nprint(sys.argv)\n", "os sys"},
        {"import os\nos.getcwd()\nsys.exit(0)\n", "sys"},
        {"import numpy, os.path as p, sys\nos.x\nsys.y\n", ""},
        {"from six.moves import (a,\n  os)\nos.x\n", ""},
        {"from os import path\nos.x\n", "os"},
        {"if True:\n    import sys; import os\nos.x; sys.y\n", ""},
        {"# os.x\n'os.x'\n\"\"\"\nos.x\n\"\"\"\nself.os.x\n", ""},
        {"os = object()\nos.x\n", ""},
        {"f(os=1)\nos.x\n", "os"},
        {"import a \\\n  , os\nos.x\n", ""},
        {"s = 'it\\'s'\nos . x\n", "os"},
        {"cos.x\nos_.y\n", ""},
        {"", ""},
        {"'", ""},
        {"import", ""},
        {"\"\\", ""},
    };
    for (const auto& [text, missing] : cases)
        EXPECT_EQ(join(names_of_script(text).missing, " "), missing) << text;
}

TEST(ScriptNames, SeesWhetherSparkIsImported)
{
    EXPECT_TRUE(names_of_script("import pyspark\n").imports_pyspark);
    EXPECT_TRUE(names_of_script("from pyspark.sql import SparkSession\n").imports_pyspark);
    EXPECT_TRUE(names_of_script("def f():\n    import a, pyspark as p\n").imports_pyspark);
    EXPECT_FALSE(names_of_script("# import pyspark\nx = 'import pyspark'\n").imports_pyspark);
    EXPECT_FALSE(names_of_script("from mine import pyspark_tools\n").imports_pyspark);
}

}  // namespace
}  // namespace ponk::engine
