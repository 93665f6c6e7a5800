// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_columns.hpp"
#include "cli/runs/run_names.hpp"
#include "cli/runs/run_view.hpp"
#include "os/golden_test_support.hpp"
#include "output/column_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JsonArray runs()
{
    return parse_json(R"([
        {"run_id": "0197f3a1c2d4700080004f2a9be01c13", "status": "Running", "end_time_utc": null,
         "git": {"commit": "9454407a1b2c3d4e5f"}, "arguments": ["--name", "a b"],
         "params": {"lr": "0.1"}, "tags": {"team": "x"}, "loss": 0.5, "late": 1.0,
         "metrics": {"loss": 0.5, "late": 1.0, "system/gpu.0.power": 300, "status": 7.0}},
        {"run_id": "0197f3a1c2d4700080004f2a9be01c12", "status": "Completed",
         "end_time_utc": "2026-01-02T03:04:05Z", "params": {"lr": "0.2", "depth": "3"}, "tags": {},
         "loss": 0.25, "accuracy": 0.9123456789, "curve": [3, 2, 1],
         "metrics": {"accuracy": 0.9123456789, "curve": [3, 2, 1], "loss": 0.25}},
        {"run_id": "0197f3a1c2d4700080004f2a9be01c11", "status": "Failed",
         "end_time_utc": "2026-01-02T03:04:05Z", "params": {}, "tags": {}, "accuracy": 0.5,
         "metrics": {"accuracy": 0.5, "loss": 2.0}}])")
        .value()
        .as_array();
}

void expect_golden(const std::string& name, const std::string& text)
{
    os::expect_golden(os::Path(PONK_SOURCE_DIR) / "tests/golden/cli" / name, text);
}

// Runs as a real project has them, long ago: what is today would be told in another way.
JsonArray listed()
{
    JsonArray list;
    for (int i = 0; i < 5; ++i) {
        JsonObject metrics{{"accuracy", 0.9 + i / 123.0},
                           {"learning_rate", 1.0 / (1 << (10 + i))},
                           {"loss", 1.0 / (3 + i)},
                           {"validation/top5_accuracy_of_all", 0.99},
                           {"val_loss", i == 2 ? Json("NaN") : Json(-1.0 / (3e5 + i))}};
        if (i == 0) metrics.append("only_the_newest", 12345678);
        JsonObject run{{"run_id", fmt::format("0197f3a1c2d4700080004f2a9be01c{}", 15 - i)},
                       {"run_number", 105 - i},
                       {"name", i == 1 ? "wider net" : ""},
                       {"status", i == 0 ? "Running" : "Completed"},
                       {"exit_code", i == 0 ? Json() : Json(0)},
                       {"script_name", "train_classifier.py"},
                       {"target", "local"},
                       {"start_time_utc", fmt::format("2017-03-0{}T12:30:05.123Z", 9 - i)},
                       {"end_time_utc", i == 0 ? Json() : Json("2017-03-09T12:40:05.123Z")},
                       {"duration_ms", 61'000 * (i + 1)},
                       {"gpu_verdict", "not-requested"}};
        for (const auto& [name, value] : metrics)
            run.append(name, value);
        run.append("metrics", std::move(metrics));
        list.emplace_back(std::move(run));
    }
    return list;
}

TEST(RunList, KeepsItsMetricsOnNarrowTerminals)
{
    const auto view = view_of_runs(listed());
    for (const int width : {60, 80, 120, 200}) {
        const output::Terminal terminal{.width = width};
        const auto columns = output::order_by_rank(
            view.rows, view.columns, run_column_ranks(view.columns), terminal);
        const auto text = output::render_table(view.rows, terminal, columns);
        expect_golden("runs-" + std::to_string(width) + ".txt", text);
        EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("accuracy"));
    }
}

TEST(RunNames, MetricsOfMostRunsComeFirst)
{
    EXPECT_THAT(common_metrics(runs(), 9), ElementsAre("loss", "accuracy", "late", "status"));
    EXPECT_THAT(common_metrics(runs(), 1), ElementsAre("loss"));
    EXPECT_THAT(common_metrics({}, 9), ElementsAre());
}

TEST(RunNames, MetricsThatJudgeARunComeBeforeOthers)
{
    const auto list =
        parse_json(R"([{"metrics": {"a": 1.0, "epoch": 3.0, "loss": 0.5, "z": 1.0}}])")
            .value()
            .as_array();
    EXPECT_THAT(common_metrics(list, 9), ElementsAre("loss", "a", "epoch", "z"));
}

TEST(RunColumns, TakeMetricsParametersTagsAndFields)
{
    const auto parsed =
        parse_columns("run, no,loss,params.lr,team,git.commit,metrics.status,curve", runs());
    ASSERT_TRUE(parsed);
    EXPECT_THAT(parsed->notes, ElementsAre());
    const auto view = view_of_columns(runs(), parsed->columns);
    EXPECT_EQ(to_json(view.rows.as_array()[0]),
              R"({"run":"9be01c13","no":null,"loss":"0.5","params.lr":"0.1","team":"x",)"
              R"("git.commit":"9454407a1b2c","metrics.status":"7","curve":null})");
    EXPECT_EQ(view.exact.as_array()[0].text("run"), "0197f3a1c2d4700080004f2a9be01c13");
    EXPECT_EQ(view.exact.as_array()[1]["curve"], Json(1)) << "the last of a list";
    const auto status = parse_columns("status", runs());
    EXPECT_EQ(view_of_columns(runs(), status->columns).exact.as_array()[0].text("status"),
              "Running")
        << "a field wins over a metric of its name";
}

TEST(RunColumns, SuggestWhatWasMeant)
{
    const auto typo = parse_columns("acuracy", runs());
    ASSERT_FALSE(typo);
    EXPECT_EQ(typo.error().code, exit_code::usage);
    EXPECT_THAT(typo.error().error.message(), HasSubstr("'acuracy'"));
    EXPECT_EQ(typo.error().error.hint(), "Did you mean 'accuracy'?");
    const auto named = parse_columns("metrics.acuracy,params.dpth", runs());
    ASSERT_TRUE(named) << "it may come with a later run";
    EXPECT_THAT(named->notes,
                ElementsAre("no run has a metric 'acuracy'; did you mean 'accuracy'?",
                            "no run has a parameter 'dpth'; did you mean 'depth'?"));
    EXPECT_FALSE(parse_columns("a,,b", runs()));
    EXPECT_FALSE(parse_columns("", runs()));
    EXPECT_TRUE(parse_columns("whatever", {})) << "no run, no mistake";
}

TEST(RunColumns, TakeNamesInBackticks)
{
    const auto parsed = parse_columns("metrics.`a,b`,status", runs());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->columns[0].field.key, "a,b");
}

}  // namespace
}  // namespace ponk::cli
