// SPDX-License-Identifier: Apache-2.0
#include "config/files/compute.hpp"
#include "config/files/slurm_keys.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

ComputeTarget target(std::string_view text, Report& report)
{
    return read_compute(tree_of(text), "t", report);
}

TEST(SlurmKeys, OptionsBecomeWordsOfSbatch)
{
    Report report("f");
    const auto t = target("type: slurm\npartition: gpu\naccount: lab\ngres: gpu:a100:2\n"
                          "sbatch:\n  mem: 32G\n  cpus-per-task: 8\n  exclusive: true\n"
                          "  overcommit: false\n  hold:\n",
                          report);

    EXPECT_EQ(remarks_of(report.take()), "");
    EXPECT_EQ(*t.slurm.partition, "gpu");
    EXPECT_EQ(*t.slurm.account, "lab");
    EXPECT_EQ(*t.slurm.gres, "gpu:a100:2");
    std::vector<std::string> words;
    for (const auto& option : t.slurm.options)
        words.push_back(*option);
    EXPECT_EQ(
        words,
        (std::vector<std::string>{"--mem=32G", "--cpus-per-task=8", "--exclusive", "--hold"}));
}

TEST(SlurmKeys, WhatPonkSetsItselfIsAnErrorAtItsPlace)
{
    // sbatch knows an option by the beginning of its name, too.
    for (const char* name : {"output",
                             "array",
                             "arra",
                             "cluster",
                             "req",
                             "job-nam",
                             "parti",
                             "nodes",
                             "gpus-per-node",
                             "wrap"}) {
        Report report("f");
        (void)target(fmt::format("type: slurm\nsbatch:\n  {}: 1\n", name), report);
        const auto remarks = remarks_of(report.take());
        EXPECT_NE(remarks.find("3:3"), std::string::npos) << remarks;
        EXPECT_NE(remarks.find("wrong-value"), std::string::npos) << remarks;
    }
}

TEST(SlurmKeys, ALoginNodeMayBeThisMachine)
{
    Report report("f");
    EXPECT_FALSE(is_another_machine(target("type: slurm\n", report)));
    EXPECT_EQ(remarks_of(report.take()), "");
    EXPECT_TRUE(is_another_machine(target("type: slurm\naddress: h\nusername: u\n", report)));
    EXPECT_TRUE(is_another_machine(target("type: remote\n", report)));
}

}  // namespace
}  // namespace ponk::config
