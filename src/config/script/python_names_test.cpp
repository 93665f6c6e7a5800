// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/script/python_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ponk::config {
namespace {

TEST(PythonNames, FindsWhatIsUsedAndNotImported)
{
    const std::pair<const char*, const char*> cases[] = {
        {"os.makedirs('outputs')\nprint(sys.argv)\n", "os sys"},
        {"import os\nos.getcwd()\nsys.exit(0)\n", "sys"},
        {"import numpy, os.path as p, sys\nos.x\nsys.y\n", "os"},
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
        EXPECT_EQ(join(python_names(text).missing, " "), missing) << text;
}

TEST(PythonNames, SeesWhetherSparkIsImported)
{
    EXPECT_TRUE(python_names("import pyspark\n").imports_package("pyspark"));
    EXPECT_TRUE(python_names("from pyspark.sql import SparkSession\n").imports_package("pyspark"));
    EXPECT_TRUE(python_names("def f():\n    import a, pyspark as p\n").imports_package("pyspark"));
    EXPECT_FALSE(
        python_names("# import pyspark\nx = 'import pyspark'\n").imports_package("pyspark"));
    EXPECT_FALSE(python_names("from mine import pyspark_tools\n").imports_package("pyspark"));
}

std::string imports_of(std::string_view text)
{
    std::string all;
    for (const auto& each : python_names(text).imports) {
        all += std::string(each.dots, '.') + each.whole();
        all += each.kind == PythonImport::Kind::attempted ? "? " : " ";
    }
    return all;
}

std::string uses_of(std::string_view text)
{
    std::string all;
    for (const auto& each : python_names(text).uses)
        all += fmt::format("{}@{}:{} ", each.name, each.place.line, each.place.column);
    return all;
}

TEST(PythonNames, ReadsEveryFormOfImport)
{
    EXPECT_EQ(imports_of("import a, b.c as d\nfrom e.f import (g,\n  h as i)\nfrom . import j\n"
                         "from ..k import *\n"),
              "a b.c e.f.g e.f.h .j ..k ");
    EXPECT_EQ(imports_of("if x: import a; import b\nx = 'import c'\n# import d\n"), "a b ");
}

TEST(PythonNames, KnowsWhichImportsAreOnlyAttempted)
{
    EXPECT_EQ(imports_of("try:\n    import a\nexcept ImportError:\n    import b\nimport c\n"),
              "a? b? c ");
    EXPECT_EQ(imports_of("def f():\n  try: import a\n  except: pass\n  import b\nimport c\n"),
              "a? b c ");
}

TEST(PythonNames, NamesAreToldByWhatWasImported)
{
    EXPECT_EQ(uses_of("import tensorflow as tf\nx = tf.app.flags\n"), "tensorflow.app.flags@2:5 ");
    EXPECT_EQ(uses_of("def f():\n  return misc.imread('a')\nfrom scipy import misc\n"),
              "scipy.misc.imread@2:10 .imread(@2:15 ");
    EXPECT_EQ(uses_of("import numpy\nself.numpy.float\nx.ix[0]\n"), ".ix[@3:3 ");
}

}  // namespace
}  // namespace ponk::config
