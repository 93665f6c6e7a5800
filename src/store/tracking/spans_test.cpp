// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/spans.hpp"
#include "store/tracking/traces.hpp"

namespace ponk::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class SpansTest : public HistoryTest {
protected:
    Spans spans() const { return Spans(*history_); }
    std::vector<std::string> found(const std::string& filter) const
    {
        TraceSearch search{.experiments = {0}};
        search.filter = query::search::parse_filter(query::search::traces, filter).value();
        std::vector<std::string> ids;
        const auto page = Traces(*history_).search(search).value();
        for (const auto& trace : page.traces)
            ids.push_back(trace.id);
        return ids;
    }
    TraceInfo trace(const std::string& id) const { return Traces(*history_).get(id).value(); }
    static Span span(const std::string& id, std::int64_t began_ms, std::int64_t ended_ms)
    {
        return {.id = id,
                .parent = "root",
                .name = "n" + id,
                .type = "UNKNOWN",
                .status = "OK",
                .began = began_ms * 1'000'000,
                .ended = ended_ms * 1'000'000,
                .content = "\"" + id + "\""};
    }
};

TEST_F(SpansTest, ATraceGrowsWithItsSpansAndEndsWithItsRoot)
{
    ASSERT_TRUE(spans().add(0, {{.trace = "t", .spans = {span("a", 20, 30), span("b", 15, 25)}}}));
    EXPECT_EQ(trace("t").time, 15);
    EXPECT_EQ(trace("t").duration, 15);
    EXPECT_EQ(trace("t").state, "IN_PROGRESS");
    EXPECT_THAT(trace("t").tags, Contains(Pair("mlflow.trace.spansLocation", "TRACKING_STORE")));
    auto root = span("root", 10, 50);
    root.parent.reset();
    root.status = "ERROR";
    ASSERT_TRUE(
        spans().add(0, {{.trace = "t", .spans = {root}, .tags = {{"k", "v"}}, .request = "what"}}));
    EXPECT_EQ(trace("t").time, 10);
    EXPECT_EQ(trace("t").duration, 40);
    EXPECT_EQ(trace("t").state, "ERROR");
    EXPECT_EQ(trace("t").request, "what");
    EXPECT_THAT(trace("t").tags, Contains(Pair("k", "v")));
    EXPECT_THAT(spans().contents("t").value(), ElementsAre("\"root\"", "\"b\"", "\"a\""));
    EXPECT_THAT(spans().contents("none").value(), IsEmpty());
}

TEST_F(SpansTest, WhatTheClientSaysOfTheTraceStays)
{
    ASSERT_TRUE(Traces(*history_).put(
        {.id = "t", .time = 10, .duration = 90, .state = "ERROR", .request = "mine"}));
    auto root = span("root", 20, 30);
    root.parent.reset();
    ASSERT_TRUE(spans().add(0, {{.trace = "t", .spans = {root}, .request = "other"}}));
    EXPECT_EQ(trace("t").time, 10);
    EXPECT_EQ(trace("t").duration, 90);
    EXPECT_EQ(trace("t").state, "ERROR");
    EXPECT_EQ(trace("t").request, "mine");
}

TEST_F(SpansTest, SpansExtendATraceOfAnyTime)
{
    ASSERT_TRUE(Traces(*history_).put(
        {.id = "t", .time = latest_trace_time, .duration = longest_trace, .state = "OK"}));
    ASSERT_TRUE(spans().add(0, {{.trace = "t", .spans = {span("a", 10, 20)}}}));
    EXPECT_EQ(trace("t").time, 10);
    EXPECT_EQ(trace("t").duration, latest_trace_time + longest_trace - 10);
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_THAT(Traces(*history_).put({.id = "u", .time = most, .state = "OK"}).error().message(),
                HasSubstr("the year 9999"));
    EXPECT_THAT(Traces(*history_)
                    .put({.id = "u", .time = 1, .duration = most, .state = "OK"})
                    .error()
                    .message(),
                HasSubstr("cannot last"));
}

