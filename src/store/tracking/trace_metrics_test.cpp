// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/spans.hpp"
#include "store/tracking/trace_metrics.hpp"
#include "store/tracking/traces.hpp"

#include <fmt/ranges.h>

namespace ponk::store {
namespace {

using testing::HasSubstr;
using Kind = Aggregation::Kind;

constexpr std::int64_t minute = 60'000;

class TraceMetricsTest : public HistoryTest {
protected:
    void put(const std::string& id,
             std::int64_t time,
             std::optional<std::int64_t> duration,
             const std::string& name,
             Pairs metadata = {})
    {
        TraceInfo trace{.id = id, .time = time, .duration = duration, .state = "OK"};
        trace.metadata = std::move(metadata);
        if (!name.empty()) trace.tags = {{"mlflow.traceName", name}};
        ASSERT_TRUE(Traces(*history_).put(trace));
    }
    void add_span(const std::string& trace, const Span& span)
    {
        ASSERT_TRUE(Spans(*history_).add(0, {{.trace = trace, .spans = {span}}}));
    }
    void assess(const std::string& trace,
                const std::string& name,
                const Json& value,
                const std::string& kind = "feedback",
                std::optional<std::string> overrides = std::nullopt)
    {
        ASSERT_TRUE(Assessments(*history_).add({.id = fmt::format("a{}", ++assessed_),
                                                .trace = trace,
                                                .name = name,
                                                .kind = kind,
                                                .value = value,
                                                .overrides = std::move(overrides)}));
    }
    // "[bucket] dimensions: NAME value NAME value; …"
    std::string ask(TraceMetricQuery query, const std::string& filter = "")
    {
        query.experiments = {0};
        query.filter = query::search::parse_filter(query::search::trace_metrics, filter).value();
        const auto points = TraceMetrics(*history_).query(query);
        if (!points) return points.error().message();
        std::vector<std::string> texts;
        for (const auto& point : *points) {
            std::string text = point.bucket ? fmt::format("[{}] ", *point.bucket) : "";
            for (const auto& [name, value] : point.dimensions)
                text += value + " ";
            for (const auto& [name, value] : point.values)
                text += fmt::format("{} {} ", name, value);
            texts.push_back(text);
        }
        return fmt::format("{}", fmt::join(texts, "; "));
    }

