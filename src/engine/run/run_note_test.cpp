// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run.hpp"
#include "engine/run/run_note.hpp"
#include "executor/job/run_directory.hpp"
#include "model/exit_record.hpp"
#include "os/golden_test_support.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::engine {
namespace {

using model::RunState;

class RunNotes : public testing::Test {
protected:
    static model::Run ended_run()
    {
        RunSpec spec;
        spec.run_configuration = "local";
        spec.location.target = "local";
        spec.program.framework = "Python";
        spec.program.script = "train.py";
        spec.program.arguments = {"--epochs", "3"};
        model::Run run;
        run.id = RunId::make();
        run.number = 7;
        run.project = "p";
        run.project_path = "/data/\xff";
        run.name = "first";
        run.state = RunState::failed;
        run.exit_code = 3;
        run.error = Error(ErrorKind::timeout, "late", "Wait.");
        run.created = 1000;
        run.started = 2000;
        run.ended = 3000;
        run.snapshot = std::string(64, 'a');
        run.outputs = std::string(64, 'b');
        run.hidden = true;
        run.timings = {{"run", 1000}};
        run.tags = {{"k", "v"}};
        run.git = JsonObject{{"commit", "c"}};
        run.evidence = JsonObject{{"signal", 0}};
        run.gpu = JsonObject{{"phase", "ended"}, {"verdict", "confirmed"}};
        run.warnings = {"something was left out"};
        run.configuration = to_json(spec);
        return run;
    }

    os::TestFolder folder_;
};

TEST_F(RunNotes, TheLastOneTellsAllOfAnEndedRun)
{
    const auto run = ended_run();
    ASSERT_TRUE(write_last_note(folder_.path(), run));

    const auto read = read_note(folder_.path());

    ASSERT_TRUE(read);
    EXPECT_EQ(read->id, run.id);
    EXPECT_EQ(read->number, 7);
    EXPECT_EQ(read->project_path, run.project_path);
    EXPECT_EQ(read->state, RunState::failed);
    EXPECT_EQ(read->exit_code, 3);
    EXPECT_EQ(read->error->message(), "late");
    EXPECT_EQ(read->started, 2000);
    EXPECT_EQ(read->ended, 3000);
    EXPECT_EQ(read->outputs, run.outputs);
    EXPECT_TRUE(read->hidden);
    EXPECT_EQ(read->timings, run.timings);
    EXPECT_EQ(read->tags, run.tags);
    EXPECT_EQ(read->warnings, run.warnings);
    EXPECT_EQ(read->script_name, "train.py");
    EXPECT_EQ(read->arguments, (std::vector<std::string>{"--epochs", "3"}));
    EXPECT_TRUE(read->git == run.git);
    EXPECT_TRUE(read->gpu == run.gpu);
}

TEST_F(RunNotes, ATornLastOneLeavesTheFirstAndTheExitRecord)
{
    auto run = ended_run();
    run.state = RunState::preparing;
    ASSERT_TRUE(write_first_note(folder_.path(), run));
    ASSERT_TRUE(os::replace_file(folder_.path() / "end.json", R"({"run_id": ")"));
    model::ExitRecord exit;
    exit.by = "stub";
    exit.cause = "script";
    exit.started = 5000;
    exit.duration_ms = 250;
    const auto task = executor::RunDirectory(folder_.path()).task();
    ASSERT_TRUE(os::make_directories(task));
    ASSERT_TRUE(os::replace_file(task / "exit", model::to_text(exit)));

    const auto read = read_note(folder_.path());

    ASSERT_TRUE(read);
    EXPECT_EQ(read->state, RunState::finalizing);
    EXPECT_EQ(read->started, 5000);
    EXPECT_EQ(read->timings.at("run"), 250);
}

// What a run's folder holds is read by every version to come.
TEST_F(RunNotes, LooksAsItAlwaysDid)
{
    auto run = ended_run();
    run.id = RunId::parse("0199aabbccdd7eef8001122334455667").value();
    ASSERT_TRUE(write_last_note(folder_.path(), run));
    const auto written = os::read_file(folder_.path() / "end.json").value();
    const os::Path golden = os::Path(PONK_GOLDEN) / "run-note" / "end.json";
    os::expect_golden(golden, written);

    EXPECT_EQ(read_note(golden.parent_path())->outputs, run.outputs);
    // As the first version wrote it.
    const auto first = read_note(golden.parent_path() / "v1");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->script_name, "train.py");
    EXPECT_EQ(first->target_type, "local");
}

TEST_F(RunNotes, AFolderWithoutOneIsNoRun)
{
    EXPECT_FALSE(read_note(folder_.path()));
    ASSERT_TRUE(os::replace_file(folder_.path() / "record.json", "[1, 2]"));
    EXPECT_FALSE(read_note(folder_.path()));
}

}  // namespace
}  // namespace ponk::engine
