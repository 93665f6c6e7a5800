// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

Json parsed(std::string_view text)
{
    auto value = parse_json(text);
    EXPECT_TRUE(value) << text;
    return *value;
}

const Json running = parsed(R"({"run_id": "r1", "status": "Running", "end_time_utc": null})");
const Json away = parsed(R"({"run_id": "r2", "status": "Running", "end_time_utc": null,
    "cancel_requested": true,
    "unreachable": {"since": "2026-01-02T03:04:05Z", "reason": "no answer from 'ann@one'"}})");
const Json ended = parsed(R"({"run_id": "r3", "status": "Completed",
    "end_time_utc": "2026-01-02T03:04:05Z", "cancel_requested": true})");

TEST(RunView, ListMarksRunsThatAreOutOfReachOrToBeCancelled)
{
    const auto view = view_of_runs({running, away, ended});
    EXPECT_EQ(view.rows.as_array().at(0).text("status"), "Running");
    EXPECT_EQ(view.rows.as_array().at(1).text("status"), "Running (unreachable, cancel requested)");
    EXPECT_EQ(view.rows.as_array().at(2).text("status"), "Completed");
    EXPECT_EQ(view.exact.as_array().at(1).text("status"), "Running") << "for programs";
}

TEST(RunView, RunThatWasAskedToEndSaysSoUntilItHasEnded)
{
    EXPECT_FALSE(view_of_run(running).rows.as_object().find("cancel_requested"));
    ASSERT_TRUE(view_of_run(away).rows.as_object().find("cancel_requested"));
    EXPECT_FALSE(view_of_run(ended).rows.as_object().find("cancel_requested"));
}

TEST(RunView, DeletedRunsAreMarkedAndSayHowToComeBack)
{
    const auto deleted = parsed(R"({"run_id": "r5", "status": "Completed",
        "end_time_utc": "2026-01-02T03:04:05Z", "deleted_utc": "2026-01-03T03:04:05Z"})");
    EXPECT_EQ(brief_status(deleted), "Completed (deleted)");
    EXPECT_THAT(view_of_run(deleted).rows.text("deleted"), HasSubstr("ponk history restore r5"));
}

TEST(RunView, RunsThatAScriptMadeAreNamed)
{
    const auto maker = parsed(R"({"run_id": "r6", "status": "Completed", "child_runs": [
        {"run_id": "00000000000000000000000077abc0de", "name": "trial 1"},
        {"run_id": "r7", "name": "t2"}]})");
    EXPECT_EQ(view_of_run(maker).rows.text("child_runs"), "77abc0de (trial 1), r7 (t2)");
    EXPECT_EQ(child_runs_text(running), "");
}

TEST(RunView, ALongTextTakesNoPage)
{
    auto run = running;
    run.as_object().set("params", JsonObject{{"lr", "0.1"}, {"note", std::string(6000, 'x')}});
    const auto shown = view_of_run(run).rows.text("params");
    EXPECT_THAT(shown, HasSubstr("lr=0.1"));
    EXPECT_LT(shown.size(), 300U);
    EXPECT_THAT(shown, HasSubstr("x…"));
}

TEST(RunView, WhatToDoAboutAFailureIsShownToo)
{
    const auto failed = parsed(R"({"run_id": "r4", "status": "Failed",
        "error": {"kind": "invalid_argument", "message": "no such package", "hint": "Name another."}})");
    EXPECT_EQ(view_of_run(failed).rows.text("hint"), "Name another.");
}

TEST(RunView, CancelOfARunOutOfReachDoesNotPretend)
{
    EXPECT_EQ(cancel_text(running), "run r1 is being canceled");
    EXPECT_EQ(cancel_text(ended), "run r3 is Completed");
    EXPECT_THAT(cancel_text(away), HasSubstr("run r2 is not canceled yet"));
    EXPECT_THAT(cancel_text(away), HasSubstr("since 2026-01-02T03:04:05Z"));
    EXPECT_THAT(cancel_text(away), HasSubstr("no answer from 'ann@one'"));
}

}  // namespace
}  // namespace ponk::cli
