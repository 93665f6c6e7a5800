// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "executor/slurm/cluster_facts.hpp"
#include "executor/slurm/job_script.hpp"
#include "executor/slurm/slurm_job.hpp"

#include <gtest/gtest.h>

namespace ponk::executor::slurm {
namespace {

TEST(SlurmJob, LinesOfQueuesAndAccountsAreRead)
{
    const auto jobs = parse_jobs("*** Welcome to the cluster ***\n"
                                 "12|PENDING||ponk-a|Resources\n"
                                 "13|RUNNING|n[1-2]|ponk-b|None\n"
                                 "14|CANCELLED by 1000|n1|ponk-c\n"
                                 "15|OUT_OF_ME+|n1|ponk-d|None\n"
                                 "14.batch|FAILED|n1|batch\n");

    ASSERT_EQ(jobs.size(), 4U);
    EXPECT_TRUE(jobs.at("12").is_waiting());
    EXPECT_EQ(describe("12", jobs.at("12")), "job 12 waits in Slurm's queue (Resources)");
    EXPECT_FALSE(jobs.at("13").is_over());
    EXPECT_EQ(jobs.at("13").nodes, "n[1-2]");
    EXPECT_EQ(jobs.at("13").name, "ponk-b");
    EXPECT_EQ(jobs.at("14").state, "CANCELLED");
    EXPECT_TRUE(jobs.at("14").is_over());
}

TEST(SlurmJob, CausesAreSlurmsOwnDoing)
{
    const auto cause = [](const char* state) { return cause_of({state, "", "", ""}); };
    EXPECT_EQ(cause("TIMEOUT"), "time-limit");
    EXPECT_EQ(cause("PREEMPTED"), "preempted");
    EXPECT_EQ(cause("NODE_FAIL"), "host-lost");
    EXPECT_EQ(cause("OUT_OF_MEMORY"), "out-of-memory");
    EXPECT_EQ(cause("FAILED"), "");
    EXPECT_EQ(cause("CANCELLED"), "");
}

TEST(SlurmJob, OfSeveralJobsOfARunTheOneThatRunsCounts)
{
    const auto best = [](std::initializer_list<std::pair<const char*, const char*>> states) {
        SlurmJobs jobs;
        for (const auto& [number, state] : states)
            jobs[number] = {state, "", "", ""};
        return number_of_best(jobs);
    };
    EXPECT_EQ(best({}), "");
    EXPECT_EQ(best({{"9", "RUNNING"}, {"10", "PENDING"}}), "9");
    EXPECT_EQ(best({{"9", "FAILED"}, {"10", "PENDING"}}), "10");
    EXPECT_EQ(best({{"9", "FAILED"}, {"10", "COMPLETED"}}), "10");
    EXPECT_EQ(best({{"9", "PREEMPTED"}, {"10", "FAILED"}}), "9") << "the other found it claimed";
    EXPECT_EQ(best({{"9", "REVOKED"}, {"10", "COMPLETED"}}), "9") << "another cluster has it";
}

TEST(SlurmJob, TheNumberIsInTheLastLineOfSbatch)
{
    EXPECT_EQ(parse_sbatch("12\n"), "12");
    EXPECT_EQ(parse_sbatch("You have used 3 % of your hours.\n12;cluster\n"), "12");
    EXPECT_EQ(parse_sbatch("Submitted batch job 12\n"), "");
    EXPECT_EQ(parse_sbatch(""), "");
}

TEST(SlurmJob, PartitionsAreRead)
{
    const auto partitions = parse_partitions("main*|up|1:00:00|2|4|2000|gpu:a100:2\n"
                                             "low|down|infinite|10+|64+|500000|(null)\n");

    ASSERT_EQ(partitions.size(), 2U);
    EXPECT_EQ(to_json(partitions[0]),
              R"({"name":"main","default":true,"available":"up","time_limit":"1:00:00",)"
              R"("nodes":"2","cpus":"4","memory_mib":"2000","gres":"gpu:a100:2"})");
    EXPECT_EQ(partitions[1].text("gres"), "");
}

TEST(SlurmJob, TheSubmittersAllocationIsNotTheRuns)
{
    for (const char* name : {"SLURM_JOB_ID",
                             "SBATCH_ACCOUNT",
                             "PMIX_RANK",
                             "TMPDIR",
                             "CUDA_VISIBLE_DEVICES",
                             "SSH_AUTH_SOCK",
                             "XDG_RUNTIME_DIR",
                             "HOSTNAME"})
        EXPECT_TRUE(belongs_to_allocation(name)) << name;
    for (const char* name : {"SLURM_CONF", "PATH", "SLURMISH", "CUDA_HOME"})
        EXPECT_FALSE(belongs_to_allocation(name)) << name;
}

TEST(SlurmJob, PathsOfAnyLettersAreOneWordOfTheScript)
{
    JobScript script{.run = "0199",
                     .root = "/home/it's",
                     .task = "/home/it's 100%/runs",
                     .stub = "/home/it's 100%/stub",
                     .lease = "/home/it's 100%/envs/a.lock",
                     .monitor = {}};
    const auto text = to_text(script);

    EXPECT_NE(text.find("cd '/home/it'\\''s 100%/runs' || exit 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("exec 9<'/home/it'\\''s 100%/envs/a.lock'; flock -s 9;"),
              std::string::npos);
    EXPECT_NE(text.find("exec '/home/it'\\''s 100%/stub' '/home/it'\\''s 100%/runs' 8 2 $lease\n"),
              std::string::npos);

    script.monitor = "/home/it's/ponk";
    script.monitor_environment = {"PATH=/my tools"};
    script.chosen_names = {"CUDA_VISIBLE_DEVICES", "x)(y"};
    const auto watched = to_text(script);
    EXPECT_NE(watched.find("exec 7>&2 env 'PATH=/my tools' '/home/it'\\''s/ponk' "
                           "ponk-gpu-monitor '/home/it'\\''s' 8 7 $lease\n"),
              std::string::npos)
        << watched;
    EXPECT_NE(watched.find("|SLURM_CONF|CUDA_VISIBLE_DEVICES)="), std::string::npos) << watched;
}

TEST(SlurmJob, OptionsGiveOurSupervisorTimeToEndTheRunItself)
{
    Job job;
    job.spec.location.slurm = model::SlurmSpec{.partition = "big",
                                               .account = "lab",
                                               .qos = "",
                                               .gres = "gpu:2",
                                               .options = {"--constraint=a100"}};
    job.spec.resources.time_limit = std::chrono::seconds(600);
    job.context.directory = RunDirectory("/home/100%/runs/x");

    const auto words = job_options(job);

    const auto has = [&](const char* word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    EXPECT_TRUE(has("--time=12"));
    EXPECT_TRUE(has("--partition=big"));
    EXPECT_TRUE(has("--account=lab"));
    EXPECT_TRUE(has("--gres=gpu:2"));
    EXPECT_TRUE(has("--constraint=a100"));
    EXPECT_TRUE(has("--no-requeue"));
    EXPECT_TRUE(has("--chdir=/home/100%/runs/x/attempts/1/tasks/0"));
    EXPECT_TRUE(has("--output=slurm.out"));
}

}  // namespace
}  // namespace ponk::executor::slurm