TEST_F(SpansTest, ATraceHasSoMuchAndNoMore)
{
    auto large = span("a", 1, 2);
    large.content.assign(std::size_t{9} << 20, 'x');
    ASSERT_TRUE(spans().add(0, {{.trace = "t", .spans = {large}}}));
    large.id = "b";
    EXPECT_THAT(spans().add(0, {{.trace = "t", .spans = {large}}}).error().message(),
                HasSubstr("at most 10000 spans"));
    EXPECT_EQ(spans().contents("t").value().size(), 1U);
    std::vector<Span> many;
    for (int i = 0; i <= 10'000; ++i)
        many.push_back(span(std::to_string(i), 1, 2));
    EXPECT_FALSE(spans().add(0, {{.trace = "u", .spans = many}}));
    EXPECT_THAT(Traces(*history_).find({"u"}).value(), IsEmpty()) << "nothing of it was stored";
    EXPECT_EQ(spans().add(7, {{.trace = "u", .spans = {large}}}).error().kind(),
              ErrorKind::not_found);
}

TEST_F(SpansTest, ATraceHasSoManyTagsAndNoMore)
{
    const auto tags = [](const std::string& name, int count, std::size_t size) {
        Pairs pairs;
        for (int i = 0; i < count; ++i)
            pairs.emplace_back(fmt::format("{}-{}", name, i), std::string(size, 'x'));
        return pairs;
    };
    const auto add = [&](Pairs pairs) {
        return spans().add(0, {{.trace = "t", .spans = {span("a", 1, 2)}, .tags = pairs}});
    };
    ASSERT_TRUE(add(tags("a", 600, 1)));
    ASSERT_TRUE(add(tags("a", 600, 2))) << "the same ones again";
    EXPECT_THAT(add(tags("b", 600, 1)).error().message(), HasSubstr("at most 1000 tags"));
    EXPECT_EQ(trace("t").tags.size(), 602U) << "nothing of it was stored";
    EXPECT_THAT(add(tags("a", 150, 8000)).error().message(), HasSubstr("of 1.0 MiB together"));
    ASSERT_TRUE(add(tags("b", 398, 1)));
    EXPECT_THAT(Traces(*history_).set_tag("t", "one", "more").error().message(),
                HasSubstr("at most 1000 tags"));
    EXPECT_TRUE(Traces(*history_).set_tag("t", "b-0", "other"));
    auto info = trace("t");
    info.tags = tags("c", 1, 1);
    EXPECT_THAT(Traces(*history_).put(info).error().message(), HasSubstr("at most 1000 tags"));
}

TEST_F(SpansTest, TracesAreFoundByWhatIsInTheirSpans)
{
    auto one = span("a", 1, 2);
    one.type = "LLM";
    one.content = R"({"attributes": {"model": "\"big\"", "tokens": "12"}, "x": "50% of"})";
    auto other = span("b", 1, 2);
    other.name = "tool";
    other.content = R"({"attributes": {}})";
    ASSERT_TRUE(
        spans().add(0, {{.trace = "t", .spans = {one, other}}, {.trace = "u", .spans = {other}}}));
    EXPECT_THAT(found("span.type = 'LLM'"), ElementsAre("t"));
    EXPECT_THAT(found("span.name = 'tool'"), ElementsAre("t", "u"));
    EXPECT_THAT(found("span.name = 'tool' AND span.type = 'LLM'"), IsEmpty()) << "no span is both";
    EXPECT_THAT(found("span.name = 'na' AND span.type IN ('LLM', 'x')"), ElementsAre("t"));
    EXPECT_THAT(found("span.attributes.model = 'big'"), ElementsAre("t"));
    EXPECT_THAT(found("span.attributes.tokens = '12'"), ElementsAre("t"));
    EXPECT_THAT(found("span.attributes.model != 'big'"), IsEmpty());
    EXPECT_THAT(found("span.`attributes.a\"']` = 'x'"), IsEmpty());
    EXPECT_THAT(found("trace.text LIKE '%50\\% of%'"), IsEmpty()) << "no escapes";
    EXPECT_THAT(found("trace.text ILIKE '%50% OF%'"), ElementsAre("t"));
    EXPECT_THAT(found("span.content LIKE '%nothing%'"), IsEmpty());
    EXPECT_THAT(found("span.status != 'OK'"), IsEmpty());
}

TEST_F(SpansTest, TracesAreFoundByTheirAssessments)
{
    for (const char* id : {"t", "u"})
        ASSERT_TRUE(Traces(*history_).put({.id = id, .time = 1, .state = "OK"}));
    const auto add = [this](const char* trace, const char* kind, const char* name, Json value) {
        ASSERT_TRUE(Assessments(*history_).add(
            {.trace = trace, .name = name, .kind = kind, .value = std::move(value)}));
    };
    add("t", "feedback", "score", 0.5);
    add("t", "feedback", "right", true);
    add("u", "feedback", "score", "high");
    add("u", "expectation", "answer", "b");
    add("u", "issue", "iss-1", "slow");
    EXPECT_THAT(found("feedback.score > 0.4"), ElementsAre("t"));
    EXPECT_THAT(found("feedback.score > 0.6"), IsEmpty());
    EXPECT_THAT(found("feedback.score = 0.5"), ElementsAre("t"));
    EXPECT_THAT(found("feedback.score = 'high'"), ElementsAre("u"));
    EXPECT_THAT(found("feedback.right = 'true'"), ElementsAre("t"));
    EXPECT_THAT(found("feedback.right IS NULL"), ElementsAre("u"));
    EXPECT_THAT(found("expectation.answer LIKE 'b%'"), ElementsAre("u"));
    EXPECT_THAT(found("expectation.answer IS NOT NULL AND issue.id = 'iss-1'"), ElementsAre("u"));
    EXPECT_THAT(found("expectation.score = 0.5"), IsEmpty());
}

}  // namespace
}  // namespace ponk::store
