// SPDX-License-Identifier: Apache-2.0
#include "store/history/history_test_support.hpp"

#include <csignal>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ponk::store {
namespace {

// What the child tells after each call that returned.
struct Acknowledged {
    char id[32];
    std::uint64_t offset;  // of its journal
    int state;
    std::uint64_t logged;  // points of requests
};

void tell(int out, const RunId& id, std::uint64_t offset, RunState state, std::uint64_t logged = 0)
{
    Acknowledged message{{}, offset, static_cast<int>(state), logged};
    id.text().copy(message.id, sizeof message.id);
    if (::write(out, &message, sizeof message) != sizeof message) ::_exit(2);
}

// One point for each byte of the journal, so that a lost or doubled one shows.
[[noreturn]] void write_for_ever(const Path& folder, int out)
{
    const auto history = History::open(folder);
    if (!history) ::_exit(1);
    for (;;) {
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        if (!(*history)->create_run(run)) ::_exit(1);
        tell(out, run.id, 0, RunState::not_started);
        if (!(*history)->update_state(run.id, RunState::not_started, RunState::starting))
            ::_exit(1);
        tell(out, run.id, 0, RunState::starting);
        for (std::uint64_t offset = 0; offset < 20; offset += 4) {
            JournalBatch batch{"m", offset, offset + 4, {}};
            for (std::uint64_t i = offset; i < offset + 4; ++i)
                batch.points.push_back({"loss", static_cast<double>(i), {}, 0, 0});
            if (!(*history)->record_metrics(run.id, batch)) ::_exit(1);
            tell(out, run.id, batch.to, RunState::starting);
        }
        for (std::uint64_t n = 0; n < 10; ++n) {
            const auto value = static_cast<std::int64_t>(n);
            const std::vector<model::MetricPoint> points{
                {"live", static_cast<double>(n), {}, value, 0}};
            if (!(*history)->log_points(run.id, points)) ::_exit(1);
            tell(out, run.id, 20, RunState::starting, n + 1);
            if (n % 4 == 3 && !(*history)->find_metric(run.id, "live")) ::_exit(1);
        }
        if (!(*history)->update_state(run.id, RunState::starting, RunState::failed)) ::_exit(1);
        tell(out, run.id, 20, RunState::failed, 10);
    }
}

class CrashTest : public HistoryTest {
protected:
    void check(const Acknowledged& told, std::uint64_t seed) const
    {
        const auto id = RunId::parse(std::string(told.id, sizeof told.id)).value();
        const auto run = history_->get_run(id);
        ASSERT_TRUE(run) << "seed " << seed << ": " << run.error().message();
        EXPECT_GE(static_cast<int>(run->state), told.state);
        const auto offset = history_->journal_offset(id, "m").value();
        EXPECT_GE(offset, told.offset);
        const auto points = history_->metric_series(id, "loss").value();
        ASSERT_EQ(points.size(), offset) << "seed " << seed;
        for (std::size_t i = 0; i < points.size(); ++i)
            EXPECT_EQ(points[i].value, static_cast<double>(i));
        const auto logged = history_->metric_series(id, "live").value();
        EXPECT_GE(logged.size(), told.logged) << "seed " << seed;
        for (std::size_t i = 0; i < logged.size(); ++i)
            EXPECT_EQ(logged[i].value, static_cast<double>(i)) << "seed " << seed;
    }
};

TEST_F(CrashTest, AKillAtAnyMomentLosesNothingThatWasAcknowledged)
{
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::size_t seen = 0;
    for (int round = 0; round < 20; ++round) {
        history_.reset();
        auto pipe = os::make_pipe().value();
        const pid_t child = ::fork();
        if (child == 0) write_for_ever(folder_, pipe.write.get());
        pipe.write.reset();
        std::vector<Acknowledged> told;
        Acknowledged message{};
        const auto last = 1 + random() % 60;
        while (told.size() < last &&
               ::read(pipe.read.get(), &message, sizeof message) == sizeof message)
            told.push_back(message);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        while (::read(pipe.read.get(), &message, sizeof message) == sizeof message)
            told.push_back(message);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << status;

        history_ = History::open(folder_).value();

        EXPECT_FALSE(history_->opening().clean_stop);
        EXPECT_EQ(history_->opening().outcome, Opening::Outcome::opened);
        for (const auto& acknowledged : told)
            check(acknowledged, seed);
        seen += told.size();
    }
    EXPECT_TRUE(history_->check_integrity());
    EXPECT_GT(seen, 20U);
}

}  // namespace
}  // namespace ponk::store
