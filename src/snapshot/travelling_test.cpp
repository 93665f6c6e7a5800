// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "os/process.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <gmock/gmock.h>

namespace ponk::snapshot {
namespace {

using testing::ElementsAre;

// Snapshots by the rules of projects, each with the stat cache of the one before.
class Travelling : public SnapshotTest {
protected:
    SnapshotReport look()
    {
        const auto rules = config::TravelRules::load(project_);
        auto by_rules = options();
        by_rules.ignore.rules = &*rules;
        by_rules.ignore.fingerprint = rules->fingerprint();
        auto report = take_snapshot(store_, by_rules);
        EXPECT_TRUE(report) << report.error().message();
        // What a cache says must be what is there.
        auto without_cache = by_rules;
        without_cache.cache_file.clear();
        EXPECT_EQ(take_snapshot(store_, without_cache)->id, report->id);
        return std::move(*report);
    }
    std::vector<std::string> files()
    {
        auto paths = paths_of(store_, look().id);
        std::erase_if(paths, [this](const auto& path) {
            return std::filesystem::is_directory(project_ / path);
        });
        return paths;
    }
    void git(std::vector<std::string> words, const os::Path& where = {})
    {
        os::Command command;
        command.argv = {"git"};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.directory = project_ / where;
        EXPECT_TRUE(os::run(command, after(std::chrono::seconds(20)), {}));
    }
};

TEST_F(Travelling, AnIgnoreFileThatChangesInAFolderCountsForAllBelow)
{
    write("a/b/c/x.log", "1");
    write("a/b/c/x.py", "1");
    write("a/.gitignore", "*.tmp\n");
    age();
    EXPECT_THAT(files(), ElementsAre("a/.gitignore", "a/b/c/x.log", "a/b/c/x.py"));

    write("a/.gitignore", "*.log\n");
    EXPECT_THAT(files(), ElementsAre("a/.gitignore", "a/b/c/x.py"));
    age();
    EXPECT_THAT(files(), ElementsAre("a/.gitignore", "a/b/c/x.py"));

    std::filesystem::remove(project_ / "a/.gitignore");
    EXPECT_THAT(files(), ElementsAre("a/b/c/x.log", "a/b/c/x.py"));
}

TEST_F(Travelling, AnIgnoreFileThatIgnoresItselfIsReadEachTime)
{
    write("a/.gitignore", "*\n!keep\n");
    write("a/keep", "1");
    write("a/other", "1");
    age();
    EXPECT_THAT(files(), ElementsAre("a/keep"));

    write("a/.gitignore", "*\n!other\n");
    EXPECT_THAT(files(), ElementsAre("a/other"));
}

TEST_F(Travelling, AFolderThatBecomesAnEnvironmentIsLeftOut)
{
    write("env/tool.py", "1");
    age();
    EXPECT_THAT(files(), ElementsAre("env/tool.py"));

    write("env/pyvenv.cfg", "1");
    EXPECT_THAT(files(), ElementsAre());
}

TEST_F(Travelling, WhatGitBeginsToTrackTravelsAtOnceInInnerRepositoriesToo)
{
    git({"init", "-q"});
    write(".gitignore", "*.bin\n");
    write("sub/a.bin", "1");
    write("inner/.gitignore", "*.bin\n");
    write("inner/deep/b.bin", "1");
    git({"init", "-q"}, "inner");
    age();
    EXPECT_THAT(files(), ElementsAre(".gitignore", "inner/.gitignore"));

    git({"add", "-f", "sub/a.bin"});
    EXPECT_THAT(files(), ElementsAre(".gitignore", "inner/.gitignore", "sub/a.bin"));
    git({"add", "-f", "deep/b.bin"}, "inner");
    EXPECT_THAT(files(),
                ElementsAre(".gitignore", "inner/.gitignore", "inner/deep/b.bin", "sub/a.bin"));
}

TEST_F(Travelling, RulesThatGoAreNoticedWhereverTheyWere)
{
    write("a/.gitignore", ".gitignore\n*.log\n");
    write("a/b/x.log", "1");
    write("data/CACHEDIR.TAG", "1");
    write("data/x", "1");
    write("e/conda-meta/other", "1");
    write("e/f", "1");
    write("inner/d/x.log", "1");
    git({"init", "-q"}, "inner");
    write("inner/.git/info/exclude", "*.log\n");
    age();
    EXPECT_THAT(files(), ElementsAre("e/conda-meta/other", "e/f"));
    EXPECT_THAT(files(), ElementsAre("e/conda-meta/other", "e/f"));

    std::filesystem::remove(project_ / "a/.gitignore");
    EXPECT_THAT(files(), ElementsAre("a/b/x.log", "e/conda-meta/other", "e/f"));
    std::filesystem::remove(project_ / "data/CACHEDIR.TAG");
    EXPECT_THAT(files(), ElementsAre("a/b/x.log", "data/x", "e/conda-meta/other", "e/f"));
    write("e/conda-meta/history", "1");
    EXPECT_THAT(files(), ElementsAre("a/b/x.log", "data/x"));
    ASSERT_TRUE(os::remove_tree(project_ / "inner/.git"));
    EXPECT_THAT(files(), ElementsAre("a/b/x.log", "data/x", "inner/d/x.log"));
}

TEST_F(Travelling, WhatWasLeftOutIsCountedAlsoWhenNothingChanged)
{
    write(".venv/bin/python", "1");
    write(".env", "1");
    write("a/__pycache__/x.pyc", "1");
    write("a/x.py", "1");
    write("outputs/model", "1");
    age();
    for (int round = 0; round < 3; ++round) {
        const auto report = look();
        EXPECT_EQ(report.left_out.files, 1U);
        EXPECT_EQ(report.left_out.folders, 2U);
        EXPECT_EQ(report.left_out.summary(), "left out: .env, .venv/, a/__pycache__/");
        if (round == 1) write("a/x.py", "2");
    }
}

TEST_F(Travelling, AFileOfSecretsThatGitTracksIsToldAlsoWhenNothingChanged)
{
    git({"init", "-q"});
    for (const auto* name : {".env", "a/.env.prod", "a/.env.example", "a/.envrc", "b/.env"})
        write(name, "KEY=1");
    git({"add", "-f", "."});
    write(".gitignore", ".env.prod\n!/b/.env\n");
    age();
    for (int round = 0; round < 2; ++round) {
        EXPECT_THAT(look().notices,
                    ElementsAre("'.env', 'a/.env.prod' may hold secrets, and travel with the run "
                                "because git tracks them; lines of .amlignore with their paths "
                                "keep them out"));
    }
    write(".amlignore", "/.env\n!/a/.env.prod\n");
    EXPECT_THAT(look().notices, ElementsAre());
    EXPECT_THAT(files(), testing::Not(testing::Contains(".env")));
}

}  // namespace
}  // namespace ponk::snapshot
