// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/command_line.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace ponk::executor {
namespace {

class CommandLineTest : public testing::Test {
protected:
    void SetUp() override
    {
        root_ = os::make_temporary_directory(testing::TempDir(), "command-").value();
        write("tree/train.py", "", 0644);
        job_.spec.program.script = "train.py";
        job_.spec.program.framework = "Python";
        environment_ = {"PATH=" + (root_ / "bin").string() + ":/usr/bin:/bin"};
    }
    void TearDown() override { EXPECT_TRUE(os::remove_tree(root_)); }

    void write(const std::string& name, std::string_view text, mode_t mode)
    {
        const auto file = root_ / name;
        ASSERT_TRUE(os::make_directories(file.parent_path()));
        ASSERT_TRUE(os::replace_file(file, text, mode));
    }
    Result<CommandLine> line() { return command_line(job_, root_ / "tree", environment_, {}); }

    Path root_;
    Job job_;
    std::vector<std::string> environment_;
};

TEST_F(CommandLineTest, PrefersPythonThenPython3)
{
    environment_ = {"PATH=" + (root_ / "bin").string()};
    write("bin/python3", "", 0755);
    EXPECT_EQ(line()->program, root_ / "bin/python3");

    write("bin/python", "", 0755);
    job_.spec.program.arguments = {"--epochs", "3"};

    EXPECT_EQ(
        line()->argv,
        (std::vector<std::string>{(root_ / "bin/python").string(), "train.py", "--epochs", "3"}));
}

TEST_F(CommandLineTest, SaysWhenThereIsNoPython)
{
    environment_ = {"PATH=" + root_.string()};

    const auto none = line();

    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(), "neither 'python' nor 'python3' is on PATH");
    EXPECT_FALSE(none.error().hint().empty());
}

TEST_F(CommandLineTest, PythonLocationIsAPathOrAName)
{
    write("bin/mypython", "", 0755);
    write("tree/env/python", "", 0755);

    job_.spec.program.interpreter = "mypython";
    EXPECT_EQ(line()->program, root_ / "bin/mypython");
    job_.spec.program.interpreter = (root_ / "bin/mypython").string();
    EXPECT_EQ(line()->program, root_ / "bin/mypython");
    job_.spec.program.interpreter = "env/python";
    EXPECT_EQ(line()->program, root_ / "tree/env/python");
}

TEST_F(CommandLineTest, AnUnusablePythonLocationIsNamedWithTheReason)
{
    write("bin/plain", "", 0644);
    job_.spec.program.interpreter = (root_ / "bin/plain").string();
    EXPECT_EQ(line().error().message(),
              "python '" + job_.spec.program.interpreter + "' is not executable");
    job_.spec.program.interpreter = (root_ / "bin").string();
    EXPECT_EQ(line().error().message(),
              "python '" + job_.spec.program.interpreter + "' is a folder");
    job_.spec.program.interpreter = "/no/python";
    EXPECT_EQ(line().error().message(), "python '/no/python' does not exist");
    job_.spec.program.interpreter = "nopython";
    EXPECT_EQ(line().error().message(), "python 'nopython' is not on PATH");
}

TEST_F(CommandLineTest, PySparkUsesSparkSubmit)
{
    write("bin/python", "", 0755);
    write("bin/spark-submit", "", 0755);
    job_.spec.program.framework = "PySpark";
    job_.spec.program.spark_options = {"--master", "local[2]"};
    job_.spec.program.arguments = {"x"};

    const auto found = line();

    ASSERT_TRUE(found);
    EXPECT_EQ(found->program, root_ / "bin/spark-submit");
    EXPECT_EQ(found->argv,
              (std::vector<std::string>{
                  found->program.string(), "--master", "local[2]", "train.py", "x"}));
    EXPECT_EQ(found->variables.at(0).first, "PYSPARK_PYTHON");
}

TEST_F(CommandLineTest, PySparkFindsThePackageOfTheInterpreter)
{
    const auto submit = root_ / "site/pyspark/bin/spark-submit";
    write("site/pyspark/bin/spark-submit", "", 0755);
    write("bin/python", "#!/bin/sh\necho " + submit.string() + "\n", 0755);
    job_.spec.program.framework = "PySpark";

    EXPECT_EQ(line()->program, submit);
}

TEST_F(CommandLineTest, SaysWhatPySparkLacks)
{
    write("bin/python", "#!/bin/sh\necho\n", 0755);
    job_.spec.program.framework = "PySpark";

    const auto none = line();

    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind(), ErrorKind::not_found);
    EXPECT_NE(none.error().message().find("'spark-submit' is not on PATH"), std::string::npos);
    EXPECT_NE(none.error().hint().find("pip install pyspark"), std::string::npos);
}

TEST_F(CommandLineTest, ACommandOfItsOwnIsTakenAsItIs)
{
    write("tree/go.sh", "", 0755);
    job_.spec.program.command = {"sh", "-c", "true"};
    EXPECT_EQ(line()->argv, job_.spec.program.command);
    job_.spec.program.command = {"./go.sh"};
    EXPECT_EQ(line()->program, root_ / "tree/./go.sh");
    job_.spec.program.command = {"no-such-program"};
    EXPECT_EQ(line().error().message(), "program 'no-such-program' is not on PATH");
}

TEST_F(CommandLineTest, AScriptThatLooksLikeAnOptionIsNoOption)
{
    write("tree/-c", "", 0644);
    job_.spec.program.script = "-c";

    EXPECT_EQ(line()->argv.at(1), "./-c");
}

}  // namespace
}  // namespace ponk::executor
