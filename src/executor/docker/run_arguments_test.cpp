// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/run_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::executor::docker {
namespace {

using testing::HasSubstr;

Result<dockerapi::ContainerSpec> apply(const std::vector<std::string>& words)
{
    dockerapi::ContainerSpec spec;
    TRY(apply_run_arguments(words, spec));
    return spec;
}

TEST(RunArguments, BecomeSettingsOfTheContainer)
{
    const auto spec = apply({"--cpus",
                             "1.5",
                             "-m",
                             "1g",
                             "--ipc=host",
                             "--ulimit",
                             "nofile=64:128",
                             "-v",
                             "/data:/mnt/data:ro",
                             "-e",
                             "A=b=c",
                             "--cap-add=SYS_PTRACE",
                             "--init",
                             "--shm-size",
                             "512m",
                             "--read-only",
                             "--tmpfs=/s:size=1g",
                             "--device",
                             "/dev/null"});

    ASSERT_TRUE(spec) << spec.error().message();
    EXPECT_EQ(to_json(spec->host_settings),
              R"({"NanoCpus":1500000000,"Memory":1073741824,"IpcMode":"host",)"
              R"("Ulimits":[{"Name":"nofile","Soft":64,"Hard":128}],"CapAdd":["SYS_PTRACE"],)"
              R"("ShmSize":536870912,"ReadonlyRootfs":true,"Tmpfs":{"/s":"size=1g"},)"
              R"("Devices":[{"PathOnHost":"/dev/null","PathInContainer":"/dev/null",)"
              R"("CgroupPermissions":"rwm"}]})");
    ASSERT_EQ(spec->mounts.size(), 1U);
    EXPECT_EQ(spec->mounts[0].target, "/mnt/data");
    EXPECT_EQ(spec->mounts[0].access, dockerapi::Mount::Access::read_only);
    EXPECT_EQ(spec->environment, std::vector<std::string>{"A=b=c"});
}

TEST(RunArguments, WhatWouldTakeTheRunOutOfOurHandsIsRefused)
{
    for (const auto* word :
         {"--rm", "--restart=always", "--name=x", "--privileged", "-d", "--user=0"}) {
        const auto spec = apply({word});
        ASSERT_FALSE(spec) << word;
        EXPECT_THAT(spec.error().message(), HasSubstr("cannot be used for a run"));
    }
}

TEST(RunArguments, ATypoGetsASuggestion)
{
    const auto spec = apply({"--memroy=1g"});
    ASSERT_FALSE(spec);
    EXPECT_EQ(spec.error().hint(), "Did you mean '--memory'?");
}

TEST(RunArguments, WrongValuesAreNamed)
{
    for (const auto& words : std::vector<std::vector<std::string>>{{"--cpus=many"},
                                                                   {"-v", "relative:/x"},
                                                                   {"-e", "NAME"},
                                                                   {"--ulimit=x"},
                                                                   {"--memory"},
                                                                   {"-m", "1x"}})
        EXPECT_FALSE(apply(words)) << words[0];
}

TEST(ByteSizes, AreReadAsDockerReadsThem)
{
    const std::pair<const char*, std::int64_t> rows[] = {{"4096", 4096},
                                                         {"1k", 1024},
                                                         {"512m", 512LL << 20},
                                                         {"2G", 2LL << 30},
                                                         {"1.5GiB", 3LL << 29},
                                                         {"8gb", 8LL << 30},
                                                         {"7b", 7}};
    for (const auto& [text, bytes] : rows)
        EXPECT_EQ(parse_byte_size(text).value_or(-1), bytes) << text;
    for (const auto* text : {"", "g", "1x", "1 2", "-1", "99999999999t"})
        EXPECT_FALSE(parse_byte_size(text)) << text;
}

}  // namespace
}  // namespace ponk::executor::docker
