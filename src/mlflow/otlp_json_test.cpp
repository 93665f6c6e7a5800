// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"
#include "mlflow/otlp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::mlflow {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string ids =
    R"("traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174")";

std::string request(const std::string& spans, const std::string& attributes = "[]")
{
    return R"({"resourceSpans": [{"resource": {"attributes": )" + attributes +
           R"(}, "scopeSpans": [{"scope": {"name": "x"}, "spans": [)" + spans + "]}]}]}";
}

std::string span(const std::string& more = {})
{
    return "{" + ids + (more.empty() ? "" : ", " + more) + "}";
}

std::string with_value(const std::string& value)
{
    return request(span(R"("attributes": [{"key": "k", "value": )" + value + "}]"));
}

std::string problem_of(const std::string& text)
{
    const auto read = read_otlp_json(text);
    return read ? "" : read.error().message();
}

TEST(OtlpJson, ASpanIsReadWithAllThatItSays)
{
    const auto spans =
        read_otlp_json(
            request(span(R"("parentSpanId": "EEE19B7EC3C1B173", "name": "work", "kind": 2,
                "startTimeUnixNano": "1544712660000000000", "endTimeUnixNano": 1544712661000000000,
                "attributes": [{"key": "t", "value": {"stringValue": "é"}},
                               {"key": "i", "value": {"intValue": "10"}},
                               {"key": "n", "value": {"intValue": -1}},
                               {"key": "d", "value": {"doubleValue": 1}},
                               {"key": "o", "value": {"doubleValue": "NaN"}},
                               {"key": "b", "value": {"boolValue": false}},
                               {"key": "x", "value": {"bytesValue": "AQI="}},
                               {"key": "e", "value": {}},
                               {"key": "l", "value": {"arrayValue": {"values":
                                   [{"intValue": "7"}, {"arrayValue": {}}]}}},
                               {"key": "m", "value": {"kvlistValue": {"values":
                                   [{"key": "k", "value": {"stringValue": "v"}}]}}}],
                "events": [{"timeUnixNano": "5", "name": "e",
                            "attributes": [{"key": "a", "value": {"intValue": 1}}]}],
                "links": [{"traceId": "5B8EFFF798038103D269B633813FC60C",
                           "spanId": "eee19b7ec3c1b174"},
                          {"traceId": "5b", "spanId": "ee"}],
                "status": {"code": 2, "message": "bad"}, "nobody knows": {"this": 1})"),
                    R"([{"key": "service.name", "value": {"stringValue": "s"}}])"))
            .value();
    ASSERT_THAT(spans, SizeIs(1));
    const auto& one = spans[0];
    EXPECT_EQ(one.trace, "5b8efff798038103d269b633813fc60c");
    EXPECT_EQ(one.id, "eee19b7ec3c1b174");
    EXPECT_EQ(one.parent, "eee19b7ec3c1b173");
    EXPECT_EQ(one.name, "work");
    EXPECT_EQ(one.began, 1'544'712'660'000'000'000);
    EXPECT_EQ(one.ended, 1'544'712'661'000'000'000);
    EXPECT_EQ(to_json(one.attributes),
              R"({"t":"é","i":10,"n":-1,"d":1.0,"o":"NaN","b":false,"x":"0102","e":null,)"
              R"("l":[7,[]],"m":{"k":"v"}})");
    EXPECT_EQ(to_json(one.events), R"([{"name":"e","time_unix_nano":5,"attributes":{"a":1}}])");
    EXPECT_EQ(to_json(one.links),
              R"([{"trace_id":"5b8efff798038103d269b633813fc60c",)"
              R"("span_id":"eee19b7ec3c1b174","attributes":{}}])");
    EXPECT_EQ(one.status, OtlpSpan::Status::error);
    EXPECT_EQ(one.message, "bad");
    EXPECT_EQ(to_json(*one.resource), R"({"service.name":"s"})");
}

