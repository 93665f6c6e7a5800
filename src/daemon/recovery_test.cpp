// SPDX-License-Identifier: Apache-2.0
#include "daemon/recovery.hpp"
#include "engine/plan/resolve_run.hpp"
#include "engine/run/run_note.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::daemon {
namespace {

using namespace std::chrono_literals;

// A home whose history was lost, with the folder of a run that used a secret.
class Recovery : public testing::Test {
protected:
    Recovery()
    {
        EXPECT_TRUE(secrets_.set("token", "a long enough value"));
        model::RunSpec spec;
        spec.program.variables = {{"TOKEN", "secret:token"}};
        run_.id = RunId::make();
        run_.project = "p";
        run_.state = model::RunState::completed;
        run_.configuration = to_json(spec);
        const auto directory = context_.run_directory(run_.id);
        EXPECT_TRUE(os::make_directories(directory.task() / "journal"));
        EXPECT_TRUE(engine::write_last_note(directory.root(), run_));
        EXPECT_TRUE(os::replace_file(
            directory.task() / "journal/1.journal",
            model::journal_record(JsonObject{{"metric", "loss"}, {"value", 0.5}, {"step", 1}})));
    }

    // Away, and what stands there cannot be read: as a keyring that is locked.
    void lock_secrets() const
    {
        const auto files = os::list_directory(folder_).value();
        for (const auto& entry : files) {
            std::filesystem::rename(folder_ / entry.name, aside_ / entry.name);
            EXPECT_TRUE(os::replace_file(folder_ / entry.name, "locked"));
        }
    }
    void unlock_secrets() const
    {
        const auto files = os::list_directory(aside_).value();
        for (const auto& entry : files)
            std::filesystem::rename(aside_ / entry.name, folder_ / entry.name);
    }

    os::TestFolder place_;
    os::Path folder_ = place_.path() / "secrets";
    os::Path aside_ = place_.path() / "aside";
    std::unique_ptr<store::History> history_ =
        store::History::open(place_.path() / "history").value();
    snapshot::ObjectStore objects_ = snapshot::ObjectStore::open(place_.path() / "store").value();
    secrets::Secrets secrets_{place_.path(), secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    engine::Notifier notifier_;
    engine::Context context_{place_.path(), *history_, objects_, secrets_, executors_, notifier_};
    model::Run run_;
};

TEST_F(Recovery, RunsWhoseSecretsCannotBeReadAreNotImportedYet)
{
    ASSERT_TRUE(os::make_directories(aside_));
    MetricsToRead left{import_run_directories(context_).value()};
    ASSERT_EQ(left.runs, std::vector{run_.id});
    lock_secrets();

    left = import_metrics(context_, std::move(left), after(10s));

    EXPECT_TRUE(left.runs.empty());
    EXPECT_EQ(left.put_off, std::vector{run_.id});
    EXPECT_TRUE(import_is_unfinished(*history_).value());
    EXPECT_TRUE(history_->latest_metrics(run_.id, {})->empty());

    unlock_secrets();
    left = import_metrics(context_, {std::move(left.put_off)}, after(10s));

    EXPECT_TRUE(left.put_off.empty());
    EXPECT_FALSE(import_is_unfinished(*history_).value());
    EXPECT_EQ(history_->latest_metrics(run_.id, {})->size(), 1U);
}

}  // namespace
}  // namespace ponk::daemon
