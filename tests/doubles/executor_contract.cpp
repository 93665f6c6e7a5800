// SPDX-License-Identifier: Apache-2.0
#include "doubles/executor_contract.hpp"

#include "base/text.hpp"

#include <thread>

namespace ponk::executor {

TreeStore script_trees(Scripts scripts)
{
    TreeStore trees;
    trees.materialise = [scripts](const Job&, const Path& to, std::stop_token) -> Result<Notices> {
        TRY(os::make_directories(to));
        for (const auto& [name, text] : scripts)
            TRY(os::replace_file(to / name, text));
        return Notices();
    };
    trees.store = [](const Path& folder, std::stop_token) -> Result<Collected> {
        return Collected{sha256(TRY(os::read_file(folder / "model.txt"))), {}};
    };
    return trees;
}

using namespace std::chrono_literals;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExecutorContract);

void ExecutorContract::SetUp()
{
    root_ = os::make_temporary_directory(testing::TempDir(), "contract-").value();
    target_ = GetParam().make(root_);
}

void ExecutorContract::TearDown()
{
    target_.executor.reset();
    // A supervisor that has told its end may still be tidying up.
    auto removed = os::remove_tree(root_);
    for (int attempt = 0; !removed && attempt < 50; ++attempt) {
        std::this_thread::sleep_for(100ms);
        removed = os::remove_tree(root_);
    }
    EXPECT_TRUE(removed);
}

Job ExecutorContract::make_job(const std::string& script)
{
    auto job = target_.job;
    job.spec.id = RunId::make();
    job.context.token = to_hex(random_bytes(16));
    job.context.directory = RunDirectory(root_ / "runs" / job.spec.id.text());
    job.spec.program.script = script + target_.script_suffix;
    return job;
}

std::string ExecutorContract::start(const Job& job)
{
    const auto staged = target_.executor->stage(job, [](const std::string&) {}, {});
    EXPECT_TRUE(staged) << staged.error().message();
    const auto handle = target_.executor->launch(job, {});
    EXPECT_TRUE(handle) << handle.error().message();
    return handles_[job.spec.id.text()] = handle.value_or("");
}

std::string ExecutorContract::handle_of(const Job& job) const
{
    const auto found = handles_.find(job.spec.id.text());
    return found == handles_.end() ? job.spec.id.text() : found->second;
}

JobStatus ExecutorContract::follow(const Job& job, JobPhase phase)
{
    JobStatus status;
    const auto deadline = after(30s);
    while (status.phase != phase && Deadline::clock::now() < deadline) {
        const auto next =
            target_.executor->sync(handle_of(job), job.context.directory, status, deadline, {});
        EXPECT_TRUE(next) << next.error().message();
        if (!next) break;
        status = *next;
        if (status.phase == JobPhase::ended || status.phase == JobPhase::lost) break;
    }
    EXPECT_EQ(status.phase, phase) << status.reason;
    return status;
}

std::string ExecutorContract::log_of(const Job& job)
{
    return os::read_file(job.context.directory.task() / "log").value_or("(no log)");
}

TEST_P(ExecutorContract, ARunEndsWithItsTrueCodeAndLog)
{
    const auto job = make_job("three");
    start(job);

    const auto status = follow(job);

    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->status(), 3);
    EXPECT_EQ(status.exit->cause, "script");
    EXPECT_GT(status.started, 0);
    EXPECT_EQ(log_of(job), "no newline at the end");
    EXPECT_EQ(status.log_length, log_of(job).size());
    EXPECT_EQ(status.exit->log_length, log_of(job).size());
    EXPECT_EQ(status.exit->log_sha256, sha256(log_of(job)).text());
}

TEST_P(ExecutorContract, ArgumentsArriveUntouched)
{
    auto job = make_job("hello");
    job.spec.program.arguments = {
        "two words", "", "--flag=$HOME", "quote'\"", "\xff\xfe", "*", "-x"};
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);

    EXPECT_EQ(log_of(job), "hello\ntwo words\n\n--flag=$HOME\nquote'\"\n\xff\xfe\n*\n-x\n");
}

