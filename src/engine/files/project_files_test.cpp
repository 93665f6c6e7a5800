// SPDX-License-Identifier: Apache-2.0
#include "engine/files/project_files.hpp"
#include "os/directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace ponk::engine {
namespace {

class ProjectFiles : public testing::Test {
protected:
    ProjectFiles() : root_(*os::make_temporary_directory(testing::TempDir(), "ponk-files-"))
    {
        std::filesystem::create_directories(project_ / "code" / ".git");
        std::filesystem::create_directories(root_ / "beside");
        put("code/train.py", "print(1)\n");
        static_cast<void>(os::replace_file(root_ / "beside" / "secret", "s3cret"));
    }
    ~ProjectFiles() override { static_cast<void>(os::remove_tree(root_)); }

    void put(const std::string& name, std::string_view text, mode_t mode = 0644)
    {
        ASSERT_TRUE(os::replace_file(project_ / name, text, mode));
    }
    std::string text(const std::string& name) { return *os::read_file(project_ / name); }
    ErrorKind read_problem(const std::string& path)
    {
        const auto file = open_project_file(project_, path);
        return file ? ErrorKind::internal : file.error().kind();
    }
    static FileText edit(std::string text, const std::string& before)
    {
        return {std::move(text), sha256(before)};
    }
    // Names in the folder, to see that nothing was left there.
    std::vector<std::string> names(const std::string& path)
    {
        std::vector<std::string> all;
        const auto list = list_folder(project_, path);
        for (const auto& entry : list->entries)
            all.push_back(entry.name);
        return all;
    }

