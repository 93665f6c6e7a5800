// SPDX-License-Identifier: Apache-2.0
#include "config/consents/consents.hpp"
#include "engine/awkward_target_test_support.hpp"
#include "engine/engine_test_support.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/plan/resolve_run_test_support.hpp"
#include "engine/run/run_note.hpp"
#include "model/metric_journal.hpp"
#include "os/process.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace ponk::engine {
namespace {

TEST_F(Engines, CarriesARunFromSubmitToItsEnd)
{
    const auto run = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(run) << run.error().message();

    const auto ended = wait_for_end(run->id);

    EXPECT_EQ(ended.state, RunState::completed);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.snapshot.size(), 64U);
    EXPECT_TRUE(ended.timings.contains("snapshot"));
    EXPECT_EQ(*os::read_file(engine_->context().run_directory(run->id).task() / "log"), "hello\n");
}

TEST_F(Engines, KeepsTheScriptsOwnCode)
{
    const auto run = engine_->submit(request("three.py"), submitter_);
    ASSERT_TRUE(run);
    const auto ended = wait_for_end(run->id);
    EXPECT_EQ(ended.state, RunState::failed);
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_FALSE(ended.error);
}

TEST_F(Engines, SendingASubmissionAgainStartsNothing)
{
    const auto wanted = request("ok.py");
    for (int i = 0; i < 5; ++i)
        ASSERT_TRUE(engine_->submit(wanted, submitter_));
    wait_for_end(wanted.id);
    ASSERT_TRUE(engine_->submit(wanted, submitter_));
    EXPECT_EQ(starts_, 1);
}

class AwkwardEngines : public Engines {
protected:
    AwkwardEngines()
    {
        engine_.reset();
        auto target = std::make_unique<AwkwardTarget>(std::move(executors_.at("local")));
        target_ = target.get();
        executors_["local"] = std::move(target);
        start();
    }
    ~AwkwardEngines() override { target_->away = false; }

    AwkwardTarget* target_ = nullptr;
};

TEST_F(AwkwardEngines, ACancelThatIsNotHeardIsRepeatedAndTheRunIsNotOver)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    ASSERT_EQ(wait_until(run->id, RunState::running).state, RunState::running);

    target_->away = true;
    ASSERT_TRUE(engine_->cancel(run->id, 1s));
    for (int i = 0; i < 2000 && target_->cancels < 2; ++i)
        std::this_thread::sleep_for(5ms);

    EXPECT_GE(target_->cancels, 2);
    EXPECT_EQ(history_->get_run(run->id)->state, RunState::running);

    target_->away = false;

    EXPECT_EQ(wait_for_end(run->id).state, RunState::canceled);
    EXPECT_EQ(starts_, 1);
}

TEST_F(AwkwardEngines, ARunThatSaysNothingIsReachedAsSoonAsItsTargetIsBack)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    ASSERT_EQ(wait_until(run->id, RunState::running).state, RunState::running);
    target_->is_cut = true;
    for (int i = 0; i < 2000 && !engine_->outage(run->id); ++i)
        std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(engine_->outage(run->id));
    EXPECT_EQ(engine_->outage(run->id)->reason, "no route to the machine");

    target_->is_cut = false;

    for (int i = 0; i < 2000 && engine_->outage(run->id); ++i)
        std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(engine_->outage(run->id));
    release_ = true;
    wait_for_end(run->id);
}

TEST_F(AwkwardEngines, AScriptThatEndsByItselfMeanwhileHasItsOwnEnd)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    ASSERT_EQ(wait_until(run->id, RunState::running).state, RunState::running);
    target_->tells = true;
    target_->away = true;
    ASSERT_TRUE(engine_->cancel(run->id, 1s));
    for (int i = 0; i < 2000 && !engine_->outage(run->id); ++i)
        std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(engine_->outage(run->id));
    EXPECT_GT(engine_->outage(run->id)->since, 0);
    EXPECT_EQ(engine_->outage(run->id)->reason, "the engine did not answer");

    release_ = true;

    EXPECT_EQ(wait_for_end(run->id).state, RunState::completed);
}

