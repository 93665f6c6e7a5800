// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/ignore/travel_rules.hpp"
#include "config/ignore/what_travels.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "os/variables.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

namespace ponk::config {
namespace {

using Fate = TravelRules::Fate;

class Travel : public testing::Test {
protected:
    void SetUp() override
    {
        std::filesystem::create_directories(project_);
        std::filesystem::create_directories(home_);
    }

    void write(const std::string& path, const std::string& text = "x")
    {
        std::filesystem::create_directories((project_ / path).parent_path());
        ASSERT_TRUE(os::replace_file(project_ / path, text, 0644, os::Durable::no));
    }

    std::string git(std::vector<std::string> words, const os::Path& where = {})
    {
        os::Command command;
        command.argv = {"git", "-c", "user.name=n", "-c", "user.email=e"};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.directory = where.empty() ? project_ : where;
        const auto output = os::run(command, after(std::chrono::seconds(20)), {});
        EXPECT_TRUE(output && output->exit.status() <= 1)
            << words[0] << (output ? output->err : "");
        return output ? output->out : "";
    }

    // Every file that travels, as a walk finds them.
    std::set<std::string> travelling(const os::Path& below = {})
    {
        const auto root = below.empty() ? project_ : project_ / below;
        const auto rules = TravelRules::load(root);
        EXPECT_TRUE(rules) << rules.error().message();
        std::set<std::string> out;
        if (rules) walk(*rules, root, "", out);
        return out;
    }

    static void walk(const TravelRules& rules,
                     const os::Path& root,
                     const std::string& folder,
                     std::set<std::string>& out)
    {
        const auto here = rules.folder(folder);
        ASSERT_TRUE(here);
        for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
            const auto name = entry.path().lexically_relative(root).native();
            const bool is_folder = entry.is_directory() && !entry.is_symlink();
            const auto decision = rules.decide(**here, name, is_folder);
            ASSERT_TRUE(decision);
            if (decision->fate == Fate::left_out) continue;
            if (is_folder) {
                walk(rules, root, name, out);
            } else {
                out.insert(name);
            }
        }
    }

    TravelRules::Decision explain(const std::string& path, bool is_folder = false)
    {
        const auto rules = TravelRules::load(project_);
        EXPECT_TRUE(rules);
        return rules->explain(path, is_folder).value();
    }

