// SPDX-License-Identifier: Apache-2.0
#include "config/script/check_script.hpp"
#include "config/script/modules.hpp"
#include "config/script/old_names.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace ponk::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ScriptCheck : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text)
    {
        std::filesystem::create_directories((folder_.path() / name).parent_path());
        ASSERT_TRUE(os::replace_file(folder_.path() / name, text, 0644, os::Durable::no));
    }
    std::vector<std::string> check(const std::string& script)
    {
        const auto files = read_script_files(folder_.path(), script);
        if (!files) return {files.error().message()};
        std::vector<std::string> lines;
        for (const auto& each : check_script(*files, packages_of_project(folder_.path(), script)))
            lines.push_back(to_text(each));
        return lines;
    }

    os::TestFolder folder_;
};

TEST_F(ScriptCheck, OldNamesOfTheScriptAndOfItsModulesAreToldWithTheirPlaces)
{
    write("train.py", "import tools.data\nfrom sklearn.cross_validation import KFold\n");
    write("tools/__init__.py", "");
    write("tools/data.py", "import numpy as np\nfrom . import more\n\nx = np.float(1)\n");
    write("tools/more.py", "import tensorflow as tf\nx = tf.placeholder(tf.float32)\n");
    EXPECT_THAT(
        check("train.py"),
        ElementsAre(
            "tools/data.py:4:5: warning: 'numpy.float' was removed in NumPy 1.24 [old-name]",
            "tools/more.py:2:5: warning: 'tensorflow.placeholder' was removed in TensorFlow "
            "2.0 [old-name]",
            "train.py:2:38: warning: 'sklearn.cross_validation' was removed in scikit-learn "
            "0.20 [old-name]"));
}

TEST_F(ScriptCheck, AVersionThatHasTheNameIsNoReason)
{
    write("train.py", "from sklearn.cross_validation import KFold\nimport imp\n");
    write("requirements.txt", "scikit-learn==0.19.2\n");
    EXPECT_THAT(check("train.py"),
                ElementsAre("train.py:2:8: warning: 'imp' was removed in Python 3.12 [old-name]"));
    write("requirements.txt", "scikit-learn==0.20\n");
    EXPECT_EQ(check("train.py").size(), 2U);
}

TEST_F(ScriptCheck, ModulesThatNobodyBringsAreTold)
{
    write("train.py",
          "import os, json, cv2, mine, yaml\nimport azureml.logging\ntry:\n  import ujson\n"
          "except ImportError:\n  pass\n");
    write("mine.py", "import sklearn\n");
    write("requirements.txt", "# packages\nPyYAML>=3 ; python_version > '3'\nscikit_learn\n");
    EXPECT_THAT(
        check("train.py"),
        ElementsAre("train.py:1:18: notice: 'requirements.txt' names no package for module 'cv2' "
                    "[module-missing]",
                    "train.py:4:10: notice: 'requirements.txt' names no package for module 'ujson' "
                    "[module-missing]"));
    const auto files = read_script_files(folder_.path(), "train.py");
    ASSERT_TRUE(files);
    write("lib/yaml/__init__.py", "");
    write("lib/scikit_learn-1.3.0.dist-info/METADATA", "");
    const auto known = packages_in({folder_.path() / "lib"}, "there");
    EXPECT_EQ(known.version_of("scikit-learn"), "1.3.0");
    std::vector<std::string> lines;
    for (const auto& each : check_script(*files, known))
        lines.push_back(to_text(each) + " " + each.hint);
    EXPECT_THAT(lines,
                ElementsAre("mine.py:1:8: warning: module 'sklearn' is not installed in there "
                            "[module-missing] Install the package 'scikit-learn'.",
                            "train.py:1:18: warning: module 'cv2' is not installed in there "
                            "[module-missing] Install the package 'opencv-python'.",
                            "train.py:4:10: notice: module 'ujson' is not installed in there "
                            "[module-missing] Install the package 'ujson'."));
}