TEST_F(AwkwardEngines, ACancelWhileOutputsAreCollectedGivesThatUp)
{
    target_->collects_for_ever = true;
    const auto run = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(run);
    for (int i = 0; i < 2000 && target_->collections < 1; ++i)
        std::this_thread::sleep_for(5ms);
    ASSERT_EQ(history_->get_run(run->id)->state, RunState::finalizing);

    ASSERT_TRUE(engine_->cancel(run->id, 1s));

    const auto ended = wait_for_end(run->id);
    EXPECT_EQ(ended.state, RunState::canceled);
    EXPECT_EQ(ended.exit_code, 0) << "what is known of its end is kept";
    ASSERT_TRUE(ended.error);
    EXPECT_THAT(ended.error->message(), testing::HasSubstr("outputs"));
    EXPECT_THAT(ended.error->hint(), testing::HasSubstr("still in the run's folder"));
}

TEST_F(AwkwardEngines, OutputsOfARunThatWasCancelledAreCollected)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    wait_until(run->id, RunState::running);
    ASSERT_TRUE(engine_->cancel(run->id, 1s));

    const auto ended = wait_for_end(run->id);

    EXPECT_EQ(ended.state, RunState::canceled);
    EXPECT_EQ(target_->collections, 1);
    EXPECT_FALSE(ended.error && ended.error->message().find("outputs") != std::string::npos);
}

TEST_F(AwkwardEngines, TheTargetsNameOfAJobIsKeptWhileItWaitsForGpus)
{
    target_->waits = true;
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    ASSERT_EQ(wait_until(run->id, RunState::queued).state, RunState::queued);
    EXPECT_EQ(history_->get_run(run->id)->job, "job-fake-" + run->id.text());

    engine_.reset();  // a daemon that starts now knows only what is stored
    start();
    ASSERT_TRUE(engine_->recover());
    target_->waits = false;
    EXPECT_EQ(wait_until(run->id, RunState::running).state, RunState::running);
    release_ = true;

    EXPECT_EQ(wait_for_end(run->id).state, RunState::completed);
    EXPECT_EQ(history_->get_run(run->id)->job, "job-fake-" + run->id.text());
    EXPECT_EQ(starts_, 1);
}

TEST_F(Engines, CancelEndsARun)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    wait_until(run->id, RunState::running);

    ASSERT_TRUE(engine_->cancel(run->id, 1s));

    EXPECT_EQ(wait_for_end(run->id).state, RunState::canceled);
    EXPECT_EQ(engine_->cancel(run->id, 1s).error().kind(), ErrorKind::conflict);
}

TEST_F(Engines, AnotherEngineTakesARunningRunOver)
{
    const auto run = engine_->submit(request("wait.py"), submitter_);
    ASSERT_TRUE(run);
    wait_until(run->id, RunState::running);

    engine_.reset();  // the daemon went away; the job did not
    start();
    ASSERT_TRUE(engine_->recover());
    release_ = true;

    EXPECT_EQ(wait_for_end(run->id).state, RunState::completed);
    EXPECT_EQ(starts_, 1);
}

TEST_F(Engines, ARunThatWasNotLaunchedGoesOnWhenItsClientComesBack)
{
    auto wanted = request("ok.py");
    const auto report = resolve_run(wanted, submitter_);
    ASSERT_TRUE(report);
    model::Run run;
    run.id = wanted.id;
    run.project = report->spec.project;
    run.project_path = report->project.native();
    run.configuration = to_json(report->spec);
    run.target_type = "local";
    ASSERT_TRUE(history_->put_project({report->spec.project, "p", run.project_path}));
    ASSERT_TRUE(history_->create_run(run));

    ASSERT_TRUE(engine_->recover());
    ASSERT_TRUE(engine_->submit(wanted, submitter_));

    EXPECT_EQ(wait_for_end(wanted.id).state, RunState::completed);
    EXPECT_EQ(starts_, 1);
}

