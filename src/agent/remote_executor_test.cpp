// SPDX-License-Identifier: Apache-2.0
#include "agent/remote_test_support.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "snapshot/materialise.hpp"

#include <sys/stat.h>

namespace ponk::executor {
namespace {

std::vector<ContractTarget> machines()
{
    std::vector<ContractTarget> out{
        {"remote", [](const Path& root) { return make_remote(root, "remote"); }}};
    if (!setting("PONK_TEST_DOCKER").empty())
        out.push_back(
            {"remotedocker", [](const Path& root) { return make_remote(root, "remotedocker"); }});
    return out;
}

INSTANTIATE_TEST_SUITE_P(Host,
                         ExecutorContract,
                         testing::ValuesIn(machines()),
                         testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Host,
                         RemoteExecutor,
                         testing::Values(ContractTarget{
                             "remote",
                             [](const Path& root) { return make_remote(root, "remote"); }}),
                         testing::PrintToStringParamName());

TEST_P(RemoteExecutor, TheScriptLivesInTheOtherMachinesEnvironment)
{
    auto job = make_job("about");
    job.spec.program.variables = {{"SECRET", "s3cr3t"}};
    job.spec.runtime.shared_directory = "~/share/p";
    job.context.umask = 027;
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);

    const auto user = (root_ / "machine/user").string();
    EXPECT_EQ(log_of(job),
              fmt::format("{0} there s3cr3t {0}/share/p/\n{0}/.ponk/runs/{1}/work\n0027\n",
                          user,
                          job.spec.id.text()));
}

TEST_P(RemoteExecutor, NothingIsSentTwice)
{
    start(make_job("hello"));
    const auto objects = [] {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 site->project.parent_path() / "machine/user/.ponk/store/objects"))
            count += entry.is_regular_file() ? 1U : 0U;
        return count;
    };
    const auto before = objects();
    start(make_job("hello"));
    EXPECT_EQ(objects(), before);
    ASSERT_TRUE(os::replace_file(site->project / "more.txt", "more"));
    target_.job.spec.snapshot = site->take();

    start(make_job("hello"));

    EXPECT_EQ(objects(), before + 2) << "the new file and the new manifest";
    EXPECT_EQ(site->machine.connections, 1);
}

TEST_P(RemoteExecutor, LogsOutputsAndNamesComeHomeWhole)
{
    const auto job = make_job("much");
    start(job);
    ASSERT_EQ(follow(job).exit->status(), 0);

    const auto collected = executor().collect(job.spec.id.text(),
                                              job.context.directory,
                                              [](const Path& outputs) -> Result<> {
                                                  std::filesystem::rename(outputs / "s3cret.txt",
                                                                          outputs / "hidden.txt");
                                                  return {};
                                              },
                                              {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    const auto manifest = site->objects.read_manifest(*collected->outputs).value();
    EXPECT_TRUE(manifest.find("hidden.txt"));
    EXPECT_FALSE(manifest.find("s3cret.txt"));
    EXPECT_EQ(manifest.find("link")->target, "deep/model");
    ASSERT_TRUE(snapshot::materialise(site->objects, *collected->outputs, root_ / "got"));
    const auto model = os::read_file(root_ / "got/deep/model").value();
    const auto log = log_of(job);
    EXPECT_EQ(model.size(), 20'000'000U);
    EXPECT_EQ(log.substr(0, 9'000'000), std::string(9'000'000, 'x'));
    EXPECT_EQ(log.substr(9'000'000), sha256(model).text() + "  -\n");
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.root() / "outputs.names"));
}

TEST_P(RemoteExecutor, MetricJournalsGrowHere)
{
    const auto job = make_job("journal");
    start(job);

    const auto status = follow(job);

    EXPECT_EQ(status.journal_length, 6U);
    EXPECT_EQ(os::read_file(job.context.directory.task() / "journal/m-1").value(), "abcdef");
}