TEST_F(ScriptCheck, CellsOfANotebookAreOneScript)
{
    write("x.ipynb",
          R"({"nbformat": 4, "cells": [
{"cell_type": "code", "source": ["%matplotlib inline\n", "import pandas as pd"]},
{"cell_type": "markdown", "source": "import cntk"},
{"cell_type": "code", "source": "!ls\npd.Panel()\ndf.ix[0]"}]})");
    EXPECT_THAT(
        check("x.ipynb"),
        ElementsAre("x.ipynb, cell 2:2:1: warning: 'pandas.Panel' was removed in pandas 0.25 "
                    "[old-name]",
                    "x.ipynb, cell 2:3:4: warning: '.ix[' was removed in pandas 1.0 [old-name]"));
}

TEST_F(ScriptCheck, OddFilesEndNothing)
{
    write("a.py", "import b\nfrom .. import c\nfrom");
    write("b.py", "import a, '''");
    EXPECT_THAT(check("a.py"), IsEmpty());
    EXPECT_EQ(check("none.py").size(), 1U);
    std::filesystem::create_symlink(folder_.path(), folder_.path() / "loop");
    write("a.py", "import loop.loop.loop.a\n");
    EXPECT_THAT(check("a.py"), IsEmpty());
}

TEST(OldNamesTable, TheRowThatFitsBestCounts)
{
    EXPECT_EQ(find_old_name("sklearn.externals.joblib.dump")->name, "sklearn.externals.joblib");
    EXPECT_EQ(find_old_name("sklearn.externals.other")->name, "sklearn.externals");
    EXPECT_EQ(find_old_name("tensorflow.app.flags.DEFINE_string")->name, "tensorflow.app.flags");
    EXPECT_EQ(find_old_name("numpy.float32"), nullptr);
    EXPECT_EQ(find_old_name("tensorflow.compat.v1.placeholder"), nullptr);
    EXPECT_EQ(find_old_name(""), nullptr);
    EXPECT_TRUE(is_earlier("0.9", "0.10"));
    EXPECT_TRUE(is_earlier("0.19.1", "0.20"));
    EXPECT_FALSE(is_earlier("1.0", "1.0"));
    EXPECT_FALSE(is_earlier("1.0.1", "1.0"));
    EXPECT_FALSE(is_earlier("2", "1.24"));
}

TEST(ModulesOfEveryRun, AreThere)
{
    for (const auto* file : {"azureml/logging/__init__.py",
                             "ponk/azureml_pieces/dataprep/package.py",
                             "ponk/azureml_pieces/api/realtime/services.py",
                             "ponk/azureml_pieces/assets/__init__.py",
                             "ponk/azureml_pieces/datacollector/__init__.py",
                             "ponk/azureml_pieces/sdk/data_collector.py",
                             "ponk/azureml_pieces/core/run.py",
                             "azureml_sdk/data_collector.py",
                             "dataprep/Package.py"})
        EXPECT_TRUE(std::filesystem::exists(os::Path(PONK_SOURCE_DIR) / "python" / file)) << file;
    EXPECT_TRUE(is_in_every_run("azureml.core.Run.get_context"));
    EXPECT_FALSE(is_in_every_run("azureml.core.Workspace"));
    EXPECT_TRUE(is_in_every_run("azureml.api"));
    EXPECT_TRUE(is_in_every_run("azureml"));
    EXPECT_FALSE(is_in_every_run("azure"));
    EXPECT_FALSE(is_in_every_run("azureml.api.schema.schemaUtil"));
    EXPECT_FALSE(is_in_every_run("azureml.apis"));
    EXPECT_TRUE(is_in_standard_library("os.path"));
    EXPECT_FALSE(is_in_standard_library("numpy"));
    EXPECT_EQ(distribution_of("sklearn.svm"), "scikit-learn");
    EXPECT_EQ(distribution_of("PIL"), "pillow");
}

}  // namespace
}  // namespace ponk::config