TEST_F(Engines, ARunWhoseSnapshotWasTakenBeforeACrashRunsThatSnapshot)
{
    const auto other = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(other);
    const auto before = wait_for_end(other->id);
    static_cast<void>(os::replace_file(root_ / "project" / "ok.py", "changed since"));
    // What a daemon leaves that is killed between the snapshot and the launch.
    auto wanted = request("ok.py");
    const auto report = resolve_run(wanted, submitter_);
    ASSERT_TRUE(report);
    model::Run run;
    run.id = wanted.id;
    run.project = report->spec.project;
    run.project_path = report->project.native();
    run.configuration = to_json(report->spec);
    run.target_type = "local";
    run.state = RunState::preparing;
    ASSERT_TRUE(history_->create_run(run));
    const auto folder = engine_->context().run_directory(wanted.id).root();
    ASSERT_TRUE(os::make_directories(folder));
    run.snapshot = before.snapshot;
    ASSERT_TRUE(write_first_note(folder, run));

    ASSERT_TRUE(engine_->submit(wanted, submitter_));

    const auto ended = wait_for_end(wanted.id);
    EXPECT_EQ(ended.state, RunState::completed);
    EXPECT_EQ(ended.snapshot, before.snapshot);
}

TEST_F(Engines, TheStoryOfARunNamesEveryState)
{
    const auto run = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(run);
    wait_for_end(run->id);
    std::string story;
    const auto events = *history_->events(run->id);
    for (const auto& event : events) {
        if (event.kind == "state") story += event.text + " ";
    }
    EXPECT_TRUE(story.starts_with("NotStarted Preparing Starting ")) << story;
    EXPECT_TRUE(story.ends_with("Finalizing Completed ")) << story;
}

TEST_F(Engines, RerunUsesTheSnapshotNotTheFolder)
{
    const auto first = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(first);
    const auto before = wait_for_end(first->id);
    static_cast<void>(os::replace_file(root_ / "project" / "ok.py", "changed"));

    const auto again = engine_->rerun(first->id, RunId::make(), submitter_);

    ASSERT_TRUE(again) << again.error().message();
    const auto ended = wait_for_end(again->id);
    EXPECT_EQ(ended.state, RunState::completed);
    EXPECT_EQ(ended.snapshot, before.snapshot);
    EXPECT_EQ(ended.rerun_of, first->id.text());
}

TEST_F(Engines, MetricsOfTheJournalAreInHistoryAtTheEnd)
{
    const auto run = engine_->submit(request("metrics.py"), submitter_);
    ASSERT_TRUE(run);
    wait_for_end(run->id);
    const auto metrics = history_->latest_metrics(run->id);
    ASSERT_TRUE(metrics);
    ASSERT_EQ(metrics->size(), 1U);
    EXPECT_EQ(metrics->front().point.key, "loss");
}

