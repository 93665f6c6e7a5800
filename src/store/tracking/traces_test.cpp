// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/traces.hpp"

namespace ponk::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class TracesTest : public HistoryTest {
protected:
    Traces traces() const { return Traces(*history_); }
    void put(const std::string& id, std::int64_t time, std::optional<std::int64_t> duration = 10)
    {
        TraceInfo trace;
        trace.id = id;
        trace.time = time;
        trace.duration = duration;
        trace.state = duration ? "OK" : "IN_PROGRESS";
        trace.metadata = {{"mlflow.sourceRun", "run-" + id}, {"a", "b"}};
        trace.tags = {{"mlflow.traceName", "name-" + id}};
        ASSERT_TRUE(traces().put(trace));
    }
    std::vector<std::string> found(const std::string& filter,
                                   const std::vector<std::string>& order = {}) const
    {
        const auto& grammar = query::search::traces;
        TraceSearch search{.experiments = {0}};
        search.filter = query::search::parse_filter(grammar, filter).value();
        search.order_by = query::search::parse_order_by(grammar, order).value();
        std::vector<std::string> ids;
        const auto page = traces().search(search).value();
        for (const auto& trace : page.traces)
            ids.push_back(trace.id);
        return ids;
    }
};

TEST_F(TracesTest, ATraceIsToldWhereItsFilesBelong)
{
    put("t1", 5);
    const auto trace = traces().get("t1").value();
    EXPECT_THAT(trace.tags,
                Contains(std::pair(std::string("mlflow.artifactLocation"),
                                   std::string("mlflow-artifacts:/0/traces/t1/artifacts"))));
    EXPECT_EQ(traces().get("x").error().message(), "Trace with ID 'x' not found.");
    EXPECT_EQ(traces().put({.id = "x", .experiment = 9}).error().kind(), ErrorKind::not_found);
}

TEST_F(TracesTest, SentAgainItReplacesWhatItSaysAndKeepsTheRest)
{
    put("t1", 5, std::nullopt);
    ASSERT_TRUE(traces().set_tag("t1", "mine", "1"));
    put("t1", 5, 7);
    const auto trace = traces().get("t1").value();
    EXPECT_EQ(trace.duration, 7);
    EXPECT_EQ(trace.state, "OK");
    EXPECT_THAT(trace.tags, SizeIs(3));
    ASSERT_TRUE(traces().remove_tag("t1", "mine"));
    EXPECT_EQ(traces().remove_tag("t1", "mine").error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(traces().set_tag("none", "k", "v"));
}

TEST_F(TracesTest, AreFoundByAttributesTagsAndMetadataNewestFirst)
{
    put("t1", 100, 30);
    put("t2", 200, std::nullopt);
    put("t3", 300, 10);
    EXPECT_THAT(found(""), ElementsAre("t3", "t2", "t1"));
    EXPECT_THAT(found("status = 'OK'"), ElementsAre("t3", "t1"));
    EXPECT_THAT(found("trace.name = 'name-t2'"), ElementsAre("t2"));
    EXPECT_THAT(found("run_id IN ('run-t1', 'run-t3')"), ElementsAre("t3", "t1"));
    EXPECT_THAT(found("timestamp_ms >= 200 AND metadata.a = 'b'"), ElementsAre("t3", "t2"));
    EXPECT_THAT(found("execution_time != 10"), ElementsAre("t1"));
    EXPECT_THAT(found("end_time = 130"), ElementsAre("t1"));
    EXPECT_THAT(found("tags.x IS NULL AND request_id = 't1'"), ElementsAre("t1"));
    EXPECT_THAT(found("", {"execution_time_ms ASC"}), ElementsAre("t3", "t1", "t2"));
    EXPECT_THAT(found("", {"name DESC"}), ElementsAre("t3", "t2", "t1"));
    EXPECT_THAT(found("", {"timestamp"}), ElementsAre("t1", "t2", "t3"));
}

TEST_F(TracesTest, PagesHaveEachTraceOnce)
{
    for (int i = 0; i < 5; ++i)
        put(fmt::format("t{}", i), i / 2);
    TraceSearch search{.experiments = {0}, .limit = 2};
    std::vector<std::string> ids;
    do {
        const auto page = traces().search(search).value();
        for (const auto& trace : page.traces)
            ids.push_back(trace.id);
        search.page = page.next;
    } while (!search.page.empty());
    EXPECT_THAT(ids, ElementsAre("t4", "t2", "t3", "t0", "t1"));
}

TEST_F(TracesTest, AreRemovedByIdOrFromTheOldestOn)
{
    for (int i = 0; i < 4; ++i)
        put(fmt::format("t{}", i), i);
    EXPECT_EQ(traces().remove(1, {.ids = {"t1"}}).value(), 0);
    EXPECT_EQ(traces().remove(0, {.ids = {"t1", "none"}}).value(), 1);
    EXPECT_EQ(traces().remove(0, {.until = 3, .most = 1}).value(), 1);
    EXPECT_THAT(found(""), ElementsAre("t3", "t2"));
    EXPECT_EQ(traces().remove(0, {.until = 2}).value(), 1);
    EXPECT_THAT(traces().find({"t0", "t3"}).value(), SizeIs(1));
    EXPECT_EQ(traces().remove(0, {.until = 9}).value(), 1);
    EXPECT_THAT(found(""), IsEmpty());
    EXPECT_TRUE(history_->check_integrity());
}

TEST_F(TracesTest, TracesAreFoundByThePromptsThatTheyUsed)
{
    put("t1", 5);
    put("t2", 6);
    ASSERT_TRUE(traces().link_prompts("t1", {"greet/1", "greet/2"}));
    ASSERT_TRUE(traces().link_prompts("t1", {"greet/1"}));
    ASSERT_TRUE(traces().link_prompts("t2", {"greet/1"}));
    EXPECT_THAT(found("prompt = 'greet/1'"), ElementsAre("t2", "t1"));
    EXPECT_THAT(found("prompt = 'greet/2' AND name = 'name-t1'"), ElementsAre("t1"));
    EXPECT_THAT(found("prompt = 'greet/3'"), IsEmpty());
    EXPECT_EQ(traces().link_prompts("none", {"greet/1"}).error().message(),
              "Trace with ID 'none' not found.");
    std::vector<std::string> many;
    for (std::int64_t i = 0; i < most_trace_prompts; ++i)
        many.push_back(fmt::format("many/{}", i));
    EXPECT_THAT(traces().link_prompts("t2", many).error().message(),
                testing::HasSubstr("at most 1000"));
    EXPECT_THAT(found("prompt = 'many/1'"), IsEmpty()) << "nothing of it is stored";
}

}  // namespace
}  // namespace ponk::store
