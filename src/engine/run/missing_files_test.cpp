// SPDX-License-Identifier: Apache-2.0
#include "engine/run/missing_files.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace ponk::engine {
namespace {

using testing::HasSubstr;

class MissingFiles : public testing::Test {
protected:
    void SetUp() override
    {
        spec_.program.script = "train.py";
        spec_.run_configuration = "local";
        std::filesystem::create_directories(folder_.path() / "data/deep dir");
        for (const auto* name : {"data/x.csv", "data/deep dir/y.pt", "train.py", ".env"})
            ASSERT_TRUE(os::replace_file(folder_.path() / name, "1", 0644, os::Durable::no));
        ASSERT_TRUE(os::replace_file(folder_.path() / ".gitignore", "data/\n"));
    }
    std::string advice(const std::string& log)
    {
        return advise_on_missing_files(log, folder_.path(), {"/runs/1/copy", "/azureml-run"}, spec_)
            .value_or("");
    }

    model::RunSpec spec_;
    os::TestFolder folder_;
};

TEST_F(MissingFiles, TheOptionThatHelpsIsNamed)
{
    EXPECT_EQ(advice("FileNotFoundError: [Errno 2] No such file or directory: 'data/x.csv'\n"),
              "'data/x.csv' exists in the project, but does not travel with runs (.gitignore:1: "
              "data/). Give it to the run: ponk submit --input data train.py");
}

TEST_F(MissingFiles, AreRecognisedInTheWordsOfManyPrograms)
{
    for (const auto* line :
         {"FileNotFoundError: [Errno 2] No such file or directory: '/runs/1/copy/data/x.csv'",
          "FileNotFoundError: File b'./data/x.csv' does not exist",
          "OSError: data/x.csv not found.",
          "cat: data/x.csv: No such file or directory",
          "tensorflow.errors.NotFoundError: data/x.csv; No such file or directory",
          "RuntimeError: Couldn't find any class folder in /azureml-run/data.",
          "FileNotFoundError: No such file: \"data/deep dir/y.pt\""})
        EXPECT_THAT(advice(std::string("noise\n") + line + "\nmore\n"), HasSubstr("--input data"))
            << line;
    EXPECT_THAT(advice("No such file or directory: '.env'"), HasSubstr("--input .env"));
}

TEST_F(MissingFiles, TheAdviceFitsWhatWasSubmitted)
{
    const auto* const line = "No such file or directory: 'data/x.csv'";
    spec_.program.module = "pkg.train";
    spec_.program.arguments = {"--name", "two words"};
    EXPECT_THAT(advice(line),
                HasSubstr("ponk submit --input data -m pkg.train --name 'two words'"));
    spec_.program = {};
    spec_.program.command = {"torchrun", "train.py"};
    spec_.program.script = "torchrun";
    EXPECT_THAT(advice(line), HasSubstr("ponk submit --input data -- torchrun train.py"));
    spec_.program.command = {"sh", "-c", "python train.py"};
    spec_.program.script = "main";
    EXPECT_THAT(advice(line), HasSubstr("ponk submit --input data main …"));
}

TEST_F(MissingFiles, TheAdviceRepeatsWhatElseWasChosen)
{
    const auto* const line = "No such file or directory: 'data/x.csv'";
    spec_.run_configuration = "gpu box";
    spec_.location.kind = model::Location::Kind::host;
    spec_.inputs = {
        {.path = "train.py", .source = std::filesystem::canonical(folder_.path() / "train.py")},
        {.path = "other", .source = "/srv/other"},
        {.path = "data/deep dir", .source = "/srv/deep"}};
    EXPECT_THAT(advice(line),
                HasSubstr("ponk submit -c 'gpu box' --input train.py --input other=/srv/other "
                          "--input data train.py"));
}

TEST_F(MissingFiles, PathsBeginWhereTheScriptStarted)
{
    std::filesystem::create_directories(folder_.path() / "sub/data");
    ASSERT_TRUE(os::replace_file(folder_.path() / "sub/data/z", "1", 0644, os::Durable::no));
    spec_.program.folder = "sub";
    spec_.program.script = "sub/train.py";
    EXPECT_THAT(advice("No such file or directory: '../data/x.csv'"),
                HasSubstr("ponk submit --input data train.py"));
    EXPECT_THAT(advice("No such file or directory: 'data/z'"),
                HasSubstr("ponk submit --input sub/data train.py"));
    EXPECT_THAT(advice("No such file or directory: '/runs/1/copy/data/x.csv'"),
                HasSubstr("--input data train.py"));
    EXPECT_EQ(advice("No such file or directory: '../../data/x.csv'"), "");
}

TEST_F(MissingFiles, NothingIsSaidWhereTheRulesAreNotTheCause)
{
    EXPECT_EQ(advice("No such file or directory: 'other.csv'"), "");
    EXPECT_EQ(advice("No such file or directory: 'train.py'"), "");
    EXPECT_EQ(advice("reading 'data/x.csv'\nValueError: bad\n"), "");
    EXPECT_EQ(advice("No such file or directory: '../../etc/passwd'"), "");
    EXPECT_EQ(advice(""), "");
}

}  // namespace
}  // namespace ponk::engine
