// SPDX-License-Identifier: Apache-2.0
#include "doubles/executor_contract.hpp"

#include "base/text.hpp"

#include <thread>

namespace ponk::executor {

TreeStore script_trees(Scripts scripts)
{
    TreeStore trees;
    trees.materialise =
        [scripts](const JobSpec&, const Path& to, std::stop_token) -> Result<Notices> {
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

JobSpec ExecutorContract::job(const std::string& script)
{
    auto spec = target_.spec;
    spec.id = RunId::make();
    spec.token = to_hex(random_bytes(16));
    spec.directory = root_ / "runs" / spec.id.text();
    spec.script = script + target_.script_suffix;
    jobs_[spec.id.text()] = spec.id.text();  // what a run is called before it was launched
    return spec;
}

std::string ExecutorContract::start(const JobSpec& spec)
{
    const auto staged = target_.executor->stage(spec, [](const std::string&) {}, {});
    EXPECT_TRUE(staged) << staged.error().message();
    const auto job = target_.executor->launch(spec, {});
    EXPECT_TRUE(job) << job.error().message();
    return jobs_[spec.id.text()] = job.value_or("");
}

JobStatus ExecutorContract::follow(const JobSpec& spec, JobPhase phase)
{
    JobStatus status;
    const auto deadline = after(30s);
    while (status.phase != phase && Deadline::clock::now() < deadline) {
        const auto next =
            target_.executor->sync(jobs_[spec.id.text()], spec.directory, status, deadline, {});
        EXPECT_TRUE(next) << next.error().message();
        if (!next) break;
        status = *next;
        if (status.phase == JobPhase::ended || status.phase == JobPhase::lost) break;
    }
    EXPECT_EQ(status.phase, phase) << status.reason;
    return status;
}

std::string ExecutorContract::log_of(const JobSpec& spec)
{
    return os::read_file(spec.directory / "log").value_or("(no log)");
}

TEST_P(ExecutorContract, ARunEndsWithItsTrueCodeAndLog)
{
    const auto spec = job("three");
    start(spec);

    const auto status = follow(spec);

    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->status(), 3);
    EXPECT_EQ(status.exit->cause, "script");
    EXPECT_GT(status.started, 0);
    EXPECT_EQ(log_of(spec), "no newline at the end");
    EXPECT_EQ(status.log_length, log_of(spec).size());
    EXPECT_EQ(status.exit->log_length, log_of(spec).size());
    EXPECT_EQ(status.exit->log_sha256, sha256(log_of(spec)).text());
}

TEST_P(ExecutorContract, ArgumentsArriveUntouched)
{
    auto spec = job("hello");
    spec.arguments = {"two words", "", "--flag=$HOME", "quote'\"", "\xff\xfe", "*", "-x"};
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    EXPECT_EQ(log_of(spec), "hello\ntwo words\n\n--flag=$HOME\nquote'\"\n\xff\xfe\n*\n-x\n");
}

TEST_P(ExecutorContract, LaunchingAgainStartsNothing)
{
    const auto spec = job("hello");
    const auto job = start(spec);

    EXPECT_EQ(start(spec), job);
    follow(spec);
    EXPECT_EQ(start(spec), job);

    follow(spec);
    EXPECT_EQ(log_of(spec), "hello\n");
}

TEST_P(ExecutorContract, SyncReturnsAtItsDeadlineWhenNothingIsNew)
{
    const auto spec = job("wait");
    start(spec);
    JobStatus status = follow(spec, JobPhase::running);
    while (log_of(spec) != "ready\n" || status.log_length != 6) {
        status =
            *target_.executor->sync(jobs_[spec.id.text()], spec.directory, status, after(1s), {});
    }

    const auto later =
        target_.executor->sync(jobs_[spec.id.text()], spec.directory, status, after(20ms), {});

    ASSERT_TRUE(later);
    EXPECT_EQ(later->phase, JobPhase::running);
    EXPECT_TRUE(target_.executor->cancel(jobs_[spec.id.text()], spec.directory, 5s));
    follow(spec);
}

TEST_P(ExecutorContract, SyncEndsWhenAskedToStop)
{
    const auto spec = job("wait");
    start(spec);
    JobStatus status = follow(spec, JobPhase::running);
    while (status.log_length != 6) {
        status =
            *target_.executor->sync(jobs_[spec.id.text()], spec.directory, status, after(1s), {});
    }

    std::stop_source stop;
    std::jthread asker([&stop] {
        std::this_thread::sleep_for(20ms);
        stop.request_stop();
    });
    const auto stopped = target_.executor->sync(
        jobs_[spec.id.text()], spec.directory, status, after(60s), stop.get_token());

    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind(), ErrorKind::cancelled);
    EXPECT_TRUE(target_.executor->cancel(jobs_[spec.id.text()], spec.directory, 5s));
    follow(spec);
}

TEST_P(ExecutorContract, CancelEndsARunAndSaysSo)
{
    const auto spec = job("wait");
    start(spec);
    follow(spec, JobPhase::running);

    EXPECT_TRUE(target_.executor->cancel(jobs_[spec.id.text()], spec.directory, 5s));

    const auto status = follow(spec);
    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->cause, "cancel");
    EXPECT_TRUE(target_.executor->cancel(jobs_[spec.id.text()], spec.directory, 5s))
        << "gone is fine";
}

TEST_P(ExecutorContract, OutputsAreCollected)
{
    const auto with = job("output");
    const auto without = job("hello");
    start(with);
    start(without);
    follow(with);
    follow(without);

    const auto some = target_.executor->collect(jobs_[with.id.text()], with.directory, {}, {});
    const auto none =
        target_.executor->collect(jobs_[without.id.text()], without.directory, {}, {});

    ASSERT_TRUE(some);
    EXPECT_TRUE(some->outputs);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->outputs);
}

TEST_P(ExecutorContract, AMissingScriptIsNamed)
{
    const auto spec = job("nowhere");
    ASSERT_TRUE(target_.executor->stage(spec, [](const std::string&) {}, {}));

    const auto launched = target_.executor->launch(spec, {});

    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().kind(), ErrorKind::not_found);
    EXPECT_NE(launched.error().message().find(spec.script), std::string::npos);
}

TEST_P(ExecutorContract, CleaningKeepsTheLogAndTheRecord)
{
    const auto spec = job("hello");
    start(spec);
    follow(spec);

    ASSERT_TRUE(target_.executor->clean(jobs_[spec.id.text()], spec.directory));
    ASSERT_TRUE(target_.executor->clean(jobs_[spec.id.text()], spec.directory)) << "twice is fine";

    EXPECT_EQ(log_of(spec), "hello\n");
    EXPECT_EQ(follow(spec).exit->status(), 0);
    EXPECT_FALSE(std::filesystem::exists(spec.directory / "work"));
}

TEST_P(ExecutorContract, ManyRunsAtOnce)
{
    std::vector<JobSpec> specs;
    for (int i = 0; i < 6; ++i)
        specs.push_back(job(i % 2 == 0 ? "hello" : "three"));
    for (const auto& spec : specs)
        start(spec);

    for (std::size_t i = 0; i < specs.size(); ++i)
        EXPECT_EQ(follow(specs[i]).exit->status(), i % 2 == 0 ? 0 : 3);
}

}  // namespace ponk::executor
