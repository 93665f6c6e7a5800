// SPDX-License-Identifier: Apache-2.0
#include "executor/events/event_test_support.hpp"
#include "executor/local/local_test_support.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"

#include <thread>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(Local,
                         ExecutorContract,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Here,
                         LocalExecutor,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

TEST_P(LocalExecutor, TheScriptSeesItsFolderUmaskAndSharedFolder)
{
    auto job = make_job("folder");
    job.context.umask = 027;
    job.spec.runtime.shared_directory = (root_ / "shared/p").string();
    start(job);
    follow(job);

    EXPECT_EQ(log_of(job),
              job.context.directory.work().string() + "\n0027\n" + (root_ / "shared/p").string() +
                  "/\n");
}

TEST_P(LocalExecutor, TheEnvironmentArrivesByteForByte)
{
    auto job = make_job("environment");
    job.spec.program.variables = {
        {"LINES_", "a\nb"}, {"BYTES", "\xff\xfe"}, {"QUOTES", "'\"`$(x)"}, {"EMPTY", ""}};
    start(job);
    follow(job);

    const auto log = '\0' + log_of(job);
    for (const auto& [name, value] : job.spec.program.variables)
        EXPECT_NE(log.find('\0' + name + "=" + value + '\0'), std::string::npos) << name;
}

TEST_P(LocalExecutor, ARestartedDaemonFindsTheRun)
{
    const auto job = make_job("slow");
    start(job);
    target_.executor.reset();
    target_.executor = make_local(root_).executor;

    const auto status = follow(job);

    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "stub");
    EXPECT_EQ(log_of(job), "a\nb\n");
}

TEST_P(LocalExecutor, NumbersOfEventFilesAreInTheJournalWhileTheScriptRunsAndOnceInTheEnd)
{
    auto job = make_job("events");
    job.spec.program.tensorboard = "logs";
    ASSERT_TRUE(os::make_directories(job.context.directory.task()));
    ASSERT_TRUE(os::replace_file(job.context.directory.task() / "one",
                                 event_file_begin(1) + scalar_record("loss", 4, 0)));
    ASSERT_TRUE(
        os::replace_file(job.context.directory.task() / "two", scalar_record("loss", 2, 1)));
    ASSERT_TRUE(
        os::replace_file(job.context.directory.task() / "three", scalar_record("loss", 1, 2)));
    const auto points = [&] {
        const auto bytes =
            os::read_file(job.context.directory.task() / "journal/tensorboard.journal");
        return bytes ? model::read_journal(*bytes, 0).points : std::vector<model::MetricPoint>();
    };
    const auto follow_until = [&](std::size_t count) {
        const auto deadline = after(20s);
        JobStatus seen;
        while (points().size() < count && Deadline::clock::now() < deadline)
            seen = target_.executor
                       ->sync(job.spec.id.text(), job.context.directory, seen, after(5s), {})
                       .value();
        EXPECT_EQ(points().size(), count);
        EXPECT_EQ(seen.phase, JobPhase::running);
        EXPECT_GT(seen.journal_length, 0U);
    };
    start(job);
    follow_until(1);
    target_.executor.reset();
    let_forge(job);
    target_.executor = make_local(root_).executor;
    follow_until(2);
    target_.executor.reset();
    let_end(job);
    target_.executor = make_local(root_).executor;
    follow(job);

    ASSERT_EQ(points().size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(points()[i].key, "train/loss");
        EXPECT_EQ(points()[i].step, static_cast<std::int64_t>(i));
    }
}

// A run that began before this boot, with more lines of its file 'pid'.
class EarlierBoot : public LocalExecutor {
protected:
    Job begun_before(const std::string& lines)
    {
        const auto job = make_job("hello");
        EXPECT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));
        EXPECT_TRUE(os::make_directories(job.context.directory.task() / control::claim));
        const SealedFiles files(job.context.directory.task(), key_of(job));
        EXPECT_TRUE(files.publish(control::pid,
                                  "ponk-pid 1\nstub 1 1\nguard 1 1\nmain 1 1\nboot before\n" +
                                      lines + "end\n"));
        return job;
    }
};

INSTANTIATE_TEST_SUITE_P(Here,
                         EarlierBoot,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

TEST_P(EarlierBoot, AfterARebootTheRunIsLost)
{
    const auto job = begun_before("");

    EXPECT_EQ(follow(job, JobPhase::lost).reason, "the host was rebooted while the script ran");
}

// One home on a file system that two machines share.
TEST_P(EarlierBoot, RunOfAnotherMachineIsNotTakenForOneBeforeAReboot)
{
    const auto job = begun_before("machine node7.example\n");

    const auto status = target_.executor->sync(
        job.spec.id.text(), job.context.directory, {}, after(std::chrono::seconds(0)), {});
    const auto canceled = target_.executor->cancel(
        job.spec.id.text(), job.context.directory, std::chrono::seconds(1));

    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind(), ErrorKind::unreachable);
    EXPECT_NE(status.error().message().find("'node7.example'"), std::string::npos);
    ASSERT_FALSE(canceled);
    EXPECT_EQ(canceled.error().kind(), ErrorKind::unreachable);
    // The way out that the message names.
    ASSERT_TRUE(os::remove_tree(job.context.directory.root()));
    const auto removed = target_.executor->sync(
        job.spec.id.text(), job.context.directory, {}, after(std::chrono::seconds(0)), {});
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().kind(), ErrorKind::not_found) << removed.error().message();
}

TEST_P(LocalExecutor, AClaimWhoseOwnerDiedEarlyIsTakenOver)
{
    const auto job = make_job("hello");
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));
    ASSERT_TRUE(os::make_directories(job.context.directory.task() / control::claim));
    EXPECT_EQ(follow(job, JobPhase::lost).reason,
              "the supervisor was killed before the script started");

    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);
}

TEST_P(LocalExecutor, JournalsAreNews)
{
    const auto job = make_job("wait");
    start(job);
    auto status = follow(job, JobPhase::running);
    while (status.log_length != 6)
        status = *target_.executor->sync(
            job.spec.id.text(), job.context.directory, status, after(1s), {});
    std::jthread writer([&job] {
        std::this_thread::sleep_for(20ms);
        EXPECT_TRUE(os::replace_file(job.context.directory.task() / "journal/1.journal", "abc"));
    });

    const auto next =
        target_.executor->sync(job.spec.id.text(), job.context.directory, status, after(10s), {});

    EXPECT_EQ(next->journal_length, 3U);
    EXPECT_TRUE(target_.executor->cancel("", job.context.directory, 1s));
    follow(job);
}

}  // namespace
}  // namespace ponk::executor
