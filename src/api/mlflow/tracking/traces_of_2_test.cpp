// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

class TracesOf2Test : public MlflowTest {
protected:
    Json begin(const std::string& name)
    {
        return ask(post("traces",
                        fmt::format(R"({{"experiment_id": "0", "timestamp_ms": 1000,
            "request_metadata": [{{"key": "m", "value": "{0}"}}],
            "tags": [{{"key": "mlflow.traceName", "value": "{0}"}}]}})",
                                    name)))["trace_info"];
    }
    net::Response end(const std::string& id, const std::string& fields)
    {
        return send("PATCH", "/api/2.0/mlflow/traces/" + id, {}, "{" + fields + "}");
    }
};

TEST_F(TracesOf2Test, ATraceBeginsEndsAndIsShown)
{
    const auto begun = begin("f");
    const auto id = begun.text("request_id");
    EXPECT_EQ(begun.text("status"), "IN_PROGRESS");
    EXPECT_TRUE(begun["execution_time_ms"].is_null());
    const auto ended = ask(end(id,
                               R"("timestamp_ms": 1250, "status": "OK", "request_metadata":
                                  [{"key": "n", "value": "2"}])"))["trace_info"];
    EXPECT_EQ(ended.integer("execution_time_ms"), 250);
    EXPECT_EQ(ended.text("status"), "OK");
    EXPECT_EQ(to_json(ended["request_metadata"]),
              R"([{"key":"m","value":"f"},{"key":"n","value":"2"}])");
    const auto shown = get("traces/" + id + "/info", {});
    EXPECT_EQ(to_json(ask(shown)["trace_info"]), to_json(ended));
    const auto new_form = ask(get("/api/3.0/mlflow/traces/" + id, {}))["trace"]["trace_info"];
    EXPECT_EQ(new_form.text("execution_duration"), "0.250s");
}

TEST_F(TracesOf2Test, AreSearchedByPages)
{
    begin("f");
    const auto other = begin("g").text("request_id");
    const auto found = ask(get("traces", {{"experiment_ids", "0"}, {"filter", "name = 'g'"}}));
    ASSERT_EQ(found["traces"].as_array().size(), 1U);
    EXPECT_EQ(found["traces"].as_array()[0].text("request_id"), other);
    const auto page = ask(get("traces", {{"experiment_ids", "0"}, {"max_results", "1"}}));
    EXPECT_EQ(page["traces"].as_array().size(), 1U);
    EXPECT_NE(page.text("next_page_token"), "");
    EXPECT_THAT(refusal(get("traces", {})), HasSubstr("'experiment_ids'"));
}

TEST_F(TracesOf2Test, WrongOnesAreRefused)
{
    EXPECT_EQ(post("traces", R"({"experiment_id": "9", "timestamp_ms": 1})").status, 404);
    EXPECT_THAT(refusal(post("traces", R"({"experiment_id": "0"})")), HasSubstr("'timestamp_ms'"));
    EXPECT_EQ(end("none", R"("timestamp_ms": 1)").status, 404);
    EXPECT_EQ(get("traces/none/info", {}).status, 404);
    const auto id = begin("f").text("request_id");
    EXPECT_EQ(end(id, R"("timestamp_ms": 2000, "status": "BAD")").status, 400);
    EXPECT_EQ(end(id, R"("status": "OK")").status, 400);
    for (const auto* time : {"9223372036854775807", "-9223372036854775807", "253402300800000"}) {
        EXPECT_THAT(refusal(end(id, fmt::format(R"("timestamp_ms": {})", time))),
                    HasSubstr("the year 9999"));
        EXPECT_THAT(
            refusal(post("traces",
                         fmt::format(R"({{"experiment_id": "0", "timestamp_ms": {}}})", time))),
            HasSubstr("the year 9999"));
    }
}

TEST_F(TracesOf2Test, TwoFiltersAreCompared)
{
    const auto first = begin("f").text("request_id");
    begin("g");
    begin("g");
    ask(end(first, R"("timestamp_ms": 2000, "status": "ERROR")"));
    const auto compare = [this](const std::string& one, const std::string& other) {
        return post("/api/3.0/mlflow/traces/calculate-filter-correlation",
                    fmt::format(R"({{"experiment_ids": ["0"], "filter_string1": "{}",
                                     "filter_string2": "{}"}})",
                                one,
                                other));
    };
    const auto same = ask(compare("name = 'f'", "status = 'ERROR'"));
    EXPECT_EQ(same["npmi"], Json(1.0));
    EXPECT_EQ(same.integer("joint_count"), 1);
    EXPECT_EQ(same.integer("total_count"), 3);
    EXPECT_EQ(ask(compare("name = 'g'", "status = 'ERROR'"))["npmi"], Json(-1.0));
    const auto none = ask(compare("name = 'h'", "status = 'ERROR'"));
    EXPECT_TRUE(none["npmi"].is_null());
    EXPECT_EQ(none.integer("filter2_count"), 1);
    EXPECT_THAT(refusal(compare("", "name = 'f'")), HasSubstr("'filter_string1'"));
    EXPECT_EQ(compare("bogus", "name = 'f'").status, 400);
}

}  // namespace
}  // namespace ponk::api::mlflow
