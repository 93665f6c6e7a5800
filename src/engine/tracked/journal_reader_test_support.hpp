// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tracked/child_of.hpp"
#include "engine/tracked/journal_reader.hpp"
#include "os/test_folder.hpp"
#include "store/models/models.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace ponk::engine {

class JournalReaders : public testing::Test {
protected:
    os::TestFolder place_;
    std::unique_ptr<store::History> history_ =
        std::move(*store::History::open(place_.path() / "history"));
    snapshot::ObjectStore objects_ =
        std::move(*snapshot::ObjectStore::open(place_.path() / "store"));
    secrets::Secrets secrets_{place_.path(), secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    Notifier notifier_;
    Context context_{place_.path(), *history_, objects_, secrets_, executors_, notifier_};

    // A run that history knows, with a folder for journals.
    RunId begin_run()
    {
        EXPECT_TRUE(history_->put_project({"p", "p", place_.path()}));
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        EXPECT_TRUE(history_->create_run(run));
        EXPECT_TRUE(os::make_directories(context_.run_directory(run.id).task() / "journal"));
        return run.id;
    }
    void put(const RunId& run, const std::string& name, const std::string& text)
    {
        std::ofstream(context_.run_directory(run).task() / "journal" / name, std::ios::app) << text;
    }
    static std::string point(int step)
    {
        return model::journal_record(
            JsonObject{{"metric", "loss"}, {"value", 0.5}, {"step", step}, {"time", 1000}});
    }
    [[nodiscard]] std::int64_t last_step(const RunId& run) const
    {
        const auto latest = history_->latest_metrics(run, {});
        return latest && latest->size() == 1 ? latest->front().point.step : -1;
    }
    static int read_all(JournalReader& reader)
    {
        int calls = 1;
        while (reader.read_some({}) == JournalReader::Progress::more)
            ++calls;
        return calls;
    }
};

}  // namespace ponk::engine
