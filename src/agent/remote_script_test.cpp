// SPDX-License-Identifier: Apache-2.0
// Scripts that reach for what is not theirs.
#include "agent/remote_test_support.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/journals.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

TEST_P(RemoteExecutor, ALinkInThePlaceOfTheJournalsBringsNothingHome)
{
    const auto theirs = root_ / "machine/user/ssh";
    ASSERT_TRUE(os::make_directories(theirs));
    ASSERT_TRUE(os::replace_file(theirs / "authorized_keys", "ssh-ed25519 mine"));
    const auto spec = job("steal");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    EXPECT_EQ(log_of(spec), "done\n");
    EXPECT_TRUE(os::list_directory(spec.directory / "journal")->empty());
}

TEST_P(RemoteExecutor, ManyOddNamesAmongTheJournalsKeepNobodyFromTheEnd)
{
    const auto spec = job("clutter");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 6);
}

TEST_P(RemoteExecutor, AFileThatOnlyClaimsItsLengthNeitherFillsADiskNorKeepsAnybody)
{
    const auto spec = job("sparse");
    start(spec);

    const auto status = follow(spec);

    EXPECT_EQ(status.exit->status(), 5);
    EXPECT_EQ(status.exit->log_length, (std::uint64_t{20} << 30) + 6);
    EXPECT_EQ(status.exit->log_sha256, "") << "nobody waits for the digest of its zeros";
    const auto log = os::open_file(spec.directory / "log", O_RDONLY).value();
    EXPECT_EQ(os::read_at(log.get(), 0, 7).value(), "before\n");
    EXPECT_EQ(os::read_at(log.get(), std::uint64_t{20} << 30, 9).value(), "after\n");
    struct stat info {};
    ASSERT_EQ(::fstat(log.get(), &info), 0);
    // File systems allot a few MiB ahead of who writes.
    EXPECT_LT(info.st_blocks, (64 << 20) / 512);
    EXPECT_EQ(std::filesystem::file_size(spec.directory / "journal/j"), Journals::longest);
}

TEST_P(RemoteExecutor, ALinkInThePlaceOfTheWorkingCopyBringsNothingHome)
{
    const auto theirs = root_ / "machine/user/ssh";
    ASSERT_TRUE(os::make_directories(theirs));
    ASSERT_TRUE(os::replace_file(theirs / "id", "secret"));
    const auto spec = job("elsewhere");
    start(spec);
    EXPECT_EQ(follow(spec).exit->status(), 0);

    const auto work = executor().fetch_work(spec.id.text(), spec.directory, {});

    ASSERT_FALSE(work);
    EXPECT_EQ(work.error().kind(), ErrorKind::not_found);
}

TEST_P(RemoteExecutor, WhatIsHereOfALogThatItsScriptRemovedStays)
{
    const auto spec = job("lose");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 3);

    EXPECT_EQ(log_of(spec), "hello\n");
    EXPECT_FALSE(is_there(spec.directory / "log.first"));
}

TEST_P(RemoteExecutor, AScriptCannotNameOtherOutputsThanItsOwn)
{
    auto spec = job("forge");
    spec.arguments = {target_.spec.snapshot.text()};
    start(spec);
    ASSERT_EQ(follow(spec).exit->status(), 0);

    const auto collected = executor().collect(spec.id.text(), spec.directory, {}, {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    EXPECT_NE(*collected->outputs, target_.spec.snapshot);
}

}  // namespace
}  // namespace ponk::executor
