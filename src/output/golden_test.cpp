// SPDX-License-Identifier: Apache-2.0
// Every format over the same documents, compared with tests/golden/output. PONK_UPDATE_GOLDEN=1
// rewrites those files; then read the difference before it is committed.
#include "output/chart.hpp"
#include "output/render.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

namespace ponk::output {
namespace {

void expect_golden(const std::string& name, const std::string& text)
{
    const auto path = std::string(PONK_GOLDEN) + "/" + name;
    if (const char* accept = std::getenv("PONK_UPDATE_GOLDEN"); accept && *accept) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream expected;
    expected << file.rdbuf();
    EXPECT_TRUE(file) << path << " is missing; PONK_UPDATE_GOLDEN=1 writes it";
    EXPECT_EQ(text, expected.str()) << path;
}

Json document(std::string_view text)
{
    auto value = parse_json(text);
    EXPECT_TRUE(value) << text;
    return *value;
}

const std::map<std::string, Json>& documents()
{
    static const std::map<std::string, Json> all{
        {"runs", document(R"([
            {"run_id": "0197f3a1c2d4700080004f2a9be01c11", "status": "Completed",
             "script_name": "train.py", "target": "local", "duration": 73.25,
             "start_time_utc": "2026-03-01T12:30:05.123Z", "Accuracy": 0.9712345678, "epochs": 3},
            {"run_id": "0197f3a1c2d4700080004f2a9be01c12", "status": "Failed",
             "script_name": "a script with a long name and blanks.py", "target": "gpu-box",
             "duration": 4, "start_time_utc": "2026-03-01T12:40:00.000Z", "epochs": 10},
            {"run_id": "0197f3a1c2d4700080004f2a9be01c13", "status": "Running",
             "script_name": "数据/训练.py", "target": "local", "duration": null,
             "start_time_utc": "2026-03-01T12:41:07.000Z", "tags": ["x", {"y": 1}],
             "note": "tab\there, esc \u001b[31mred\u001b[0m, csi \u009b1m, bidi \u202egnp"}])")},
        {"run", document(R"({
            "run_id": "0197f3a1c2d4700080004f2a9be01c11", "status": "Failed", "exit_code": 1,
            "arguments": ["--epochs", "3", "--name", "it's"], "snapshot": null, "final": true,
            "git": {"commit": "9454407", "dirty": false, "remote": {}}, "Accuracy": 0.25,
            "error": "Traceback (most recent call last):\n  File \"train.py\", line 3\nValueError: no\n",
            "description": "a text that is long enough to need a second line on a terminal of sixty columns, and a third"})")},
        {"scalars", document(R"(["yes", "3.6", "null", "", " lead", "trail ", "two\nlines", "plain",
            "a: b", "a #b", "- x", "1e5", "0x1F", "2026-03-01", "12:30:00", "~", "é", true, null,
            7, 7.0, 1e300, [], {}, [1, [2]], {"k": "v"}])")},
        {"rows", document(R"([["a", 1], ["b", 2.5, true], []])")},
        {"text", Json("just text")},
        {"number", Json(42)},
        {"nothing", Json()},
        {"empty_list", Json(JsonArray{})},
        {"empty_object", Json(JsonObject{})},
    };
    return all;
}

TEST(GoldenOutput, EveryFormatOfEveryDocument)
{
    const Terminal plain{};
    const Terminal screen{.width = 80, .colour = true};
    for (const auto& [name, json] : documents()) {
        expect_golden(name + ".json", render(json, Format::json, plain));
        expect_golden(name + ".jsonc", render(json, Format::jsonc, screen));
        expect_golden(name + ".tsv", render(json, Format::tsv, plain));
        expect_golden(name + ".yaml", render(json, Format::yaml, plain));
        expect_golden(name + ".table", render(json, Format::table, plain));
    }
}

TEST(GoldenOutput, TablesThatFitTheirTerminal)
{
    const auto& runs = documents().at("runs");
    const auto& run = documents().at("run");
    const Columns columns{{.key = "run_id", .title = "run", .min = 8},
                          {.key = "status", .min = 9},
                          {.key = "script_name", .title = "script"},
                          {.key = "Accuracy"},
                          {.key = "epochs", .align = Align::left}};
    for (const int width : {30, 60, 100, 200}) {
        const auto suffix = "_" + std::to_string(width) + ".table";
        expect_golden("runs" + suffix, render(runs, Format::table, {.width = width}));
        expect_golden("runs_columns" + suffix,
                      render(runs, Format::table, {.width = width}, columns));
        expect_golden("run" + suffix, render(run, Format::table, {.width = width}));
    }
    expect_golden("runs_ascii.table",
                  render(runs, Format::table, {.width = 60, .utf8 = false}, columns));
    expect_golden("runs_colour.table",
                  render(runs, Format::table, {.width = 80, .colour = true}, columns));
    expect_golden("runs_columns.tsv", render(runs, Format::tsv, {}, columns));
}

std::vector<double> falling(int count)
{
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
        values.push_back(2.3 * std::exp(-i / (count / 6.0)) + 0.05);
    return values;
}

TEST(GoldenOutput, Charts)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Series loss{.name = "loss", .y = falling(300)};
    for (std::size_t i = 100; i < 120; ++i)
        loss.y[i] = nan;
    const Series other{.name = "validation loss", .y = falling(200)};
    const std::vector<Series> one{loss};
    const std::vector<Series> two{loss, other};
    const std::vector<Series> accuracy{
        {.name = "accuracy", .y = {0.61, 0.82, 0.88, 0.91, 0.93}, .x = {1, 2, 3, 4, 5}}};
    for (const bool utf8 : {true, false}) {
        for (const bool colour : {true, false}) {
            const auto suffix = std::string(utf8 ? "_utf8" : "_ascii") + (colour ? "_colour" : "");
            const ChartOptions options{.terminal = {.width = 80, .colour = colour, .utf8 = utf8},
                                       .title = "run 9be01c11"};
            expect_golden("chart_one" + suffix, draw_chart(one, options));
            expect_golden("chart_two" + suffix, draw_chart(two, options));
        }
    }
    std::vector<Series> runs;
    for (int i = 0; i < 8; ++i) {
        runs.push_back({.name = "#" + std::to_string(i) + " 9be01c1" + std::to_string(i),
                        .y = falling(40 + 20 * i)});
        for (double& value : runs.back().y)
            value *= 1 + i * 0.3;
    }
    expect_golden("chart_eight", draw_chart(runs, {.terminal = {.width = 80}, .title = "loss"}));
    expect_golden("chart_eight_colour",
                  draw_chart(runs, {.terminal = {.width = 80, .colour = true}, .title = "loss"}));
    expect_golden("chart_log",
                  draw_chart(one, {.terminal = {.width = 80}, .scale = Scale::logarithmic}));
    const std::vector<Series> point{{.name = "point", .y = {0.5}, .x = {7}}};
    expect_golden("chart_point", draw_chart(point, {.terminal = {.width = 50}, .height = 5}));
    const std::vector<Series> ends{{.name = "ends", .y = {5e-324, 1, -1e308, nan, 1e308}}};
    expect_golden("chart_ends", draw_chart(ends, {.terminal = {.width = 60}, .height = 7}));
    const std::vector<Series> powers{{.name = "powers", .y = {5e-324, 1, 1e308}}};
    expect_golden(
        "chart_ends_log",
        draw_chart(powers, {.terminal = {.width = 60}, .height = 7, .scale = Scale::logarithmic}));
    const auto minutes = [](double value) {
        return std::to_string(static_cast<int>(value)) + " min";
    };
    expect_golden(
        "chart_time",
        draw_chart(accuracy,
                   {.terminal = {.width = 50}, .height = 5, .x_label = "time", .x_text = minutes}));
    expect_golden(
        "chart_small",
        draw_chart(accuracy, {.terminal = {.width = 50}, .height = 6, .x_label = "epoch"}));
}

}  // namespace
}  // namespace ponk::output
