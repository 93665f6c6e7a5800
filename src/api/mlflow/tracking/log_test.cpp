// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/tracking/log_body.hpp"
#include "api/mlflow/tracking_test_support.hpp"
#include "base/work_count.hpp"

#include <chrono>

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MlflowLog : public MlflowTest {
protected:
    std::string metric(const std::string& fields)
    {
        return refusal(in_run("log-metric", id_, fields));
    }
    std::string batch(const std::string& fields)
    {
        return refusal(in_run("log-batch", id_, fields));
    }
    // {"key": "k0", …}, {"key": "k1", …}, …
    static std::string entries(std::size_t count, const std::string& rest)
    {
        std::string all;
        for (std::size_t i = 0; i < count; ++i)
            all += fmt::format(R"({}{{"key": "k{}", {}}})", i == 0 ? "" : ",", i, rest);
        return all;
    }

    const std::string ok_ = "200 : ";
    const std::string id_ = new_run();
};

TEST_F(MlflowLog, NumbersComeInManyForms)
{
    const std::tuple<const char*, const char*, double> forms[] = {
        {"a", "1", 1},
        {"b", "\"2.5\"", 2.5},
        {"c", "-3e2", -300},
        {"d", "\"Infinity\"", std::numeric_limits<double>::max()},
        {"e", "\"-inf\"", -std::numeric_limits<double>::max()},
        {"f", "4.9406564584124654e-324", 5e-324},
        {"g", "0.1", 0.1}};
    for (const auto& [key, value, expected] : forms) {
        EXPECT_EQ(metric(fmt::format(
                      R"("key": "{}", "value": {}, "timestamp": "7", "step": "3")", key, value)),
                  ok_);
        EXPECT_EQ(data(id_, "metrics", key).as_double(), expected) << value;
    }
    EXPECT_EQ(metric(R"("key": "n", "value": "nan", "timestamp": 0)"), ok_);
    EXPECT_EQ(data(id_, "metrics", "n"), Json("NaN"));
    EXPECT_EQ(metric(R"("key": "n", "value": -Infinity, "timestamp": 1)"), ok_);
    EXPECT_EQ(data(id_, "metrics", "n"), Json(-std::numeric_limits<double>::max()));
}

