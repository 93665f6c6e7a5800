// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_fields.hpp"
#include "os/test_folder.hpp"
#include "store/history/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::store {

// All that others see of a run.
inline Json shown(const model::Run& run)
{
    return model::write_run(run, model::RunForm::copy);
}

using model::RunState;

// For tests: a history of its own.
class HistoryTest : public testing::Test {
protected:
    static model::Run make_run(const std::string& project = "p1",
                               const std::string& script = "train.py")
    {
        model::Run run;
        run.id = RunId::make();
        run.project = project;
        run.project_path = "/home/ann/" + project;
        run.script_name = script;
        run.target = "local";
        return run;
    }
    model::Run add(const std::string& project = "p1", const std::string& script = "train.py")
    {
        return history_->create_run(make_run(project, script)).value().run;
    }
    // Walks a run to its end.
    void finish(const RunId& id, RunState end = RunState::completed)
    {
        const RunState way[] = {
            RunState::not_started, RunState::starting, RunState::finalizing, end};
        for (std::size_t i = 0; i + 1 < std::size(way); ++i)
            ASSERT_TRUE(history_->update_state(id, way[i], way[i + 1]));
    }
    void reopen()
    {
        history_.reset();
        history_ = History::open(folder_).value();
    }

    os::TestFolder place_;
    Path folder_ = place_.path() / "home";
    std::unique_ptr<History> history_ = History::open(folder_).value();
};

}  // namespace ponk::store
