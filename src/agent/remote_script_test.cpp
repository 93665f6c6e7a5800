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
    const auto job = make_job("steal");
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);

    EXPECT_EQ(log_of(job), "done\n");
    EXPECT_TRUE(os::list_directory(job.context.directory.task() / "journal")->empty());
}

TEST_P(RemoteExecutor, ManyOddNamesAmongTheJournalsKeepNobodyFromTheEnd)
{
    const auto job = make_job("clutter");
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 6);
}

TEST_P(RemoteExecutor, AFileThatOnlyClaimsItsLengthNeitherFillsADiskNorKeepsAnybody)
{
    const auto job = make_job("sparse");
    start(job);

    const auto status = follow(job);

    EXPECT_EQ(status.exit->status(), 5);
    EXPECT_EQ(status.exit->log_length, (std::uint64_t{20} << 30) + 6);
    EXPECT_EQ(status.exit->log_sha256, "") << "nobody waits for the digest of its zeros";
    const auto log = os::open_file(job.context.directory.task() / "log", O_RDONLY).value();
    EXPECT_EQ(os::read_at(log.get(), 0, 7).value(), "before\n");
    EXPECT_EQ(os::read_at(log.get(), std::uint64_t{20} << 30, 9).value(), "after\n");
    struct stat info {};
    ASSERT_EQ(::fstat(log.get(), &info), 0);
    // File systems allot a few MiB ahead of who writes.
    EXPECT_LT(info.st_blocks, (64 << 20) / 512);
    EXPECT_EQ(std::filesystem::file_size(job.context.directory.task() / "journal/j"),
              Journals::longest);
}

TEST_P(RemoteExecutor, ALinkInThePlaceOfTheWorkingCopyBringsNothingHome)
{
    const auto theirs = root_ / "machine/user/ssh";
    ASSERT_TRUE(os::make_directories(theirs));
    ASSERT_TRUE(os::replace_file(theirs / "id", "secret"));
    const auto job = make_job("elsewhere");
    start(job);
    EXPECT_EQ(follow(job).exit->status(), 0);

    const auto work =
        executor().working_copies()->fetch(job.spec.id.text(), job.context.directory, {});

    ASSERT_FALSE(work);
    EXPECT_EQ(work.error().kind(), ErrorKind::not_found);
}

TEST_P(RemoteExecutor, WhatIsHereOfALogThatItsScriptRemovedStays)
{
    const auto job = make_job("lose");
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 3);

    EXPECT_EQ(log_of(job), "hello\n");
    EXPECT_FALSE(is_there(job.context.directory.task() / "log.first"));
}

TEST_P(RemoteExecutor, AScriptCannotNameOtherOutputsThanItsOwn)
{
    auto job = make_job("forge");
    job.spec.program.arguments = {target_.job.spec.snapshot.text()};
    start(job);
    ASSERT_EQ(follow(job).exit->status(), 0);

    const auto collected = executor().collect(job.spec.id.text(), job.context.directory, {}, {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    EXPECT_NE(*collected->outputs, target_.job.spec.snapshot);
}

}  // namespace
}  // namespace ponk::executor
