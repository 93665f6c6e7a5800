// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/routes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ponk::api::mlflow {
namespace {

Fields fields(const std::string& text)
{
    return Fields(*parse_json(text));
}

net::Request post(const std::string& body)
{
    net::Request request;
    request.method = "POST";
    request.headers = {{"Content-Type", "application/json; charset=utf-8"}};
    request.body = body;
    return request;
}

TEST(MlflowFields, NumbersMayBeTextsAndWholeReals)
{
    const auto all = fields(R"({"a": 7, "b": "8", "c": 9.0, "d": "10.0", "e": 1.5, "f": "x"})");
    EXPECT_EQ(*all.integer("a"), 7);
    EXPECT_EQ(*all.integer("b"), 8);
    EXPECT_EQ(*all.integer("c"), 9);
    EXPECT_EQ(*all.integer("d"), 10);
    EXPECT_EQ(
        all.integer("e").error().message(),
        "Invalid value 1.5 for parameter 'e' supplied:  Hint: Value was of type 'float'. See the"
        " API docs for more information about request parameters.");
    EXPECT_EQ(
        all.integer("f").error().message(),
        "Invalid value \"x\" for parameter 'f' supplied:  Hint: Value was of type 'str'. See the"
        " API docs for more information about request parameters.");
}

TEST(MlflowFields, WholeNumbersBeyondSixtyFourBitsAreRefused)
{
    const auto all = fields(
        R"({"a": 9223372036854775808, "b": "-9223372036854775808", "c": 1e300, "d": -9223372036854775809})");
    EXPECT_FALSE(all.integer("a"));
    EXPECT_EQ(*all.integer("b"), std::numeric_limits<std::int64_t>::min());
    EXPECT_FALSE(all.integer("c"));
    EXPECT_FALSE(all.integer("d"));
}

TEST(MlflowFields, RealsMayBeNamed)
{
    const auto all = fields(R"({"a": "NaN", "b": "-Infinity", "c": "inf", "d": "1e-3", "e": 2})");
    EXPECT_TRUE(std::isnan(*all.number("a")));
    EXPECT_EQ(*all.number("b"), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(*all.number("c"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(*all.number("d"), 1e-3);
    EXPECT_EQ(*all.number("e"), 2);
}

TEST(MlflowFields, WhatIsMissingIsNamedWithItsPlace)
{
    const auto all = fields(R"({"metrics": [{"key": "a"}, {"key": null}], "run_id": ""})");
    const auto metrics = *all.objects("metrics");
    EXPECT_EQ(metrics.at(1).text("key").error().message(),
              "Missing value for required parameter 'metrics[1].key'.");
    EXPECT_EQ(all.run_id().error().message(),
              "Missing value for required parameter 'run_id'. See the API docs for more information"
              " about request parameters.");
}

TEST(MlflowFields, NamesOfAListCountFromOne)
{
    const auto all = fields(R"({"a": "TWO", "b": 1, "c": "1", "d": 3, "e": "two"})");
    const std::vector<std::string_view> names{"ONE", "TWO"};
    EXPECT_EQ(*all.find_name("a", names), "TWO");
    EXPECT_EQ(*all.find_name("b", names), "ONE");
    EXPECT_EQ(*all.find_name("c", names), "ONE");
    EXPECT_FALSE(all.find_name("d", names));
    EXPECT_FALSE(all.find_name("e", names));
    EXPECT_EQ(*all.find_name("absent", names), std::nullopt);
}

TEST(MlflowFields, RepeatedParametersOfAQueryAreAList)
{
    net::Request request;
    request.method = "GET";
    request.query = {{"run_ids", "a"}, {"run_ids", "b"}, {"one", "c"}};
    const auto all = *Fields::of(request);
    EXPECT_EQ(*all.texts("run_ids"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(*all.texts("one"), std::vector<std::string>{"c"});
}

TEST(MlflowFields, ABodyThatIsNoObjectCountsAsEmpty)
{
    for (const auto* body : {"", "[]", "7", "{", "\"x\""})
        EXPECT_FALSE(Fields::of(post(body))->has("key")) << body;
    EXPECT_EQ(*Fields::of(post(R"("{\"key\": \"v\"}")"))->text("key"), "v");
}

TEST(MlflowFields, ABodyOfAnotherTypeIsRefused)
{
    auto request = post("{}");
    request.headers = {{"Content-Type", "text/plain"}};
    EXPECT_EQ(Fields::of(request).error().kind(), ErrorKind::invalid_argument);
}

TEST(MlflowRoutes, AreThereOnceForClientsAndOnceForBrowsers)
{
    std::set<std::string> seen;
    for (const auto& route : routes())
        EXPECT_TRUE(seen.insert(std::string(route.method) + " " + route.pattern).second)
            << route.pattern;
    EXPECT_TRUE(seen.contains("GET /api/3.0/mlflow/server-info"));
    EXPECT_TRUE(seen.contains("GET /ajax-api/3.0/mlflow/server-info"));
    EXPECT_TRUE(seen.contains("GET /get-artifact"));
}

}  // namespace
}  // namespace ponk::api::mlflow