TEST_F(MlflowLog, WholeNumbersReachToTheirLimits)
{
    EXPECT_EQ(metric(R"("key": "a", "value": 1, "timestamp": 9223372036854775807,
                        "step": -9223372036854775808)"),
              ok_);
    const auto entry = run(id_)["data"]["metrics"].as_array().at(0);
    EXPECT_EQ(entry.integer("timestamp"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(entry.integer("step"), std::numeric_limits<std::int64_t>::min());
    for (const auto* bad : {R"("timestamp": 9223372036854775808)",
                            R"("timestamp": -1)",
                            R"("timestamp": 1.5)",
                            R"("timestamp": "x")",
                            R"("timestamp": 1, "step": 1e19)",
                            R"("timestamp": true)"})
        EXPECT_THAT(metric(std::string(R"("key": "a", "value": 1, )") + bad),
                    StartsWith("400 INVALID_PARAMETER_VALUE: Invalid value "))
            << bad;
}

TEST_F(MlflowLog, WhatIsMissingIsNamed)
{
    const std::string missing =
        "400 INVALID_PARAMETER_VALUE: Missing value for required parameter ";
    const std::string closing = ". See the API docs for more information about request parameters.";
    EXPECT_EQ(metric(R"("value": 1, "timestamp": 1)"), missing + "'key'" + closing);
    EXPECT_EQ(metric(R"("key": "a", "timestamp": 1)"), missing + "'value'" + closing);
    EXPECT_EQ(metric(R"("key": "a", "value": 1)"), missing + "'timestamp'" + closing);
    EXPECT_EQ(batch(R"("metrics": [{"key": "a", "value": 1}])"),
              missing + "'metrics[0].timestamp'.");
    EXPECT_EQ(batch(R"("params": [{"value": "a"}])"), missing + "'params[0].key'.");
    EXPECT_EQ(batch(R"("tags": [{"key": "a"}, {"value": "a"}])"), missing + "'tags[1].key'.");
    EXPECT_THAT(refusal(post("runs/log-batch", "not json")),
                StartsWith("400 INVALID_PARAMETER_VALUE: The body of the request is not JSON"));
    EXPECT_EQ(refusal(post("runs/log-metric", "")), missing + "'run_id'" + closing);
}

TEST_F(MlflowLog, KeysAreWordsAndPaths)
{
    for (const auto* key : {"a", "a b", "x/y.z-1:2_3", "žluťoučký", "精度", "..a/b", "a..b", "½"}) {
        const bool good = std::string_view(key) != "..a/b";
        const auto body = fmt::format(R"("key": "{}", "value": 1, "timestamp": 1)", key);
        EXPECT_EQ(metric(body) == ok_, good) << key;
    }
    for (const auto* key : {"a//b",
                            "/a",
                            "a/",
                            "./a",
                            "a/../b",
                            "..",
                            ".",
                            "a\\\"b",
                            "a\\nb",
                            "a\\u0000",
                            "a;b",
                            "a%b",
                            "a(b)",
                            "a\xE2\x80\x8B"
                            "b",
                            "\xF0\x9F\x98\x80"}) {
        const auto body = fmt::format(R"("key": "{}", "value": 1, "timestamp": 1)", key);
        EXPECT_THAT(metric(body), StartsWith("400 INVALID_PARAMETER_VALUE: Invalid value")) << key;
        EXPECT_THAT(refusal(in_run("log-parameter", id_, fmt::format(R"("key": "{}")", key))),
                    StartsWith("400 "))
            << key;
        EXPECT_THAT(refusal(in_run("set-tag", id_, fmt::format(R"("key": "{}")", key))),
                    StartsWith("400 "))
            << key;
    }
}

TEST_F(MlflowLog, LengthsAreCountedInCharacters)
{
    const std::string longest(250, 'k');
    EXPECT_EQ(metric(fmt::format(R"("key": "{}", "value": 1, "timestamp": 1)", longest)), ok_);
    EXPECT_THAT(metric(fmt::format(R"("key": "{}k", "value": 1, "timestamp": 1)", longest)),
                HasSubstr("'Metric name' exceeds the maximum length of 250 characters"));
    EXPECT_THAT(batch(fmt::format(R"("params": [{{"key": "{}k", "value": ""}}])", longest)),
                HasSubstr("'Param key' exceeds the maximum length of 250 characters"));
    EXPECT_THAT(batch(fmt::format(R"("tags": [{{"key": "{}k", "value": ""}}])", longest)),
                HasSubstr("'key' exceeds the maximum length of 250 characters"));
    std::string wide;
    for (int i = 0; i < 250; ++i)
        wide += "ž";
    EXPECT_EQ(metric(fmt::format(R"("key": "{}", "value": 1, "timestamp": 1)", wide)), ok_);
}

TEST_F(MlflowLog, LongValuesAreCut)
{
    const std::string text(9000, 'v');
    EXPECT_EQ(batch(fmt::format(R"("params": [{{"key": "p", "value": "{0}"}}],
                                   "tags": [{{"key": "t", "value": "{0}"}}])",
                                text)),
              ok_);
    EXPECT_EQ(data(id_, "params", "p").as_string().size(), 6000U);
    EXPECT_EQ(data(id_, "tags", "t").as_string().size(), 8000U);
}

TEST_F(MlflowLog, ParametersAreWrittenOnce)
{
    EXPECT_EQ(refusal(in_run("log-parameter", id_, R"("key": "p", "value": "1")")), ok_);
    EXPECT_EQ(refusal(in_run("log-parameter", id_, R"("key": "p", "value": "1")")), ok_);
    EXPECT_EQ(refusal(in_run("log-parameter", id_, R"("key": "empty")")), ok_);
    EXPECT_EQ(data(id_, "params", "empty"), Json(""));
    EXPECT_EQ(
        refusal(in_run("log-parameter", id_, R"("key": "p", "value": "2")")),
        fmt::format("400 INVALID_PARAMETER_VALUE: Changing param values is not allowed. Param "
                    "with key='p' was already logged with value='1' for run ID='{}'. "
                    "Attempted logging new value '2'.",
                    id_));
    EXPECT_THAT(batch(R"("params": [{"key": "a", "value": "1"}, {"key": "a", "value": "1"}])"),
                HasSubstr("Duplicate parameter keys have been submitted"));
}

TEST_F(MlflowLog, TagsAreOverwrittenAndTheLastOneCounts)
{
    EXPECT_EQ(batch(R"("tags": [{"key": "t", "value": "1"}, {"key": "t", "value": "2"}])"), ok_);
    EXPECT_EQ(data(id_, "tags", "t"), Json("2"));
    EXPECT_EQ(refusal(in_run("set-tag", id_, R"("key": "t", "value": "ž\"\\\n'")")), ok_);
    EXPECT_EQ(data(id_, "tags", "t"), Json("ž\"\\\n'"));
    EXPECT_EQ(refusal(in_run("delete-tag", id_, R"("key": "t")")), ok_);
    EXPECT_EQ(data(id_, "tags", "t"), Json());
}

// Parameters are stored among the tags.
TEST_F(MlflowLog, ATagMayBeCalledLikeAStoredParameter)
{
    EXPECT_EQ(batch(R"("params": [{"key": "lr", "value": "1"}],
                       "tags": [{"key": "param.lr", "value": "tag"}])"),
              ok_);
    EXPECT_EQ(data(id_, "params", "lr"), Json("1"));
    EXPECT_EQ(data(id_, "tags", "param.lr"), Json("tag"));
    const auto found = [this](const std::string& filter) {
        return post("runs/search",
                    to_json(JsonObject{{"experiment_ids", JsonArray{"0"}}, {"filter", filter}}))
            .body;
    };
    EXPECT_THAT(found("tags.`param.lr` = 'tag'"), HasSubstr(id_));
    EXPECT_EQ(found("tags.`param.lr` = '1'"), "{}\n");
    EXPECT_THAT(found("params.lr = '1'"), HasSubstr(id_));
}

TEST_F(MlflowLog, ABatchIsStoredWholeOrNotAtAll)
{
    ASSERT_EQ(batch(R"("params": [{"key": "p", "value": "1"}])"), ok_);
    EXPECT_THAT(batch(R"("params": [{"key": "q", "value": "1"}, {"key": "p", "value": "2"}],
                         "metrics": [{"key": "m", "value": 1, "timestamp": 1}],
                         "tags": [{"key": "t", "value": "1"}])"),
                StartsWith("400 "));
    EXPECT_THAT(batch(R"("tags": [{"key": "t", "value": "1"}],
                         "metrics": [{"key": "m", "value": 1, "timestamp": 1},
                                     {"key": "m", "value": "x", "timestamp": 1}])"),
                HasSubstr("Invalid value \"x\" for parameter 'metrics[1].value' supplied"));
    EXPECT_EQ(data(id_, "params", "q"), Json());
    EXPECT_EQ(data(id_, "metrics", "m"), Json());
    EXPECT_EQ(data(id_, "tags", "t"), Json());
}

TEST_F(MlflowLog, ABatchHasLimits)
{
    const std::string metrics = R"("value": 1, "timestamp": 1)";
    const std::string texts = R"("value": "v")";
    const std::string most =
        "400 INVALID_PARAMETER_VALUE: A batch logging request can contain at most ";
    EXPECT_EQ(batch("\"metrics\": [" + entries(1000, metrics) + "]"), ok_);
    EXPECT_THAT(batch("\"metrics\": [" + entries(1001, metrics) + "]"),
                StartsWith(most + "1000 metrics."));
    EXPECT_THAT(batch("\"params\": [" + entries(101, texts) + "]"),
                StartsWith(most + "100 params. Got 101"));
    EXPECT_THAT(batch("\"tags\": [" + entries(101, texts) + "]"),
                StartsWith(most + "100 tags. Got 101"));
    EXPECT_THAT(batch("\"tags\": [" + entries(50, texts) + "], \"metrics\": [" +
                      entries(951, metrics) + "]"),
                StartsWith(most + "1000 metrics, params, and tags."));
    for (const auto* id : {"-x", "a b", "a/../b", "ž"})
        EXPECT_THAT(refusal(post("runs/log-batch", to_json(JsonObject{{"run_id", id}}))),
                    StartsWith("400 INVALID_PARAMETER_VALUE: Invalid value"))
            << id;
    EXPECT_EQ(batch(""), ok_);
}

TEST_F(MlflowLog, FarTooManyMetricsAreRefusedBeforeTheyAreRead)
{
    std::string body = R"({"run_id": ")" + id_ + R"(", "metrics": [)";
    const std::string one = R"({"key":"a","value":1,"timestamp":1})";
    body.reserve(body.size() + 50'001 * (one.size() + 1));
    for (int i = 0; i < 50'001; ++i)
        body += (i == 0 ? "" : ",") + one;
    body += "]}";
    const auto time_of = [](const auto& work) {
        const auto before = std::chrono::steady_clock::now();
        work();
        return std::chrono::steady_clock::now() - before;
    };
    const auto refusing = time_of([&] {
        EXPECT_THAT(refusal(post("runs/log-batch", body)), HasSubstr("at most 1000 metrics"));
    });
    EXPECT_LT(refusing, time_of([&] { EXPECT_TRUE(parse_json(body)); }));
    EXPECT_EQ(data(id_, "metrics", "a"), Json());
}

TEST_F(MlflowLog, TheLatestHasTheGreatestStepThenTimeThenValue)
{
    for (const auto* fields : {R"("value": 1, "timestamp": 10, "step": 5)",
                               R"("value": 9, "timestamp": 99, "step": 4)",
                               R"("value": 3, "timestamp": 11, "step": 5)"})
        EXPECT_EQ(metric(std::string(R"("key": "m", )") + fields), ok_);
    EXPECT_EQ(data(id_, "metrics", "m").as_double(), 3);
}

TEST_F(MlflowLog, HalfACharacterIsRefusedSinceItWouldHideAllThatIsToldWithIt)
{
    const auto half = R"("key": "p", "value": "a\udcffb")";
    for (const auto* call : {"log-parameter", "set-tag"})
        EXPECT_THAT(refusal(in_run(call, id_, half)), HasSubstr("half of a surrogate pair"))
            << call;
    EXPECT_EQ(post("experiments/create", R"({"name": "x\uDCFF"})").status, 400);
    ask(in_run("set-tag", id_, R"("key": "whole", "value": "\ud83d\udc80")"));
    EXPECT_EQ(data(id_, "tags", "whole"), Json("\xf0\x9f\x92\x80"));
    // What ponk itself knows by such a name is shown, though not to the byte.
    ASSERT_TRUE(history_->set_tag(RunId::parse(id_).value(), "file", "caf\xe9"));
    EXPECT_EQ(data(id_, "tags", "file"), Json("caf\xef\xbf\xbd"));
}

TEST_F(MlflowLog, ADatasetHasANameAndADigestOrNeither)
{
    for (const auto* member : {R"("dataset_name": "x")", R"("dataset_digest": "1")"}) {
        EXPECT_THAT(
            refusal(in_run("log-metric",
                           id_,
                           std::string(R"("key": "m", "value": 1, "timestamp": 1, )") + member)),
            HasSubstr("Both dataset_name and dataset_digest must be provided"));
    }
    EXPECT_TRUE(data(id_, "metrics", "m").is_null());
}

TEST_F(MlflowLog, HostileTextsAreTexts)
{
    for (const auto* text : {"'; DROP TABLE run; --",
                             "{{7*7}}",
                             "<script>alert(1)</script>",
                             "%s%n",
                             "../../etc/passwd",
                             "\xF0\x9F\x92\xA9",
                             "a\x01\x1f"}) {
        const auto body = to_json(JsonObject{{"run_id", id_}, {"key", "t"}, {"value", text}});
        EXPECT_EQ(refusal(post("runs/set-tag", body)), ok_);
        EXPECT_EQ(data(id_, "tags", "t"), Json(text));
        EXPECT_EQ(refusal(get("runs/get", {{"run_id", text}})).substr(0, 4), "404 ");
    }
}

// One reads fast what clients send, the other everything: they must agree.
TEST(MlflowLogBody, IsReadFastOnlyWhereItsFormIsPlain)
{
    const std::string id(32, 'a');
    const auto scan = [&](const std::string& fields) {
        return scan_metric(fmt::format(R"({{"run_id": "{}", {}}})", id, fields));
    };
    const auto plain =
        scan(R"("run_uuid":"x","key":"a/b c","value":-1.5e-3,"timestamp":7,"step":-2)");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->run_id, id);
    const auto& [key, points] = plain->logged.points.keys().at(0);
    EXPECT_EQ(key, "a/b c");
    EXPECT_EQ(points.values, std::vector{-1.5e-3});
    EXPECT_EQ(points.times, std::vector<std::int64_t>{7});
    EXPECT_EQ(points.steps, std::vector<std::int64_t>{-2});
    for (const auto* odd : {R"("key":"a","value":"1","timestamp":7)",
                            R"("key":"a\u0041","value":1,"timestamp":7)",
                            R"("key":"a","value":01,"timestamp":7)",
                            R"("key":"a","value":1.,"timestamp":7)",
                            R"("key":"a","value":1e999,"timestamp":7)",
                            R"("key":"a","value":+1,"timestamp":7)",
                            R"("key":"a","value":inf,"timestamp":7)",
                            R"("key":"a","value":0x10,"timestamp":7)",
                            R"("key":"a","value":1,"timestamp":7.0)",
                            R"("key":"a","value":1,"timestamp":-7)",
                            R"("key":"a","value":1,"timestamp":null)",
                            R"("key":"a//b","value":1,"timestamp":7)",
                            R"("key":"","value":1,"timestamp":7)",
                            R"("key":"a","value":1)",
                            R"("key":"a","value":1,"timestamp":7,"model_id":"m")",
                            R"("key":"a","value":1,"timestamp":7,)",
                            R"("key":"a","value":1,"timestamp":7} )"})
        EXPECT_FALSE(scan(odd)) << odd;
    EXPECT_FALSE(scan_metric(""));
    EXPECT_FALSE(scan_metric("[]"));
    EXPECT_FALSE(scan_batch("{\"metrics\": [").body);
    const auto batch = scan_batch(fmt::format(
        R"({{"run_id":"{}","metrics":[{{"key":"a","value":1,"timestamp":1}}],"params":[],
            "tags":[{{"key":"t","value":""}}]}})",
        id));
    ASSERT_TRUE(batch.body);
    EXPECT_EQ(batch.body->logged.points.size(), 1U);
    EXPECT_EQ(batch.body->logged.tags.size(), 1U);
}

// The usual form of a metric is read in one go, any other field by field: they must agree, too.
TEST(MlflowLogBody, TheUsualOrderOfFieldsIsReadInOneGo)
{
    const auto scan = [](const std::string& metrics) {
        return scan_batch(
            fmt::format(R"({{"run_id":"{}","metrics":[{}]}})", std::string(32, 'a'), metrics));
    };
    const char* values[] = {
        "0", "-0.0", "1.5", "-2e-7", "0.12345678901234567", "123456789012345678"};
    const char* numbers[] = {
        "0", "7", "1234567", "12345678", "123456789", "1700000000123", "999999999999999999"};
    std::string usual;
    std::string blanks;
    std::string other;
    std::size_t count = 0;
    for (const auto* value : values) {
        for (const auto* time : numbers) {
            for (const auto* step : numbers) {
                const auto* const comma = count++ == 0 ? "" : ",";
                usual += fmt::format(R"({}{{"key":"k{}","value":{},"timestamp":{},"step":{}}})",
                                     comma,
                                     count % 3,
                                     value,
                                     time,
                                     step);
                blanks +=
                    fmt::format(R"({} {{"key": "k{}", "value": {}, "timestamp": {}, "step": -{}}})",
                                comma,
                                count % 3,
                                value,
                                time,
                                step);
                other += fmt::format(R"({}{{"value":{},"key":"k{}","step":{},"timestamp":{}}})",
                                     comma,
                                     value,
                                     count % 3,
                                     step,
                                     time);
            }
        }
    }
    const WorkCount work;
    const auto fast = scan(usual);
    const auto steps = work.steps();
    const auto slow = scan(other);
    EXPECT_EQ(work.steps() - steps, steps + count);
    ASSERT_TRUE(fast.body && slow.body);
    ASSERT_EQ(fast.body->logged.points.size(), count);
    const auto& keys = fast.body->logged.points.keys();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto& [key, points] = keys[i];
        const auto& [other_key, others] = slow.body->logged.points.keys().at(i);
        EXPECT_EQ(key, other_key);
        EXPECT_EQ(points.values, others.values);
        EXPECT_EQ(points.times, others.times);
        EXPECT_EQ(points.steps, others.steps);
    }
    EXPECT_EQ(keys.at(0).points.steps.at(1), 12345678);
    EXPECT_EQ(keys.at(0).points.steps.at(2), 999999999999999999);
    const auto spaced = scan(blanks);
    ASSERT_TRUE(spaced.body);
    EXPECT_EQ(spaced.body->logged.points.size(), count);
    for (const auto* odd : {R"({"key":"a","value":1,"timestamp":7,"step":01})",
                            R"({"key":"a","value":1,"timestamp":0123456789,"step":1})",
                            R"({"key":"a","value":1,"timestamp":12345678.0,"step":1})",
                            R"({"key":"a","value":1,"timestamp":1234567890123456789,"step":1})",
                            R"({"key":"a","value":1,"timestamp":-5,"step":1})",
                            R"({"key":"a//b","value":1,"timestamp":5,"step":1})",
                            R"({"key":"a","value":1,"timestamp":5,"step":1,})",
                            R"({"key":"a","value":1,"timestamp":5,"step":)",
                            R"({"key":"a","value":.5,"timestamp":5,"step":1})"})
        EXPECT_FALSE(scan(odd).body) << odd;
}

}  // namespace
}  // namespace ponk::api::mlflow