TEST_P(ExecutorContract, LaunchingAgainStartsNothing)
{
    const auto job = make_job("hello");
    const auto handle = start(job);

    EXPECT_EQ(start(job), handle);
    follow(job);
    EXPECT_EQ(start(job), handle);

    follow(job);
    EXPECT_EQ(log_of(job), "hello\n");
}

TEST_P(ExecutorContract, SyncReturnsAtItsDeadlineWhenNothingIsNew)
{
    const auto job = make_job("wait");
    start(job);
    JobStatus status = follow(job, JobPhase::running);
    while (log_of(job) != "ready\n" || status.log_length != 6) {
        status =
            *target_.executor->sync(handle_of(job), job.context.directory, status, after(1s), {});
    }

    const auto later =
        target_.executor->sync(handle_of(job), job.context.directory, status, after(20ms), {});

    ASSERT_TRUE(later);
    EXPECT_EQ(later->phase, JobPhase::running);
    EXPECT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 5s));
    follow(job);
}

TEST_P(ExecutorContract, SyncEndsWhenAskedToStop)
{
    const auto job = make_job("wait");
    start(job);
    JobStatus status = follow(job, JobPhase::running);
    while (status.log_length != 6) {
        status =
            *target_.executor->sync(handle_of(job), job.context.directory, status, after(1s), {});
    }

    std::stop_source stop;
    std::jthread asker([&stop] {
        std::this_thread::sleep_for(20ms);
        stop.request_stop();
    });
    const auto stopped = target_.executor->sync(
        handle_of(job), job.context.directory, status, after(60s), stop.get_token());

    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind(), ErrorKind::cancelled);
    EXPECT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 5s));
    follow(job);
}

TEST_P(ExecutorContract, CancelEndsARunAndSaysSo)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);

    EXPECT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 5s));

    const auto status = follow(job);
    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->cause, "cancel");
    EXPECT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 5s))
        << "gone is fine";
}

TEST_P(ExecutorContract, OutputsAreCollected)
{
    const auto with = make_job("output");
    const auto without = make_job("hello");
    start(with);
    start(without);
    follow(with);
    follow(without);

    const auto some = target_.executor->collect(handle_of(with), with.context.directory, {}, {});
    const auto none =
        target_.executor->collect(handle_of(without), without.context.directory, {}, {});

    ASSERT_TRUE(some);
    EXPECT_TRUE(some->outputs);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->outputs);
}

TEST_P(ExecutorContract, AMissingScriptIsNamed)
{
    const auto job = make_job("nowhere");
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));

    const auto launched = target_.executor->launch(job, {});

    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().kind(), ErrorKind::not_found);
    EXPECT_NE(launched.error().message().find(job.spec.program.script), std::string::npos);
}

TEST_P(ExecutorContract, CleaningKeepsTheLogAndTheRecord)
{
    const auto job = make_job("hello");
    start(job);
    follow(job);

    ASSERT_TRUE(target_.executor->clean(handle_of(job), job.context.directory));
    ASSERT_TRUE(target_.executor->clean(handle_of(job), job.context.directory)) << "twice is fine";

    EXPECT_EQ(log_of(job), "hello\n");
    EXPECT_EQ(follow(job).exit->status(), 0);
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.work()));
}

TEST_P(ExecutorContract, ManyRunsAtOnce)
{
    std::vector<Job> jobs;
    for (int i = 0; i < 6; ++i)
        jobs.push_back(make_job(i % 2 == 0 ? "hello" : "three"));
    for (const auto& job : jobs)
        start(job);

    for (std::size_t i = 0; i < jobs.size(); ++i)
        EXPECT_EQ(follow(jobs[i]).exit->status(), i % 2 == 0 ? 0 : 3);
}

}  // namespace ponk::executor