TEST_F(Engines, AllOfALongJournalIsRead)
{
    const auto run = engine_->submit(request("many.py"), submitter_);
    ASSERT_TRUE(run);
    wait_for_end(run->id);
    const auto loss = history_->find_metric(run->id, "loss");
    ASSERT_TRUE(loss && *loss);
    EXPECT_EQ((*loss)->count, 45'000);
    EXPECT_EQ((*loss)->point.step, 44'999);
    EXPECT_EQ(history_->get_run(run->id)->tags.size(), 1U);
}

TEST_F(Engines, AMissingSecretIsToldBeforeAnythingStarts)
{
    auto wanted = request("ok.py");
    wanted.variables = {{"KEY", "secret:NONE"}};
    const auto run = engine_->submit(wanted, submitter_);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(*history_->find_run(wanted.id));
}

TEST_F(Engines, FilesOfAProjectAskForASecretAndTheUserDecides)
{
    ASSERT_TRUE(secrets_->set("TOKEN", "hunter2-hunter2"));
    std::filesystem::create_directories(root_ / "project" / "aml_config");
    ASSERT_TRUE(os::replace_file(root_ / "project" / "aml_config" / "local.runconfig",
                                 "Target: local\nFramework: Python\nEnvironmentVariables:\n"
                                 "  KEY: secret:TOKEN\n"));
    const auto refused = engine_->submit(request("ok.py"), submitter_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_NE(refused.error().message().find("'TOKEN' (aml_config/local.runconfig:4)"),
              std::string::npos)
        << refused.error().message();
    EXPECT_TRUE(refused.error().hint().ends_with("ponk allow secret TOKEN"));
    EXPECT_EQ(starts_, 0);

    // A variable of the submission in the place of the file's is another matter.
    auto without = request("ok.py");
    without.variables = {{"KEY", "plain"}};
    EXPECT_TRUE(engine_->submit(without, submitter_));
    config::Consents consents(root_ / "home");
    EXPECT_TRUE(consents.list().value().empty());

    ASSERT_TRUE(consents.add({config::ConsentKind::secret,
                              config::project_name_in_consents(root_ / "project"),
                              "TOKEN"}));
    const auto allowed = engine_->submit(request("ok.py"), submitter_);
    ASSERT_TRUE(allowed) << allowed.error().message();
    wait_for_end(allowed->id);
    EXPECT_TRUE(engine_->rerun(allowed->id, RunId::make(), {}));
    ASSERT_TRUE(consents.forget(config::ConsentKind::secret, "TOKEN"));
    EXPECT_EQ(engine_->rerun(allowed->id, RunId::make(), {}).error().kind(), ErrorKind::conflict);

    // Who names it with the submission has decided.
    auto named = request("ok.py");
    named.variables = {{"KEY", "secret:TOKEN"}};
    EXPECT_TRUE(engine_->submit(named, submitter_));
    EXPECT_EQ(consents.list().value().size(), 1U);
}

TEST_F(Engines, AMachineThatNobodyAttachedGetsNoRun)
{
    executors_.emplace("remote", executor::fake::make_executor({}));
    std::filesystem::create_directories(root_ / "project" / "aml_config");
    for (const auto& [name, text] :
         {std::pair("host.compute", "type: remote\naddress: host.example\nusername: ann\n"),
          std::pair("host.runconfig", "Target: host\nFramework: Python\n")})
        ASSERT_TRUE(os::replace_file(root_ / "project" / "aml_config" / name, text));
    auto wanted = request("ok.py");
    wanted.run_configuration = "host";

    const auto refused = engine_->submit(wanted, submitter_);

    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("never attached 'ann@host.example"),
              std::string::npos);
    EXPECT_TRUE(refused.error().hint().ends_with("ponk attach --from aml_config/host.compute"));
    EXPECT_FALSE(*history_->find_run(wanted.id));
}

TEST_F(Engines, DiagnosticsHoldNoSecret)
{
    ASSERT_TRUE(secrets_->set("STORE", "hunter2-hunter2"));
    static_cast<void>(
        os::replace_file(root_ / "project" / "note.txt", "key=hunter2-hunter2 and plain-value-1"));
    auto wanted = request("ok.py");
    wanted.variables = {{"KEY", "secret:STORE"}, {"PLAIN", "plain-value-1"}};
    ASSERT_TRUE(engine_->submit(wanted, submitter_));
    const auto run = wait_for_end(wanted.id);

    const auto zip = write_diagnostics(engine_->context(), run, root_ / "d.zip");

    ASSERT_TRUE(zip) << zip.error().message();
    const auto shown = os::run({.argv = {"python3",
                                         "-c",
                                         "import sys,zipfile\n"
                                         "z=zipfile.ZipFile(sys.argv[1])\n"
                                         "for n in z.namelist(): print(n, z.read(n))",
                                         zip->path.native()}},
                               after(20s),
                               {});
    ASSERT_TRUE(shown);
    EXPECT_NE(shown->out.find("project/note.txt"), std::string::npos) << shown->err;
    EXPECT_EQ(shown->out.find("hunter2"), std::string::npos);
    EXPECT_EQ(shown->out.find("plain-value-1"), std::string::npos);
}

}  // namespace
}  // namespace ponk::engine
