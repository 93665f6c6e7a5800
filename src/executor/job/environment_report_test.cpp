// SPDX-License-Identifier: Apache-2.0
#include "executor/job/environment_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::executor {
namespace {

using testing::HasSubstr;

EnvironmentEntry example_entry()
{
    return {.machine = "host:22",
            .id = std::string(32, '1'),
            .key = std::string(32, '1'),
            .form = "prefix",
            .target = "local",
            .builder = "uv",
            .choice = "only pip packages",
            .reason = "it is the first",
            .interpreter = "/p/bin/python",
            .prefix = "/p",
            .image = "sha256:1",
            .base_image = "python:3",
            .lock_digest = "2",
            .spec = JsonObject{{"base", "x"}},
            .packages = 3,
            .size = 4,
            .built = 5,
            .last_used = 6,
            .in_use = true};
}

TEST(EnvironmentReport, EverythingThatIsSentArrives)
{
    const EnvironmentUsed used{.id = "i",
                               .key = "k",
                               .builder = "b",
                               .choice = "c",
                               .reason = "r",
                               .built = true,
                               .interpreter = "/p",
                               .lock = "{}\n",
                               .lock_digest = "d",
                               .image = "sha256:1",
                               .base_image = "n",
                               .base_digest = "n@sha256:2",
                               .memory_limit = 7,
                               .substitutions = JsonArray{"s"}};
    EXPECT_EQ(to_json(parse_environment_used(to_json(used)).value()), to_json(used));
    const Examination seen{.ready = true,
                           .id = "i",
                           .key = "k",
                           .builder = "b",
                           .choice = "c",
                           .reason = "r",
                           .interpreter = "/p",
                           .version = "3.11.2",
                           .image = "n",
                           .remarks = {{"warning", "w", "h"}},
                           .substitutions = JsonArray{"s"}};
    EXPECT_EQ(to_json(parse_examination(to_json(seen)).value()), to_json(seen));
    const EnvironmentList list{{example_entry()}, {"a host is away"}};
    EXPECT_EQ(to_json(parse_environment_list(to_json(list)).value()), to_json(list));
    const EnvironmentRules rules{std::chrono::hours(48), std::uint64_t{1} << 40};
    EXPECT_EQ(to_json(parse_environment_rules(to_json(rules)).value()), to_json(rules));
    const EnvironmentGarbage garbage{{example_entry()}, 7, {"in use"}};
    EXPECT_EQ(to_json(parse_environment_garbage(to_json(garbage)).value()), to_json(garbage));
}

TEST(EnvironmentReport, WhatIsNoReportIsRefused)
{
    EXPECT_FALSE(parse_environment_used(Json()));
    EXPECT_FALSE(parse_examination(Json("ready")));
    EXPECT_FALSE(parse_environment_entry(JsonObject{{"key", "k"}}));
    EXPECT_FALSE(parse_environment_list(JsonObject{{"environments", JsonArray{Json(1)}}}));
    EXPECT_FALSE(parse_environment_list(JsonObject()));
    EXPECT_FALSE(parse_environment_rules(JsonObject{{"largest_age_hours", -1}}));
    EXPECT_THAT(parse_environment_garbage(JsonObject()).error().message(), HasSubstr("not a list"));
}

}  // namespace
}  // namespace ponk::executor
