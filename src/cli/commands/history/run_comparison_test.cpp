// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands/history/run_comparison.hpp"
#include "os/golden_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace ponk::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& name, const std::string& text)
{
    os::expect_golden(os::Path(PONK_SOURCE_DIR) / "tests/golden/cli" / name, text);
}

JsonArray runs()
{
    return parse_json(R"([
        {"run_id": "0197f3a1c2d4700080004f2a9be01c11", "run_number": 1, "name": "base",
         "status": "Completed", "exit_code": 0, "error": null, "script_name": "train.py",
         "arguments": ["--lr", "0.1", "--note", "a b"], "target": "local", "duration": "0:01:00.000",
         "start_time_utc": "2026-03-01T12:30:05.123Z", "end_time_utc": "2026-03-01T12:31:05.123Z",
         "params": {"lr": "0.1", "depth": "3"}, "tags": {"team": "x"},
         "git": {"commit": "9454407a1b2c3d4e5f", "branch": "main", "dirty": false},
         "environment": null, "gpu_verdict": "not-requested", "timings": {"run": 60000},
         "configuration": {"version": 2, "location": {"target": "local"},
                           "program": {"variables": {"DEPTH": "3"}}},
         "loss": 0.25, "accuracy": 0.91, "lr": 0.001, "steps": 100, "curve": [3, 2, 1],
         "metrics": {"loss": 0.25, "accuracy": 0.91, "lr": 0.001, "steps": 100, "curve": [3, 2, 1],
                     "system/cpu": 1}},
        {"run_id": "0197f3a1c2d4700080004f2a9be01c12", "run_number": 2, "name": "",
         "status": "Failed", "exit_code": 1, "error": {"message": "no"}, "script_name": "train.py",
         "arguments": [], "target": "local", "duration": "0:00:30.000",
         "start_time_utc": "2026-03-01T12:40:05.123Z", "end_time_utc": "2026-03-01T12:41:05.123Z",
         "params": {"lr": "0.2"}, "tags": {},
         "git": {"commit": "9454407a1b2c3d4e5f", "branch": "main", "dirty": true},
         "environment": null, "gpu_verdict": "not-requested", "timings": {"run": 30000},
         "configuration": {"version": 2, "location": {"target": "local"}},
         "loss": 0.2123456789, "accuracy": "NaN", "lr": 0.002, "steps": 100,
         "metrics": {"loss": 0.2123456789, "accuracy": "NaN", "lr": 0.002, "steps": 100,
                     "system/cpu": 2}},
        {"run_id": "0197f3a1c2d4700080004f2a9be01c13", "run_number": 3, "name": "",
         "status": "Completed", "exit_code": 0, "error": null, "script_name": "train.py",
         "arguments": ["--lr", "0.3"], "target": "local", "duration": "0:00:31.000",
         "start_time_utc": "2026-03-01T12:50:05.123Z", "end_time_utc": "2026-03-01T12:51:05.123Z",
         "params": {"lr": "0.3"}, "tags": {"team": "\u001b[31my"},
         "git": {"commit": "9454407a1b2c3d4e5f", "branch": "main", "dirty": false},
         "environment": null, "gpu_verdict": "not-requested", "timings": {"run": 31000},
         "configuration": {"target": "local", "variables": {}},
         "loss": 0.5, "accuracy": 0.97, "lr": 0.002, "steps": 100,
         "metrics": {"loss": 0.5, "accuracy": 0.97, "lr": 0.002, "steps": 100, "system/cpu": 3}}])")
        .value()
        .as_array();
}

const ComparedField& field(const std::vector<ComparedField>& fields, std::string_view name)
{
    static const ComparedField none{.name = "none", .values = {}, .best = {}};
    const auto found = std::ranges::find(fields, name, &ComparedField::name);
    EXPECT_NE(found, fields.end()) << name;
    return found == fields.end() ? none : *found;
}

TEST(RunComparison, BestIsMarkedOnlyWhereItIsKnown)
{
    const auto fields = compare_runs(runs());

    EXPECT_THAT(field(fields, "metrics.loss").best, ElementsAre(1));
    EXPECT_THAT(field(fields, "metrics.accuracy").best, ElementsAre(2)) << "NaN is never best";
    EXPECT_THAT(field(fields, "metrics.lr").best, ElementsAre());
    EXPECT_THAT(field(fields, "metrics.curve").best, ElementsAre()) << "one run alone has it";
    EXPECT_EQ(field(fields, "metrics.curve").values[0], Json(1)) << "the latest of a list";
    EXPECT_TRUE(field(fields, "metrics.steps").equal);
    EXPECT_TRUE(field(fields, "metrics.system/cpu").measured);
}

TEST(RunComparison, TablesAreAsReviewed)
{
    const auto all = runs();
    const auto fields = compare_runs(all);
    const JsonArray two(all.begin(), all.begin() + 2);
    expect_golden("compare-2-80.txt",
                  comparison_table(two, compare_runs(two), Equal::hidden, {.width = 80}));
    expect_golden("compare-3-80.txt", comparison_table(all, fields, Equal::hidden, {.width = 80}));
    expect_golden("compare-3-120-all.txt",
                  comparison_table(all, fields, Equal::shown, {.width = 120}));
    expect_golden("compare-3-45-lines.txt",
                  comparison_table(all, fields, Equal::hidden, {.width = 45, .utf8 = false}));
    JsonArray many;
    for (int i = 0; i < 12; ++i)
        many.push_back(all[static_cast<std::size_t>(i) % 3]);
    expect_golden("compare-12-120-lines.txt",
                  comparison_table(many, compare_runs(many), Equal::hidden, {.width = 120}));
    expect_golden("compare.json", to_json(Json(comparison_json(fields)), JsonStyle::pretty) + "\n");
}

TEST(RunComparison, FitsTheTerminalAndIsSafeForIt)
{
    const auto all = runs();
    const auto fields = compare_runs(all);
    for (int width = 30; width <= 200; width += 10) {
        const auto text = comparison_table(all, fields, Equal::shown, {.width = width});
        EXPECT_THAT(text, Not(HasSubstr("\x1b")));
        for (const auto& line : split(text, '\n'))
            EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
}

TEST(RunComparison, EqualRunsHaveNoTable)
{
    const JsonArray same{runs()[0], runs()[0]};
    EXPECT_EQ(comparison_table(same, compare_runs(same), Equal::hidden, {.width = 80}), "");
    EXPECT_THAT(comparison_table(same, compare_runs(same), Equal::shown, {.width = 80}),
                HasSubstr("params.lr"));
}

}  // namespace
}  // namespace ponk::cli