    os::Path root_;
    os::Path project_ = root_ / "project";
};

TEST_F(ProjectFiles, AFolderIsListedWithWhatEachEntryIs)
{
    std::filesystem::create_symlink("../beside/secret", project_ / "link");
    ASSERT_EQ(::mkfifo((project_ / "pipe").c_str(), 0600), 0);
    const auto list = *list_folder(project_, "");
    ASSERT_EQ(list.entries.size(), 3U);
    EXPECT_EQ(list.left_out, 0U);
    EXPECT_EQ(list.entries[0].name, "code");
    EXPECT_EQ(list.entries[0].kind, FolderEntry::Kind::folder);
    EXPECT_EQ(list.entries[1].kind, FolderEntry::Kind::link);
    EXPECT_EQ(list.entries[1].leads_to, "../beside/secret");
    EXPECT_EQ(list.entries[1].size, 0U);
    EXPECT_EQ(list.entries[2].kind, FolderEntry::Kind::other);
    EXPECT_EQ(list_folder(project_, "code")->entries[1].size, 9U);
    EXPECT_EQ(list_folder(project_, "none").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(list_folder(project_, "code/train.py").error().kind(), ErrorKind::not_found);
}

TEST_F(ProjectFiles, NoPathLeavesTheProject)
{
    std::filesystem::create_symlink(root_ / "beside", project_ / "away");
    std::filesystem::create_symlink("code", project_ / "inside");
    for (const std::string path : {"../beside/secret",
                                   "code/../../beside/secret",
                                   "/etc/passwd",
                                   "away/secret",
                                   "inside/train.py",
                                   "code/train.py/..",
                                   ""}) {
        EXPECT_EQ(read_problem(path), ErrorKind::invalid_argument) << path;
        EXPECT_FALSE(store_text(project_, path, edit("x", "s3cret"))) << path;
        EXPECT_FALSE(store_text(project_, path, {"x", std::nullopt})) << path;
    }
    EXPECT_EQ(read_problem(std::string("code/train.py\0.txt", 18)), ErrorKind::invalid_argument);
    EXPECT_FALSE(store_text(project_, std::string("a\0b", 3), {"x", std::nullopt}));
    for (const std::string path : {"..", "away", "/", "code/.."})
        EXPECT_EQ(list_folder(project_, path).error().kind(), ErrorKind::invalid_argument) << path;
    EXPECT_EQ(*os::read_file(root_ / "beside" / "secret"), "s3cret");
    EXPECT_EQ(text("code/train.py"), "print(1)\n");
}

TEST_F(ProjectFiles, OnlyPlainFilesAreOpened)
{
    ASSERT_EQ(::mkfifo((project_ / "pipe").c_str(), 0600), 0);  // opening it would wait
    EXPECT_EQ(read_problem("pipe"), ErrorKind::invalid_argument);
    EXPECT_EQ(read_problem("code"), ErrorKind::invalid_argument);
    EXPECT_EQ(read_problem("none"), ErrorKind::not_found);
    EXPECT_EQ(store_text(project_, "pipe", edit("x", "")).error().kind(),
              ErrorKind::invalid_argument);
    if (::mknod((project_ / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
        EXPECT_EQ(read_problem("null"), ErrorKind::invalid_argument);
    }
}

TEST_F(ProjectFiles, AStoredTextReplacesTheFileAndKeepsItsModeAndLineEnds)
{
    put("run.sh", "#!/bin/sh\r\ntrue\r\n", 0750);
    const auto stored = store_text(project_, "run.sh", edit("#!/bin/sh\nfalse\n", text("run.sh")));
    ASSERT_TRUE(stored) << stored.error().message();
    EXPECT_EQ(text("run.sh"), "#!/bin/sh\r\nfalse\r\n");
    EXPECT_EQ(stored->digest, sha256(text("run.sh")));
    EXPECT_EQ(stored->size, 18U);
    struct stat info {};
    ASSERT_EQ(::stat((project_ / "run.sh").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0750U);
    EXPECT_EQ(names(""), (std::vector<std::string>{"code", "run.sh"}));
    const FileText given{"a\n", stored->digest, FileText::LineEnds::as_given};
    ASSERT_TRUE(store_text(project_, "run.sh", given));
    EXPECT_EQ(text("run.sh"), "a\n");
}

TEST_F(ProjectFiles, AFileThatWasChangedMeanwhileIsAConflictThatLosesNothing)
{
    const std::string read = text("code/train.py");
    put("code/train.py", "print(2)\n");
    const auto refused = store_text(project_, "code/train.py", edit("print(3)\n", read));
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(text("code/train.py"), "print(2)\n");
    EXPECT_EQ(store_text(project_, "code/train.py", {"x", std::nullopt}).error().kind(),
              ErrorKind::conflict);
    EXPECT_EQ(store_text(project_, "gone.py", edit("x", "y")).error().kind(), ErrorKind::conflict);
    EXPECT_EQ(names("code"), (std::vector<std::string>{".git", "train.py"}));
}

TEST_F(ProjectFiles, OfWritersThatReadTheSameOneWins)
{
    for (int round = 0; round < 50; ++round) {
        const auto before = text("code/train.py");
        std::vector<std::thread> writers;
        std::atomic<int> won = 0;
        std::atomic<int> kept = -1;
        for (int i = 0; i < 4; ++i) {
            writers.emplace_back([&, i] {
                const auto mine = fmt::format("round {} writer {}\n", round, i);
                if (store_text(project_, "code/train.py", edit(mine, before))) {
                    ++won;
                    kept = i;
                }
            });
        }
        for (auto& writer : writers)
            writer.join();
        ASSERT_EQ(won, 1);
        ASSERT_EQ(text("code/train.py"), fmt::format("round {} writer {}\n", round, kept.load()));
    }
    EXPECT_EQ(names("code"), (std::vector<std::string>{".git", "train.py"}));
}

TEST_F(ProjectFiles, NewFilesAreMadeInFoldersThatAreThere)
{
    ASSERT_TRUE(store_text(project_, "code/new.py", {"x\r\n", std::nullopt}));
    EXPECT_EQ(text("code/new.py"), "x\r\n");
    EXPECT_EQ(store_text(project_, "none/new.py", {"x", std::nullopt}).error().kind(),
              ErrorKind::not_found);
}

TEST_F(ProjectFiles, WhatIsProtectedOrTooLongOrGitsIsNotWritten)
{
    put("kept.py", "a", 0444);
    EXPECT_EQ(store_text(project_, "kept.py", edit("b", "a")).error().kind(),
              ErrorKind::unavailable);
    const std::string longest(longest_text, 'x');
    ASSERT_TRUE(store_text(project_, "long.txt", {longest, std::nullopt}));
    EXPECT_EQ(store_text(project_, "long.txt", edit(longest + "x", longest)).error().kind(),
              ErrorKind::invalid_argument);
    for (const std::string path : {"code/.git/config", "code/.GIT/hooks/post-checkout", ".git"}) {
        EXPECT_EQ(store_text(project_, path, {"x", std::nullopt}).error().kind(),
                  ErrorKind::invalid_argument)
            << path;
    }
}

TEST_F(ProjectFiles, AFolderThatIsGoneIsSaid)
{
    EXPECT_EQ(list_folder(root_ / "none", "").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(open_project_file(root_ / "none", "a").error().kind(), ErrorKind::not_found);
}

}  // namespace
}  // namespace ponk::engine
