// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

const std::string traces = "/api/3.0/mlflow/traces";

class TraceMetricCallsTest : public MlflowTest {
protected:
    void start(const std::string& id, const std::string& time, const std::string& duration)
    {
        ask(post(traces,
                 fmt::format(R"({{"trace": {{"trace_info": {{"trace_id": "{}", "trace_location":
                     {{"mlflow_experiment": {{"experiment_id": "0"}}}}, "request_time": "{}",
                     "execution_duration": "{}", "state": "OK",
                     "tags": {{"mlflow.traceName": "f"}}}}}}}})",
                             id,
                             time,
                             duration)));
    }
    // What a count of traces is with these fields besides.
    net::Response count(const std::string& fields)
    {
        return query(R"("view_type": "TRACES", "metric_name": "trace_count",
                        "aggregations": [{"aggregation_type": "COUNT"}])" +
                     fields);
    }
    net::Response query(const std::string& fields)
    {
        return post(traces + "/metrics", R"({"experiment_ids": ["0"], )" + fields + "}");
    }
};

TEST_F(TraceMetricCallsTest, PointsAreAnsweredAsMlflowDoes)
{
    EXPECT_EQ(query(R"("view_type": 1, "metric_name": "latency",
                       "aggregations": [{"aggregation_type": "AVG"}])")
                  .body,
              "{}\n");
    start("a", "2026-03-01T12:30:05.123Z", "1.5s");
    start("b", "2026-03-01T12:31:05Z", "2.5s");
    EXPECT_EQ(query(R"("view_type": "TRACES", "metric_name": "latency",
                       "aggregations": [{"aggregation_type": "PERCENTILE",
                                         "percentile_value": 50},
                                        {"aggregation_type": 3}],
                       "dimensions": ["trace_name", "trace_name"])")
                  .body,
              R"({"data_points":[{"metric_name":"latency","dimensions":{"trace_name":"f"},)"
              R"("values":{"P50.0":2000.0,"AVG":2000.0}}]})"
              "\n");
    EXPECT_EQ(
        count(R"(, "time_interval_seconds": "60", "start_time_ms": 0,
                       "end_time_ms": 2000000000000)")
            .body,
        R"({"data_points":[{"metric_name":"trace_count",)"
        R"("dimensions":{"time_bucket":"2026-03-01T12:30:00+00:00"},"values":{"COUNT":1.0}},)"
        R"({"metric_name":"trace_count",)"
        R"("dimensions":{"time_bucket":"2026-03-01T12:31:00+00:00"},"values":{"COUNT":1.0}}]})"
        "\n");
    EXPECT_EQ(count(R"(, "filters": ["trace.status = 'ERROR'", "trace.tag.a = 'b'"])").body,
              R"({"data_points":[{"metric_name":"trace_count","values":{"COUNT":0.0}}]})"
              "\n");
}

TEST_F(TraceMetricCallsTest, WrongQuestionsAreRefused)
{
    EXPECT_THAT(refusal(post(traces + "/metrics", "{}")), HasSubstr("'experiment_ids'"));
    EXPECT_THAT(refusal(query(R"("view_type": "ALL")")), HasSubstr("view_type"));
    EXPECT_THAT(refusal(query(R"("view_type": "SPANS")")), HasSubstr("'metric_name'"));
    EXPECT_THAT(refusal(query(R"("view_type": "SPANS", "metric_name": "span_count")")),
                HasSubstr("'aggregations'"));
    const auto latency = [this](const std::string& aggregation) {
        return refusal(query(R"("view_type": "TRACES", "metric_name": "latency",
                                "aggregations": [{)" +
                             aggregation + "}]"));
    };
    EXPECT_THAT(latency(R"("aggregation_type": "MEDIAN")"), HasSubstr("aggregation_type"));
    EXPECT_THAT(latency(R"("aggregation_type": "PERCENTILE")"), HasSubstr("is required"));
    EXPECT_THAT(latency(R"("aggregation_type": "PERCENTILE", "percentile_value": 101)"),
                HasSubstr("between 0 and 100, got 101.0"));
    EXPECT_THAT(latency(R"("aggregation_type": "PERCENTILE", "percentile_value": "NaN")"),
                HasSubstr("between 0 and 100"));
    EXPECT_THAT(latency(R"("aggregation_type": "AVG", "percentile_value": 1)"),
                HasSubstr("only allowed for PERCENTILE"));
    EXPECT_THAT(refusal(count(R"(, "time_interval_seconds": 60)")), HasSubstr("are required"));
    EXPECT_THAT(refusal(count(R"(, "time_interval_seconds": -1)")),
                HasSubstr("time_interval_seconds"));
    EXPECT_THAT(refusal(count(R"(, "time_interval_seconds": 9223372036854775807)")),
                HasSubstr("time_interval_seconds"));
    EXPECT_THAT(refusal(count(R"(, "max_results": 0)")), HasSubstr("max_results"));
    EXPECT_THAT(refusal(count(R"(, "page_token": "x")")), HasSubstr("page_token"));
    EXPECT_THAT(refusal(count(R"(, "filters": ["trace.status > 'OK'"])")),
                HasSubstr("cannot be compared"));
    EXPECT_THAT(refusal(count(R"(, "filters": ["span.name = 'x'"])")), HasSubstr("SPANS"));
}

}  // namespace
}  // namespace ponk::api::mlflow