TEST_P(RemoteExecutor, CleaningLeavesNothingThere)
{
    const auto job = make_job("hello");
    start(job);
    follow(job);

    ASSERT_TRUE(executor().clean(job.spec.id.text(), job.context.directory));

    EXPECT_FALSE(std::filesystem::exists(root_ / "machine/user/.ponk/runs" / job.spec.id.text()));
    EXPECT_EQ(follow(job).exit->status(), 0) << "our copy stays";
}

TEST_P(RemoteExecutor, WhatWasFetchedIsToldToTheMachine)
{
    for (const char* script : {"hello", "output"}) {
        const auto job = make_job(script);
        start(job);
        ASSERT_EQ(follow(job).exit->status(), 0);
        const auto note = root_ / "machine/user/.ponk/notes" / job.spec.id.text() / "collected";
        if (executor().working_copies()->may_have_outputs(job.context.directory)) {
            EXPECT_FALSE(is_there(note)) << "its outputs are still there alone";
            ASSERT_TRUE(executor().collect(job.spec.id.text(), job.context.directory, {}, {}));
        }
        EXPECT_TRUE(is_there(note)) << script;
    }
}

TEST_P(RemoteExecutor, AMachineThatHasAPartAloneKeepsIt)
{
    const auto job = make_job("plenty");
    start(job);

    const auto status = follow(job);

    EXPECT_EQ(status.exit->status(), 0);
    EXPECT_THAT(
        status.reason,
        HasSubstr("1 metric journals are too many or too long to fetch, and stay on 'host'"));
    EXPECT_FALSE(executor().working_copies()->may_have_outputs(job.context.directory));
    EXPECT_FALSE(is_there(root_ / "machine/user/.ponk/notes" / job.spec.id.text() / "collected"));
}

TEST_P(RemoteExecutor, FactsComeFromTheOtherMachine)
{
    const auto facts = executor().machine()->facts(
        {.host = {{.address = "host"}, {}}, .submitter_environment = {}}, {});

    ASSERT_TRUE(facts) << facts.error().message();
    EXPECT_EQ((*facts)["facts"].text("home"), (root_ / "machine/user/.ponk").string());
    EXPECT_GT((*facts)["facts"].integer("free_disk"), 0);
}

TEST_P(RemoteExecutor, GpusComeFromTheOtherMachine)
{
    const auto gpus = executor().machine()->gpus(
        {.host = {{.address = "host"}, {}}, .submitter_environment = {}}, {});

    ASSERT_TRUE(gpus) << gpus.error().message();
    EXPECT_TRUE((*gpus)["devices"].is_array());
}

TEST_P(RemoteExecutor, AnObjectDamagedThereIsSentAgain)
{
    start(make_job("hello"));
    const auto store = root_ / "machine/user/.ponk/store/objects";
    const auto digest =
        site->objects.read_manifest(target_.job.spec.snapshot)->find("hello.sh")->digest;
    const auto file = store / snapshot::object_name(digest);
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    ASSERT_TRUE(os::replace_file(file, "echo forged"));
    const auto job = make_job("hello");

    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);
    EXPECT_EQ(log_of(job), "hello\n");
}

TEST_P(RemoteExecutor, FilesBesideTheOutputsCanBeBroughtToo)
{
    const auto job = make_job("beside");
    start(job);
    ASSERT_EQ(follow(job).exit->status(), 0);
    const auto work =
        executor().working_copies()->fetch(job.spec.id.text(), job.context.directory, {});
    ASSERT_TRUE(work) << work.error().message();
    ASSERT_TRUE(*work);
    const auto manifest = site->objects.read_manifest(**work).value();
    ASSERT_NE(manifest.find("made/here.txt"), nullptr);
    EXPECT_EQ(snapshot::read_file(site->objects, manifest, "made/here.txt", 0, 100).value(),
              "new\n");
    ASSERT_TRUE(executor().clean(job.spec.id.text(), job.context.directory));
    const auto gone =
        executor().working_copies()->fetch(job.spec.id.text(), job.context.directory, {});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind(), ErrorKind::not_found);
}

}  // namespace
}  // namespace ponk::executor
