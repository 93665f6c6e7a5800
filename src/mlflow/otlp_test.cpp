// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"
#include "mlflow/otlp.hpp"
#include "mlflow/spans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace ponk::mlflow {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string varint(std::uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7U)
        bytes += static_cast<char>((value & 0x7fU) | 0x80U);
    return bytes + static_cast<char>(value);
}

std::string message(std::uint64_t number, const std::string& bytes)
{
    return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string number(std::uint64_t number, std::uint64_t value)
{
    return varint(number << 3U) + varint(value);
}

std::string fixed(std::uint64_t number, std::uint64_t value)
{
    auto bytes = varint(number << 3U | 1U);
    for (unsigned i = 0; i < 8; ++i)
        bytes += static_cast<char>((value >> (8 * i)) & 0xffU);
    return bytes;
}

std::string text(const std::string& value)
{
    return message(1, value);
}

std::string pair(const std::string& key, const std::string& value)
{
    return message(1, key) + message(2, value);
}

const std::string trace_id(16, '\x11');
const std::string span_id(8, '\x22');

std::string span(const std::string& more = {})
{
    return message(1, trace_id) + message(2, span_id) + message(5, "work") + fixed(7, 1000) +
           fixed(8, 3000) + more;
}

std::string request(const std::string& spans, const std::string& resource = {})
{
    return message(1, message(1, resource) + message(2, spans));
}

std::string problem_of(const std::string& bytes)
{
    const auto read = read_otlp(bytes);
    return read ? "" : read.error().message();
}

TEST(Otlp, ASpanIsReadWithAllThatItSays)
{
    const auto list = message(5, message(1, number(3, 7)) + message(1, number(2, 1)));
    const auto map = message(6, message(1, pair("k", fixed(4, std::bit_cast<std::uint64_t>(0.5)))));
    const auto bytes = request(
        message(
            2,
            span(message(4, std::string(8, '\x33')) + message(9, pair("l", list)) +
                 message(9, pair("m", map)) + message(9, pair("n", "")) +
                 message(11, fixed(1, 5) + message(2, "event") + message(3, pair("a", text("b")))) +
                 message(13, message(1, trace_id) + message(2, span_id)) +
                 message(15, message(2, "bad") + number(3, 2)))),
        message(1, pair("service.name", text("app"))));

    const auto spans = read_otlp(bytes).value();

    ASSERT_THAT(spans, SizeIs(1));
    const auto& read = spans[0];
    EXPECT_EQ(trace_id_of(read), "tr-11111111111111111111111111111111");
    EXPECT_EQ(read.id, "2222222222222222");
    EXPECT_EQ(read.parent, "3333333333333333");
    EXPECT_EQ(read.name, "work");
    EXPECT_EQ(read.began, 1000);
    EXPECT_EQ(read.ended, 3000);
    EXPECT_EQ(read.status, OtlpSpan::Status::error);
    EXPECT_EQ(read.message, "bad");
    EXPECT_EQ(to_json(read.attributes), R"({"l":[7,true],"m":{"k":0.5},"n":null})");
    EXPECT_EQ(to_json(read.events),
              R"([{"name":"event","time_unix_nano":5,"attributes":{"a":"b"}}])");
    EXPECT_EQ(to_json(*read.resource), R"({"service.name":"app"})");

    const auto content = span_content(read);
    EXPECT_EQ(content["attributes"].text("l"), "[7,true]");
    EXPECT_EQ(attribute_of(content, "mlflow.traceRequestId"), Json(trace_id_of(read)));
    EXPECT_EQ(content["links"].as_array().at(0).text("trace_id"), trace_id_of(read));
    const auto told = span_message(content).value();
    EXPECT_EQ(told.text("span_id"), "IiIiIiIiIiI=");
    EXPECT_EQ(told.text("start_time_unix_nano"), "1000");
    EXPECT_EQ(to_json(told["attributes"].as_array().at(0)["value"]),
              R"({"array_value":{"values":[{"int_value":"7"},{"bool_value":true}]}})");
    EXPECT_EQ(told["links"].as_array().at(0)["trace_id"], content["trace_id"]);
    EXPECT_EQ(told["status"].text("code"), "STATUS_CODE_ERROR");
}

TEST(Otlp, WhatIsNoRequestIsRefused)
{
    EXPECT_THAT(problem_of(""), HasSubstr("no spans found"));
    EXPECT_THAT(problem_of("hello"), HasSubstr("Invalid OpenTelemetry format"));
    EXPECT_THAT(problem_of(request(message(2, message(1, trace_id)))), HasSubstr("span_id"));
    EXPECT_THAT(problem_of(request(message(2, message(1, "short") + message(2, span_id)))),
                HasSubstr("16 bytes"));
    EXPECT_THAT(problem_of(request(message(2, span(fixed(8, ~std::uint64_t{0}))))),
                HasSubstr("a time"));
    EXPECT_THAT(problem_of(request(message(2, span())).substr(0, 40)), HasSubstr("Invalid"));
}

TEST(Otlp, ARequestHoldsSoMuchAndNoMore)
{
    std::string many;
    for (std::size_t i = 0; i <= most_spans; ++i)
        many += message(2, span());
    EXPECT_THAT(problem_of(request(many)), HasSubstr("more than 10000 spans"));
    std::string deep = text("x");
    for (int i = 0; i < 40; ++i)
        deep = message(5, message(1, deep));
    EXPECT_THAT(problem_of(request(message(2, span(message(9, pair("k", deep)))))),
                HasSubstr("more than 32 lists"));
    std::string values;
    for (int i = 0; i < 1'000'001; ++i)
        values += message(1, "");
    EXPECT_THAT(problem_of(request(message(2, span(message(9, pair("k", message(5, values))))))),
                HasSubstr("more than 1000000 values"));
    for (const int list : {11, 13}) {
        std::string empty;
        for (int i = 0; i < 250'001; ++i)
            empty += message(static_cast<std::uint64_t>(list), "");
        EXPECT_THAT(problem_of(request(message(2, span(empty)))),
                    HasSubstr("more than 1000000 values"))
            << "members count";
    }
}

TEST(Otlp, SpansShareWhatSentThemAndThatIsShort)
{
    const auto other = message(1, std::string(16, '\x12')) + message(2, span_id);
    const auto resource = message(1, pair("k", text("v")));
    const auto spans =
        read_otlp(request(message(2, span()) + message(2, other) + message(2, span()), resource))
            .value();
    ASSERT_THAT(spans, SizeIs(3));
    EXPECT_EQ(spans[0].resource, spans[1].resource) << "the same object";
    EXPECT_EQ(spans[0].resource, spans[2].resource);
    EXPECT_EQ(to_json(*spans[1].resource), R"({"k":"v"})");
    const auto long_text = message(1, pair("k", text(std::string(most_resource_bytes, 'x'))));
    EXPECT_THAT(problem_of(request(message(2, span()), long_text)),
                HasSubstr("a resource of more than 64"));
    std::string many;
    for (std::size_t i = 0; i <= most_resource_attributes; ++i)
        many += message(1, pair(std::to_string(i), ""));
    EXPECT_THAT(problem_of(request(message(2, span()), many)),
                HasSubstr("more than 256 attributes"));
}

TEST(Otlp, WhatClientsReadIsChargedBeforeItIsMade)
{
    std::string zeros;
    for (int i = 0; i < 1000; ++i)
        zeros += message(1, number(3, 0));
    const auto list = pair("k", message(5, zeros));
    for (const auto& part : {message(9, list), message(11, message(3, list))}) {
        const auto content = span_content(read_otlp(request(message(2, span(part)))).value().at(0));
        WorkBudget budget;
        budget.limit_answer(100'000);
        const WorkScope scope(&budget);
        EXPECT_THAT(span_message(content).error().message(), HasSubstr("the answer would be"));
    }
}

}  // namespace
}  // namespace ponk::mlflow
