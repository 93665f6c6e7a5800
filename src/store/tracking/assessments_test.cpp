// SPDX-License-Identifier: Apache-2.0
#include "store/history/history_test_support.hpp"
#include "store/tracking/assessments.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class AssessmentsTest : public HistoryTest {
protected:
    void SetUp() override
    {
        HistoryTest::SetUp();
        ASSERT_TRUE(traces().put({.id = "t1", .time = 5, .state = "OK"}));
    }
    Traces traces() const { return Traces(*history_); }
    Assessments assessments() const { return Assessments(*history_); }
    static Assessment good(const std::string& id = {})
    {
        return {.id = id,
                .trace = "t1",
                .name = "good",
                .kind = "feedback",
                .value = true,
                .source_type = "HUMAN",
                .source = "ann",
                .created = 1,
                .updated = 1};
    }
    std::vector<std::string> of_trace() const
    {
        std::vector<std::string> ids;
        const auto trace = traces().get("t1").value();
        for (const auto& assessment : trace.assessments)
            ids.push_back(assessment.id);
        return ids;
    }
};

TEST_F(AssessmentsTest, OneComesBackAsItWasSaid)
{
    auto said = good("a-1");
    said.value = JsonObject{{"score", 0.5}};
    said.error = JsonObject{{"error_code", "E"}};
    said.span = "0123456789abcdef";
    said.rationale = "because";
    said.metadata = {{"k", "v"}};
    ASSERT_TRUE(assessments().add(said));
    const auto found = assessments().get("t1", "a-1").value();
    EXPECT_EQ(to_json(found.value), R"({"score":0.5})");
    EXPECT_EQ(found.error.text("error_code"), "E");
    EXPECT_EQ(found.span, "0123456789abcdef");
    EXPECT_EQ(found.rationale, "because");
    EXPECT_THAT(found.metadata, ElementsAre(Pair("k", "v")));
    EXPECT_TRUE(found.valid);
    EXPECT_THAT(of_trace(), ElementsAre("a-1"));
    EXPECT_TRUE(assessments().add(good())->id.starts_with("a-"));
    EXPECT_EQ(assessments().add(good("a-1")).error().kind(), ErrorKind::conflict);
}

TEST_F(AssessmentsTest, WhatIsNotThereIsSaidSo)
{
    auto elsewhere = good();
    elsewhere.trace = "none";
    EXPECT_EQ(assessments().add(elsewhere).error().message(), "Trace with ID 'none' not found.");
    EXPECT_EQ(assessments().get("none", "a").error().message(),
              "Trace with request_id 'none' not found");
    EXPECT_EQ(assessments().get("t1", "a").error().message(),
              "Assessment with ID 'a' not found for trace 't1'");
    EXPECT_EQ(assessments().update("t1", "a", {}).error().kind(), ErrorKind::not_found);
    EXPECT_TRUE(assessments().remove("t1", "a"));
    EXPECT_TRUE(assessments().remove("none", "a"));
}

TEST_F(AssessmentsTest, AChangeKeepsWhatItDoesNotName)
{
    auto said = good("a-1");
    said.metadata = {{"k", "v"}, {"l", "w"}};
    ASSERT_TRUE(assessments().add(said));
    AssessmentChange change;
    change.rationale = "why";
    change.metadata = {{"l", "x"}};
    auto changed = assessments().update("t1", "a-1", change).value();
    EXPECT_EQ(changed.value, Json(true));
    EXPECT_THAT(changed.metadata, ElementsAre(Pair("k", "v"), Pair("l", "x")));
    EXPECT_GT(changed.updated, changed.created);
    change.kind = "feedback";
    change.value = "no";
    changed = assessments().update("t1", "a-1", change).value();
    EXPECT_EQ(assessments().get("t1", "a-1").value().value, Json("no"));
    change.kind = "expectation";
    EXPECT_EQ(assessments().update("t1", "a-1", change).error().message(),
              "Cannot update expectation value on a Feedback assessment.");
}

TEST_F(AssessmentsTest, WhatWasReplacedIsValidAgainWhenTheOtherGoes)
{
    ASSERT_TRUE(assessments().add(good("a-1")));
    auto other = good("a-2");
    other.overrides = "a-1";
    ASSERT_TRUE(assessments().add(other));
    EXPECT_FALSE(assessments().get("t1", "a-1")->valid);
    other.id = "a-3";
    other.overrides = "none";
    EXPECT_EQ(assessments().add(other).error().kind(), ErrorKind::not_found);
    EXPECT_THAT(of_trace(), ElementsAre("a-1", "a-2")) << "nothing of it was stored";
    ASSERT_TRUE(assessments().remove("t1", "a-2"));
    EXPECT_TRUE(assessments().get("t1", "a-1")->valid);
}

TEST_F(AssessmentsTest, ThoseOfADeletedRunAreSetAsideWithIt)
{
    Tracking tracking(*history_);
    const auto run = tracking.create_run({.experiment = 0, .name = "judge", .user = "ann"})->id;
    auto said = good("a-1");
    said.metadata = {{"mlflow.assessment.sourceRunId", run.text()}};
    ASSERT_TRUE(assessments().add(said));
    ASSERT_TRUE(tracking.delete_run(run.text()));
    EXPECT_THAT(of_trace(), IsEmpty());
    EXPECT_EQ(assessments().get("t1", "a-1").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(assessments().add(good("a-1")).error().kind(), ErrorKind::conflict)
        << "it may come back";
    ASSERT_TRUE(tracking.restore_run(run.text(), Tracking::OfDeletedExperiment::leave));
    EXPECT_THAT(of_trace(), SizeIs(1));
    ASSERT_TRUE(history_->delete_run(run));
    EXPECT_THAT(of_trace(), IsEmpty());
}

TEST_F(AssessmentsTest, ATraceHasSoManyAndNoMore)
{
    auto large = good();
    large.value = std::string(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(assessments().add(large));
    EXPECT_THAT(assessments().add(large).error().message(), HasSubstr("at most 1000 assessments"));
    EXPECT_THAT(of_trace(), SizeIs(3));
}

TEST_F(AssessmentsTest, APageEndsEarlyWhenItsTextsAreLarge)
{
    for (int i = 0; i < 7; ++i) {
        auto large = good();
        large.trace = fmt::format("large-{}", i);
        large.value = std::string(std::size_t{3} << 20, 'x');
        ASSERT_TRUE(traces().put({.id = large.trace, .time = 10 + i, .state = "OK"}));
        ASSERT_TRUE(assessments().add(large));
    }
    TraceSearch search{.experiments = {0}};
    const auto first = traces().search(search).value();
    EXPECT_THAT(first.traces, SizeIs(6));
    search.page = first.next;
    const auto second = traces().search(search).value();
    EXPECT_THAT(second.traces, SizeIs(2));
    EXPECT_EQ(second.traces.back().id, "t1");
    EXPECT_EQ(second.next, "");
}

TEST_F(AssessmentsTest, GoWithTheirTrace)
{
    auto trace = traces().get("t1").value();
    trace.assessments = {good(), good("a-9")};
    EXPECT_THAT(traces().put(trace)->assessments, SizeIs(2)) << "they may come with it";
    EXPECT_EQ(traces().remove(0, {.ids = {"t1"}}).value(), 1);
    ASSERT_TRUE(traces().put({.id = "t1", .time = 5, .state = "OK"}));
    EXPECT_THAT(of_trace(), IsEmpty());
}

}  // namespace
}  // namespace ponk::store
