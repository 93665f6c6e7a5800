// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease_note.hpp"
#include "gpu/lease/lock_file.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using testing::HasSubstr;

class UmaskOf {
public:
    explicit UmaskOf(mode_t mask) : before_(::umask(mask)) {}
    ~UmaskOf() { ::umask(before_); }
    UmaskOf(const UmaskOf&) = delete;
    UmaskOf& operator=(const UmaskOf&) = delete;

private:
    mode_t before_;
};

mode_t mode_of(const Path& path)
{
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
}

class LockFile : public testing::Test {
protected:
    os::TestFolder place;
    Path folder = place.path() / "locks";
};

TEST_F(LockFile, FolderAndFilesAreForAllUsersWhateverTheUmaskSays)
{
    const UmaskOf mask(0077);

    const auto opened = make_lock_folder(folder);
    ASSERT_TRUE(opened) << opened.error().message();
    const auto file = open_lock_file(opened->get(), "GPU-1.lock");
    ASSERT_TRUE(file) << file.error().message();

    EXPECT_EQ(mode_of(folder), 01777U);
    EXPECT_EQ(mode_of(folder / "GPU-1.lock") & 0777U, 0666U);
}

TEST_F(LockFile, FolderThatIsALinkOrNotForAllIsRefused)
{
    ASSERT_EQ(::mkdir((place.path() / "other").c_str(), 0700), 0);
    ASSERT_EQ(::chmod((place.path() / "other").c_str(), 01777), 0);
    ASSERT_EQ(::symlink("other", folder.c_str()), 0);
    EXPECT_THAT(make_lock_folder(folder).error().message(), HasSubstr("is a link"));

    ASSERT_EQ(::unlink(folder.c_str()), 0);
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
    for (const mode_t mode : {0700U, 0777U, 01775U}) {
        ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
        const auto refused = make_lock_folder(folder);
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().hint(), HasSubstr("chmod 1777"));
    }
}

TEST_F(LockFile, MachinesWithoutARunLockForAllUseVarTmp)
{
    const auto root = place.path();
    EXPECT_EQ(lock_folder_of_machine(root), root / "var/tmp/ponk-gpu");

    std::filesystem::create_directories(root / "run/lock");
    ::chmod((root / "run/lock").c_str(), 0755);
    EXPECT_EQ(lock_folder_of_machine(root), root / "var/tmp/ponk-gpu");

    ::chmod((root / "run/lock").c_str(), 01777);
    EXPECT_EQ(lock_folder_of_machine(root), root / "run/lock/ponk-gpu");
}

TEST_F(LockFile, WhatIsNoPlainFileOfOneNameIsRefused)
{
    const auto opened = make_lock_folder(folder).value();
    ASSERT_EQ(::mkfifo((folder / "fifo.lock").c_str(), 0666), 0);
    ASSERT_EQ(::symlink("/etc/passwd", (folder / "link.lock").c_str()), 0);
    ASSERT_EQ(::mkdir((folder / "folder.lock").c_str(), 0777), 0);
    ASSERT_TRUE(open_lock_file(opened.get(), "two.lock"));
    ASSERT_EQ(::link((folder / "two.lock").c_str(), (folder / "names.lock").c_str()), 0);

    for (const auto* name : {"fifo.lock", "link.lock", "folder.lock", "two.lock", "names.lock"})
        EXPECT_FALSE(open_lock_file(opened.get(), name)) << name;
    EXPECT_THAT(open_lock_file(opened.get(), "two.lock").error().message(),
                HasSubstr("several names"));
}

TEST_F(LockFile, ExclusiveBecomesSharedAndKeepsOthersOut)
{
    const auto opened = make_lock_folder(folder).value();
    auto first = open_lock_file(opened.get(), "a").value();
    const auto second = open_lock_file(opened.get(), "a").value();

    EXPECT_FALSE(is_locked(second.get()).value());
    EXPECT_TRUE(try_lock(first.get(), LockKind::exclusive).value());
    EXPECT_FALSE(try_lock(second.get(), LockKind::shared).value());
    EXPECT_TRUE(try_lock(first.get(), LockKind::shared).value());
    EXPECT_FALSE(try_lock(second.get(), LockKind::exclusive).value());
    EXPECT_TRUE(try_lock(second.get(), LockKind::shared).value());
    first.reset();
    EXPECT_FALSE(is_locked(second.get()).value());
    EXPECT_TRUE(try_lock(second.get(), LockKind::exclusive).value());
}

TEST_F(LockFile, NameThatStandsForAnotherFileIsSeen)
{
    const auto opened = make_lock_folder(folder).value();
    const auto file = open_lock_file(opened.get(), "a").value();
    EXPECT_TRUE(is_named(opened.get(), "a", file.get()));

    ASSERT_EQ(::unlink((folder / "a").c_str()), 0);
    EXPECT_FALSE(is_named(opened.get(), "a", file.get()));
    const auto again = open_lock_file(opened.get(), "a").value();
    EXPECT_FALSE(is_named(opened.get(), "a", file.get()));
    EXPECT_TRUE(is_named(opened.get(), "a", again.get()));
}

TEST_F(LockFile, NoteSurvivesAndForeignBytesDoNoHarm)
{
    const LeaseNote note{.owner = {.user = "ann", .run = "0197", .pid = 12, .since = 5},
                         .selection =
                             Selection{.kind = Selection::Kind::count, .count = 2, .uuids = {}}};
    const auto text = to_text(note);
    EXPECT_EQ(text, "{\"user\":\"ann\",\"run\":\"0197\",\"pid\":12,\"since\":5,\"gpus\":\"2\"}\n");
    ASSERT_TRUE(parse_lease_note(text));
    EXPECT_EQ(to_text(*parse_lease_note(text)), text);

    for (const auto& bad :
         {std::string(),
          std::string("{}\n"),
          text.substr(0, text.size() - 1),
          std::string(100'000, '['),
          text + text,
          std::string("{\"user\":\"a\",\"run\":\"b\",\"pid\":-1,\"since\":0}\n"),
          std::string("{\"user\":\"a\",\"run\":\"b\",\"pid\":99999999999,\"since\":0}\n"),
          std::string("{\"user\":\"a\",\"run\":\"b\",\"pid\":1,\"since\":0,\"gpus\":7}\n"),
          "{\"user\":\"" + std::string(300, 'a') + "\",\"run\":\"b\",\"pid\":1,\"since\":0}\n"})
        EXPECT_FALSE(parse_lease_note(bad)) << bad.substr(0, 80);
    const auto rude = parse_lease_note(
        "{\"user\":\"\\u001b[2J\\u202e\",\"run\":\"b\\nc\",\"pid\":1,\"since\":0}\n");
    ASSERT_TRUE(rude);
    EXPECT_EQ(rude->owner.user, "\\x1b[2J\\u202e");
    EXPECT_EQ(rude->owner.run, "b\\nc");
}

}  // namespace
}  // namespace ponk::gpu