    int assessed_ = 0;
};

const std::vector<Aggregation> count{{Kind::count}};

TEST_F(TraceMetricsTest, TracesAreCountedByNameStatusAndTime)
{
    EXPECT_EQ(ask({.metric = "trace_count", .aggregations = count}), "COUNT 0 ");
    EXPECT_EQ(ask({.metric = "trace_count", .aggregations = count, .dimensions = {"trace_name"}}),
              "");
    put("a", minute, 5, "f");
    put("b", minute + 1, 5, "g");
    put("c", 2 * minute - 1, 5, "f");
    put("d", 2 * minute, 5, "");
    put("early", -1, 5, "f");
    EXPECT_EQ(ask({.metric = "trace_count", .aggregations = count}), "COUNT 5 ");
    EXPECT_EQ(ask({.metric = "trace_count",
                   .aggregations = count,
                   .dimensions = {"trace_name", "trace_status"}}),
              "f OK COUNT 3 ; g OK COUNT 1 ");
    EXPECT_EQ(ask({.metric = "trace_count",
                   .aggregations = count,
                   .bucket = minute,
                   .from = -minute,
                   .until = 2 * minute}),
              "[-60000] COUNT 1 ; [60000] COUNT 3 ; [120000] COUNT 1 ");
    EXPECT_EQ(ask({.metric = "trace_count",
                   .aggregations = count,
                   .bucket = minute,
                   .from = minute + 1,
                   .until = 2 * minute - 1,
                   .limit = 1}),
              "[60000] COUNT 2 ");
    EXPECT_EQ(
        ask({.metric = "trace_count", .aggregations = count}, "trace.tag.mlflow.traceName = 'f'"),
        "COUNT 3 ");
}

TEST_F(TraceMetricsTest, PercentilesLieBetweenValues)
{
    for (int i = 0; i < 5; ++i)
        put(fmt::format("t{}", i), i, std::int64_t{i} * i, i == 4 ? "other" : "f");
    put("running", 9, std::nullopt, "f");
    const std::vector<Aggregation> all{{Kind::average},
                                       {Kind::least},
                                       {Kind::greatest},
                                       {Kind::percentile, 0},
                                       {Kind::percentile, 50},
                                       {Kind::percentile, 90},
                                       {Kind::percentile, 100}};
    EXPECT_EQ(ask({.metric = "latency", .aggregations = all}),
              "AVG 6 MIN 0 MAX 16 P0.0 0 P50.0 4 P90.0 13.200000000000001 P100.0 16 ");
    EXPECT_EQ(ask({.metric = "latency",
                   .aggregations = {{Kind::percentile, 50}, {Kind::least}},
                   .dimensions = {"trace_name"}}),
              "f P50.0 2.5 MIN 0 ; other P50.0 16 MIN 16 ");
    EXPECT_EQ(ask({.metric = "latency", .aggregations = all, .from = 100}), "");
}

TEST_F(TraceMetricsTest, TokensAreWholeNumbersOfTheClientsCount)
{
    const auto usage = [](const std::string& text) {
        return Pairs{{"mlflow.trace.tokenUsage", text}};
    };
    put("a", 1, 1, "f", usage(R"({"input_tokens": 10, "total_tokens": 15})"));
    put("b", 2, 1, "f", usage(R"({"input_tokens": 5.0})"));
    put("c", 3, 1, "f", usage(R"({"input_tokens": 1.5})"));
    put("d", 4, 1, "f", usage(R"({"input_tokens": true})"));
    put("e", 5, 1, "f", usage("no json"));
    put("f", 6, 1, "f", usage(R"({"input_tokens": 1e300})"));
    const std::vector<Aggregation> sums{{Kind::sum}, {Kind::average}};
    EXPECT_EQ(ask({.metric = "input_tokens", .aggregations = sums}), "SUM 15 AVG 7.5 ");
    EXPECT_EQ(ask({.metric = "total_tokens", .aggregations = sums}), "SUM 15 AVG 15 ");
    EXPECT_EQ(ask({.metric = "output_tokens", .aggregations = sums}), "");
    put("g", 7, 1, "f", usage(R"({"input_tokens": 9223372036854775807})"));
    put("h", 8, 1, "f", usage(R"({"input_tokens": 9223372036854775807})"));
    EXPECT_THAT(ask({.metric = "input_tokens", .aggregations = sums}), HasSubstr("SUM 1.8446"));
}

TEST_F(TraceMetricsTest, SessionsAreCountedOnce)
{
    for (const auto* id : {"a", "b", "c"})
        put(id, 1, 1, "f", {{"mlflow.trace.session", id == std::string("c") ? "y" : "x"}});
    put("d", 1, 1, "f");
    EXPECT_EQ(ask({.metric = "session_count", .aggregations = count}), "COUNT 2 ");
    EXPECT_EQ(ask({.metric = "session_count", .aggregations = count},
                  "trace.metadata.`mlflow.trace.session` = 'y'"),
              "COUNT 1 ");
}

TEST_F(TraceMetricsTest, SpansAreMeasuredByWhatTheyAreAndWhatTheyCost)
{
    put("t", 0, 1, "f");
    const auto span = [](const std::string& id, std::int64_t began_ms, std::int64_t took_ms) {
        return Span{.id = id,
                    .parent = "p",
                    .name = "n",
                    .type = "LLM",
                    .status = "OK",
                    .began = began_ms * 1'000'000,
                    .ended = (began_ms + took_ms) * 1'000'000 + 999'999,
                    .content = "{}"};
    };
    auto one = span("1", minute, 5);
    one.model = "m1";
    one.provider = "them";
    one.input_cost = 0.25;
    add_span("t", one);
    one.input_cost = 0.5;
    add_span("t", one);  // sent again it replaces what it said
    auto two = span("2", 2 * minute, 7);
    two.model = "m2";
    two.input_cost = 1.5;
    two.status = "ERROR";
    add_span("t", two);
    add_span("t", span("3", minute, 9));
    const auto spans = TraceView::spans;
    EXPECT_EQ(ask({.view = spans, .metric = "span_count", .aggregations = count}), "COUNT 3 ");
    EXPECT_EQ(ask({.view = spans,
                   .metric = "span_count",
                   .aggregations = count,
                   .dimensions = {"span_model_name"}}),
              "m1 COUNT 1 ; m2 COUNT 1 ");
    EXPECT_EQ(ask({.view = spans, .metric = "latency", .aggregations = {{Kind::greatest}}},
                  "span.status = 'OK'"),
              "MAX 9 ");
    const std::vector<Aggregation> sum{{Kind::sum}};
    EXPECT_EQ(ask({.view = spans, .metric = "input_cost", .aggregations = sum}), "SUM 2 ");
    EXPECT_EQ(ask({.view = spans,
                   .metric = "input_cost",
                   .aggregations = sum,
                   .dimensions = {"span_model_provider"}}),
              "them SUM 0.5 ");
    EXPECT_EQ(ask({.view = spans, .metric = "input_cost", .aggregations = sum, .from = 2 * minute}),
              "SUM 1.5 ")
        << "costs by the time of the span";
    EXPECT_EQ(ask({.view = spans, .metric = "span_count", .aggregations = count, .until = 0}),
              "COUNT 3 ")
        << "all else by the time of the trace";
    ASSERT_TRUE(Traces(*history_).remove(0, {.ids = {"t"}}));
    EXPECT_EQ(ask({.view = spans, .metric = "input_cost", .aggregations = sum}), "");
}

TEST_F(TraceMetricsTest, AssessmentsAreCountedAndMeasured)
{
    put("t", minute, 1, "f");
    assess("t", "good", true);
    assess("t", "good", " Yes\n");
    assess("t", "good", "no");
    assess("t", "good", 0.5);
    assess("t", "good", "perhaps");
    assess("t", "yes", "yes", "issue");
    assess("t", "wanted", 3, "expectation");
    assess("t", "wanted", 4, "expectation", "a7");
    const auto view = TraceView::assessments;
    EXPECT_EQ(ask({.view = view,
                   .metric = "assessment_count",
                   .aggregations = count,
                   .dimensions = {"assessment_name"}}),
              "good COUNT 5 ; wanted COUNT 1 ; yes COUNT 1 ");
    EXPECT_EQ(ask({.view = view,
                   .metric = "assessment_count",
                   .aggregations = count,
                   .dimensions = {"assessment_value"}},
                  "assessment.name = 'wanted'"),
              "4 COUNT 1 ");
    EXPECT_EQ(ask({.view = view,
                   .metric = "assessment_value",
                   .aggregations = {{Kind::average}, {Kind::percentile, 50}},
                   .dimensions = {"assessment_name"}}),
              "good AVG 0.625 P50.0 0.75 ; wanted AVG 4 P50.0 4 ");
    EXPECT_EQ(ask({.view = view, .metric = "assessment_count", .aggregations = count},
                  "assessment.type = 'issue'"),
              "COUNT 1 ");
    EXPECT_EQ(ask({.view = view, .metric = "assessment_count", .aggregations = count},
                  "trace.status = 'ERROR'"),
              "COUNT 0 ");
}

TEST_F(TraceMetricsTest, WhatCannotBeAskedIsRefusedInTheWordsOfMlflow)
{
    EXPECT_EQ(ask({.view = TraceView::assessments, .metric = "latency", .aggregations = count}),
              "metric_name must be one of ['assessment_count', 'assessment_value'], got 'latency'");
    EXPECT_EQ(ask({.metric = "trace_count", .aggregations = {{Kind::sum}, {Kind::average}}}),
              "Found invalid aggregation_type(s): ['AVG', 'SUM']. Supported aggregation types:"
              " ['COUNT']");
    EXPECT_EQ(ask({.metric = "trace_count", .aggregations = count, .dimensions = {"x"}}),
              "Found invalid dimension(s): ['x']. Supported dimensions: ['trace_name',"
              " 'trace_status']");
    EXPECT_THAT(ask({.metric = "trace_count"}), HasSubstr("aggregations"));
    EXPECT_THAT(ask({.metric = "trace_count", .aggregations = count}, "span.name = 'x'"),
                HasSubstr("only supported for SPANS"));
    EXPECT_THAT(ask({.view = TraceView::spans, .metric = "span_count", .aggregations = count},
                    "assessment.name = 'x'"),
                HasSubstr("only supported for ASSESSMENTS"));
}

}  // namespace
}  // namespace ponk::store