    os::TestFolder folder_;
    os::Path project_ = folder_.path() / "project";
    os::Path home_ = folder_.path() / "home";
};

TEST_F(Travel, BuiltInRulesLeaveOutWhatNobodyWantsToSend)
{
    for (const auto* name : {"train.py",
                             ".venv/bin/python",
                             "env/pyvenv.cfg",
                             "env/lib/x.py",
                             "conda/conda-meta/history",
                             "conda/bin/python",
                             "cache/CACHEDIR.TAG",
                             "cache/blob",
                             "src/__pycache__/a.pyc",
                             "src/a.py",
                             "node_modules/x/index.js",
                             "wandb/run-1/log",
                             "src/wandb/__init__.py",
                             "mlruns/0/meta.yaml",
                             ".env",
                             ".env.local",
                             ".env.example",
                             "environment/__init__.py",
                             "outputs/model.pkl",
                             "src/outputs/a.py"})
        write(name);

    EXPECT_THAT(travelling(),
                testing::ElementsAre(".env.example",
                                     "environment/__init__.py",
                                     "src/a.py",
                                     "src/outputs/a.py",
                                     "src/wandb/__init__.py",
                                     "train.py"));
    EXPECT_EQ(explain(".venv/bin/python").rule, "built-in rule: .venv/");
    EXPECT_EQ(explain("env", true).rule, "built-in rule: a folder with pyvenv.cfg");
}

TEST_F(Travel, ALineSwitchesABuiltInRuleOff)
{
    write(".venv/bin/python");
    write(".venv/lib/__pycache__/a.pyc");
    write(".venv/.gitignore", "*\n");
    write("env/pyvenv.cfg");
    write("env/bin/python");
    write(".env");
    write(".amlignore", "!.venv/\n!/env/\n!.env\n");

    EXPECT_THAT(travelling(),
                testing::ElementsAre(".amlignore",
                                     ".env",
                                     ".venv/.gitignore",
                                     ".venv/bin/python",
                                     ".venv/lib/__pycache__/a.pyc",
                                     "env/bin/python",
                                     "env/pyvenv.cfg"));
}

TEST_F(Travel, ALineOfGitMustNameWhatABuiltInRuleLeavesOut)
{
    write(".gitignore", "*\n!*/\n!*.py\n!.gitignore\n!.env\n");
    write(".venv/lib/a.py");
    write(".env");
    write("src/a.py");
    write("src/data.bin");

    EXPECT_THAT(travelling(), testing::ElementsAre(".env", ".gitignore", "src/a.py"));
}

TEST_F(Travel, LinesOfAmlignoreWinOneByOne)
{
    write(".gitignore", "data/\n*.bin\nlogs/\n");
    write(".amlignore", "!data/small.csv\n!keep.bin\nnotes/\n");
    for (const auto* name :
         {"data/small.csv", "data/large.csv", "a.bin", "keep.bin", "notes/x", "logs/y", "train.py"})
        write(name);

    EXPECT_THAT(
        travelling(),
        testing::ElementsAre(".amlignore", ".gitignore", "data/small.csv", "keep.bin", "train.py"));
    EXPECT_EQ(explain("data/large.csv").rule, ".gitignore:1: data/");
    EXPECT_EQ(explain("notes/x").rule, ".amlignore:3: notes/");
}

TEST_F(Travel, AmlignoreAloneMeansWhatItMeantIn2017)
{
    write(".amlignore", "data/\n*.h5\n!keep.h5\n");
    for (const auto* name : {"data/x", "a.h5", "keep.h5", "train.py"})
        write(name);

    EXPECT_THAT(travelling(), testing::ElementsAre(".amlignore", "keep.h5", "train.py"));
}

TEST_F(Travel, AFileThatGitTracksTravelsWhateverIgnoresIt)
{
    for (const auto* name : {"data/.gitkeep",
                             "data/large.bin",
                             "wandb/settings",
                             "wandb/run/log",
                             "outputs/old.pkl",
                             "secret.bin",
                             "train.py"})
        write(name);
    write(".gitignore", "data/\n*.bin\n");
    git({"init", "-q"});
    git({"add",
         "-f",
         "data/.gitkeep",
         "wandb/settings",
         "outputs/old.pkl",
         "secret.bin",
         "train.py"});

    EXPECT_THAT(travelling(),
                testing::ElementsAre(
                    ".gitignore", "data/.gitkeep", "secret.bin", "train.py", "wandb/settings"))
        << "the run's own outputs begin empty";

    write(".amlignore", "secret.bin\n");
    EXPECT_EQ(travelling().count("secret.bin"), 0U);

    std::filesystem::remove(project_ / ".amlignore");
    git({"update-index", "--split-index"});
    EXPECT_EQ(travelling().count("secret.bin"), 1U) << "an index that only git reads";
}

TEST_F(Travel, TheFingerprintFollowsTheIndexAndTheRules)
{
    git({"init", "-q"});
    write(".gitignore", "*.bin\n");
    write("a.bin");
    const auto fingerprint = [this] { return TravelRules::load(project_)->fingerprint(); };
    const auto before = fingerprint();
    EXPECT_EQ(fingerprint(), before);

    git({"add", "-f", "a.bin"});
    const auto added = fingerprint();
    EXPECT_NE(added, before);
    ASSERT_TRUE(os::replace_file(project_ / ".git/info/exclude", "x\n"));
    EXPECT_NE(fingerprint(), added);
}

TEST_F(Travel, AProjectInAFolderThatItsRepositoryIgnoresIsOnItsOwn)
{
    git({"init", "-q"}, folder_.path());
    ASSERT_TRUE(os::replace_file(folder_.path() / ".gitignore", "*\n"));
    write("train.py");

    EXPECT_THAT(travelling(), testing::ElementsAre("train.py"));
}

TEST_F(Travel, ARepositoryInsideDecidesForItself)
{
    git({"init", "-q"});
    write(".gitignore", "*.txt\n");
    write("inner/a.txt");
    write("inner/b.bin");
    write("inner/c.bin");
    write("inner/.gitignore", "*.bin\n");
    git({"init", "-q"}, project_ / "inner");
    git({"add", "-f", "c.bin"}, project_ / "inner");

    EXPECT_THAT(
        travelling(),
        testing::ElementsAre(".gitignore", "inner/.gitignore", "inner/a.txt", "inner/c.bin"));
}

TEST_F(Travel, NoLineOfGitBringsBackVersionControlOrOldOutputs)
{
    git({"init", "-q"});
    write(".gitignore", "/*\n!/train.py\n!/outputs/\n!.git\n");
    write("outputs/old", "1");
    write("train.py", "1");

    EXPECT_THAT(travelling(), testing::ElementsAre("train.py"));
}

TEST_F(Travel, AFolderWithABrokenRepositoryObeysTheOneAbove)
{
    git({"init", "-q"});
    write(".gitignore", "*.key\n");
    write("empty/a.key");
    write("gone/a.key");
    std::filesystem::create_directories(project_ / "empty/.git");
    write("gone/.git", "gitdir: ../.git/modules/none\n");

    EXPECT_THAT(travelling(), testing::ElementsAre(".gitignore"));
}

TEST_F(Travel, AllOfAFolderThatAmlignoreNamesTravels)
{
    write(".gitignore", "data/\n*.csv\n");
    write(".amlignore", "!data/\n*.tmp\n");
    for (const auto* name : {"data/x.csv", "data/a.tmp", "other.csv"})
        write(name);

    EXPECT_THAT(travelling(), testing::ElementsAre(".amlignore", ".gitignore", "data/x.csv"));
}

TEST_F(Travel, OddExcludesFilesMeanWhatTheyMeanToGit)
{
    git({"init", "-q"});
    write("a.zz");
    git({"config", "core.excludesFile", "/dev/null"});
    EXPECT_THAT(travelling(), testing::ElementsAre("a.zz"));
    git({"config", "core.excludesFile", ""});
    EXPECT_THAT(travelling(), testing::ElementsAre("a.zz"));

    // A file that includes itself, which git refuses, and one that git cannot read.
    const auto config = os::read_file(project_ / ".git/config").value();
    for (const auto* more : {"[include]\n path = config\n path = config\n path = config\n",
                             "[alias]\n y = \"!echo \\$HOME\"\n"}) {
        ASSERT_TRUE(os::replace_file(project_ / ".git/config", config + more));
        const auto rules = TravelRules::load(project_);
        ASSERT_FALSE(rules) << more;
        EXPECT_THAT(rules.error().message(), testing::HasSubstr("git cannot read its settings"));
    }
}

TEST_F(Travel, LinksAndFoldersInThePlaceOfAnIgnoreFileHaveNoRules)
{
    write("rules", "*.log\n");
    write("a.log");
    write("sub/.gitignore/x");
    std::filesystem::create_symlink("rules", project_ / ".gitignore");

    EXPECT_THAT(travelling(),
                testing::ElementsAre(".gitignore", "a.log", "rules", "sub/.gitignore/x"));
}

TEST_F(Travel, ALookAtTheProjectSaysHowLargeItIsAndWhatStays)
{
    write("data/large", std::string(5000, 'x'));
    write("train.py", "12345");
    write(".venv/x", "1");

    const auto found = what_travels(project_, *TravelRules::load(project_)).value();

    EXPECT_EQ(found.files, 2U);
    EXPECT_EQ(found.bytes, 5005U);
    EXPECT_EQ(found.largest.at(0).name, "data/");
    ASSERT_EQ(found.left_out.size(), 1U);
    EXPECT_EQ(found.left_out[0].path, ".venv/");
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_FALSE(what_travels(project_, *TravelRules::load(project_), {}, stopped.get_token()));
}

// The same files as `git ls-files` tells, of a tree with ignore files in many places.
TEST_F(Travel, TheRulesAreThoseOfGit)
{
    git({"init", "-q"});
    git({"config", "core.excludesFile", (home_ / "excludes").native()});
    ASSERT_TRUE(os::replace_file(home_ / "excludes", "*.swp\n!kept.swp\nsub/only-*\n"));
    ASSERT_TRUE(os::replace_file(project_ / ".git/info/exclude", "/private\n*.key\n"));
    write(".gitignore", "*.log\n/build/\n!important.log\ndeep/**/skip\n");
    write("a/.gitignore", "!*.log\n*.tmp\n/top\nb/named\n");
    write("a/b/.gitignore", "*\n!.gitignore\n!x.py\n");
    write("c/.gitignore", "\xEF\xBB\xBF# none\r\n*.crlf\r\n");
    for (const auto* name :
         {"x.log",          "important.log",   "build/x",     "a/x.log",     "a/y.tmp",
          "a/top",          "a/z/top",         "a/b/x.py",    "a/b/y.py",    "a/b/named",
          "a/b/c/x.py",     "deep/1/2/skip/f", "deep/skip/f", "deep/1/keep", "private/f",
          "a/private",      "a/x.key",         "e.swp",       "kept.swp",    "sub/only-one",
          "x/sub/only",     "c/f.crlf",        "c/f.other",   "c/d/g.crlf",  "d/build/x",
          "a/important.log"})
        write(name);
    const auto expected = [&](const os::Path& below) {
        std::set<std::string> names;
        for (auto& name :
             split(git({"ls-files", "-z", "--others", "--cached", "--exclude-standard"},
                       below.empty() ? project_ : project_ / below),
                   '\0')) {
            if (!name.empty()) names.insert(std::move(name));
        }
        return names;
    };

    EXPECT_EQ(travelling(), expected({}));
    for (const auto* below : {"a", "a/b", "c", "c/d", "deep/1"})
        EXPECT_EQ(travelling(below), expected(below)) << below;
}

}  // namespace
}  // namespace ponk::config