TEST(OtlpJson, NamesMayHaveUnderscoresAndCodesMayBeWords)
{
    const auto spans = read_otlp_json(
                           R"({"resource_spans": [{"scope_spans": [{"spans": [
                {"trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174",
                 "start_time_unix_nano": 7, "status": {"code": "STATUS_CODE_OK"},
                 "attributes": [{"key": "k", "value": {"string_value": "v"}}]}]}]}]})")
                           .value();
    ASSERT_THAT(spans, SizeIs(1));
    EXPECT_EQ(spans[0].began, 7);
    EXPECT_EQ(spans[0].ended, 0);
    EXPECT_THAT(spans[0].parent, IsEmpty());
    EXPECT_EQ(spans[0].status, OtlpSpan::Status::ok);
    EXPECT_EQ(to_json(spans[0].attributes), R"({"k":"v"})");
}

TEST(OtlpJson, WhatIsNoRequestIsRefused)
{
    EXPECT_THAT(problem_of(""), HasSubstr("Invalid OpenTelemetry format"));
    EXPECT_THAT(problem_of("[]"), HasSubstr("not an object"));
    EXPECT_THAT(problem_of("{}"), HasSubstr("no spans found"));
    EXPECT_THAT(problem_of(request("")), HasSubstr("no spans found"));
    EXPECT_THAT(problem_of(R"({"resourceSpans": {}})"),
                HasSubstr("resourceSpans that is not a list"));
    EXPECT_THAT(problem_of(request("{}")), HasSubstr("a traceId that is not 32 hex digits"));
    EXPECT_THAT(problem_of(request(R"({"traceId": "W47/95gDgQPSabYzgT/GDA=="})")),
                HasSubstr("a traceId that is not 32 hex digits"));
    EXPECT_THAT(problem_of(request(span(R"("parentSpanId": "zz")"))), HasSubstr("parentSpanId"));
    EXPECT_THAT(problem_of(request(span(R"("name": 5)"))), HasSubstr("name that is not a text"));
    EXPECT_THAT(problem_of(request(span(R"("startTimeUnixNano": "x")"))),
                HasSubstr("startTimeUnixNano that is not a whole number"));
    EXPECT_THAT(problem_of(request(span(R"("startTimeUnixNano": "9223372036854775808")"))),
                HasSubstr("not a whole number"));
    EXPECT_THAT(problem_of(request(span(R"("endTimeUnixNano": -1)"))), HasSubstr("before 1970"));
    EXPECT_THAT(problem_of(with_value(R"({"intValue": 1.5})")), HasSubstr("intValue"));
    EXPECT_THAT(problem_of(with_value(R"({"doubleValue": "x"})")), HasSubstr("doubleValue"));
    EXPECT_THAT(problem_of(with_value(R"({"bytesValue": "!"})")), HasSubstr("base64"));
    EXPECT_THAT(problem_of(with_value(R"({"stringValue": "\ud800"})")),
                HasSubstr("half of a surrogate pair"));
}

TEST(OtlpJson, MoreThanARequestMayHoldIsRefused)
{
    std::string many = span();
    for (std::size_t i = 0; i < most_spans; ++i)
        many += "," + span();
    EXPECT_THAT(problem_of(request(many)), HasSubstr("more than 10000 spans"));
    std::string attributes = "[";
    for (std::size_t i = 0; i <= most_resource_attributes; ++i)
        attributes += (i == 0 ? "" : ",") + fmt::format(R"({{"key": "k{}"}})", i);
    EXPECT_THAT(problem_of(request(span(), attributes + "]")), HasSubstr("256 attributes"));
    const std::string large(most_resource_bytes, 'a');
    EXPECT_THAT(problem_of(request(
                    span(), R"([{"key": "k", "value": {"stringValue": ")" + large + R"("}}])")),
                HasSubstr("a resource of more than 64.0 KiB"));
    std::string deep = R"({"intValue": 1})";
    for (int i = 0; i < 50; ++i)
        deep = R"({"arrayValue": {"values": [)" + deep + "]}}";
    EXPECT_THAT(problem_of(with_value(deep)), HasSubstr("Invalid OpenTelemetry format"));
    std::string values = "0";
    for (int i = 0; i < 1'000'000; ++i)
        values += ",0";
    EXPECT_THAT(problem_of(with_value(R"({"arrayValue": {"values": [)" + values + "]}}")),
                HasSubstr("Invalid OpenTelemetry format"));
}

TEST(OtlpJson, ReadingEndsWithTheWorkOfItsRequest)
{
    WorkBudget budget;
    budget.abandon();
    const WorkScope scope(&budget);
    EXPECT_EQ(read_otlp_json(request(span())).error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace ponk::mlflow
