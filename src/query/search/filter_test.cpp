// SPDX-License-Identifier: Apache-2.0
// The tables of accepted and rejected texts of MLflow's language.
#include "query/search/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::query::search {
namespace {

using testing::ElementsAre;

// The filter printed, or "refused".
std::string shown(const Grammar& grammar, std::string_view text)
{
    const auto filter = parse_filter(grammar, text);
    if (filter) return to_text(*filter);
    EXPECT_EQ(filter.error().kind(), ErrorKind::invalid_argument) << text;
    return "refused";
}

struct Row {
    const char* text;
    const char* expected;
};

void expect_rows(const Grammar& grammar, std::initializer_list<Row> rows)
{
    for (const auto& row : rows)
        EXPECT_EQ(shown(grammar, row.text), row.expected) << row.text;
}

void expect_refused(const Grammar& grammar, std::initializer_list<const char*> texts)
{
    for (const auto* text : texts)
        EXPECT_EQ(shown(grammar, text), "refused") << text;
}

TEST(RunFilter, MetricsAreComparedWithNumbers)
{
    expect_rows(runs,
                {{"metrics.m > 1", "metrics.m > 1"},
                 {"metric.m >= 1", "metrics.m >= 1"},
                 {"metrics.m < 1e1", "metrics.m < 10"},
                 {"metrics.m > .5", "metrics.m > 0.5"},
                 {"metrics.m > 1.", "metrics.m > 1"},
                 {"metrics.neg = -2.5", "metrics.neg = -2.5"},
                 {"metrics.m <= -.5e-2", "metrics.m <= -0.005"},
                 {"metrics.m!=0", "metrics.m != 0"}});
    expect_refused(runs,
                   {"metrics.m == 1",
                    "metrics.m <> 1",
                    "metrics.m > '1'",
                    "metrics.m LIKE '1'",
                    "metrics.m IN (1,2)",
                    "metrics.m IN ('1')",
                    "metrics.m IS NULL",
                    "metrics.m IS NOT NULL",
                    "metrics.m BETWEEN 0 AND 1",
                    "metrics.m > 1.2.3",
                    "metrics.m > 1e",
                    "metrics.m > 0x10",
                    "metrics.m > 1e999",
                    "metrics.m > - 1",
                    "metrics.m > nan",
                    "metrics.m > inf"});
}

TEST(RunFilter, NamesHaveAnEntityAndAKey)
{
    expect_rows(runs,
                {{"metrics.`a b` = 1", "metrics.`a b` = 1"},
                 {"metrics.\"a b\" = 1", "metrics.`a b` = 1"},
                 {"metrics.'a b' = 1", "metrics.`a b` = 1"},
                 {"metrics.'a`b' = 1", "metrics.\"a`b\" = 1"},
                 {"metrics.x.y = 3", "metrics.x.y = 3"},
                 {"metrics.1st = 3", "metrics.1st = 3"},
                 {"metrics.pr\u00e9cision = 3", "metrics.pr\u00e9cision = 3"},
                 {"metrics.and > 1", "metrics.and > 1"},
                 {"`metrics`.m=1", "metrics.m = 1"},
                 {"`metrics`.`m`=1", "metrics.m = 1"},
                 {"params.`train/lr` = '1'", "params.`train/lr` = '1'"}});
    expect_refused(runs,
                   {"'metrics'.m=1",
                    "\"metrics\".m=1",
                    "`metrics.m`=1",
                    "metrics . m > 0",
                    "metrics. m > 0",
                    "metrics.`` > 0",
                    "metrics..m > 0",
                    "metrics.m. > 0",
                    "metrics.`a`.b > 0",
                    "metrics.a-b > 0",
                    "metrics.a/b > 0",
                    "Metrics.m > 0",
                    "foo.m > 1",
                    "metrics",
                    "metrics.m",
                    "metrics.m >",
                    "1 < metrics.m",
                    "metrics.m > metrics.n"});
}

TEST(RunFilter, ParametersAndTagsAreComparedWithTexts)
{
    expect_rows(runs,
                {{"params.p = \"Foo\"", "params.p = 'Foo'"},
                 {"parameter.p='foo'", "params.p = 'foo'"},
                 {"param.p = 'it\"s'", "params.p = 'it\"s'"},
                 {"parameters.p = \"it's\"", "params.p = \"it's\""},
                 {"params.p = ''", "params.p = ''"},
                 {"params.p like 'f%'", "params.p LIKE 'f%'"},
                 {"params.p ilike '%OO'", "params.p ILIKE '%OO'"},
                 {"params.p IS NOT NULL", "params.p IS NOT NULL"},
                 {"params.p is null", "params.p IS NULL"},
                 {"tag.t != 'x'", "tags.t != 'x'"},
                 {"tags.mlflow.runName='A'", "tags.mlflow.runName = 'A'"}});
    expect_refused(runs,
                   {"params.p = Foo",
                    "params.p = `Foo`",
                    "params.p = 5",
                    "params.p > 'a'",
                    "params.p IN ('x')",
                    "params.p NOT LIKE 'x'",
                    "params.p NOT NULL",
                    "params.p IS 'x'",
                    "params.p = 'it''s'",
                    "params.p = 'it\\'s'",
                    "params.p = 'open"});
}

TEST(RunFilter, AttributesAreThoseOfARun)
{
    expect_rows(runs,
                {{"status = 'RUNNING'", "status = 'RUNNING'"},
                 {"run.status='RUNNING'", "status = 'RUNNING'"},
                 {"attr.user_id ilike 'a'", "user_id ILIKE 'a'"},
                 {"attribute.artifact_uri like '%x'", "artifact_uri LIKE '%x'"},
                 {"run_id IN ('a','b')", "run_id IN ('a', 'b')"},
                 {"run_id in ( \"a\" , )", "run_id IN ('a')"},
                 {"attributes.run_id NOT IN ('a')", "run_id NOT IN ('a')"},
                 {"`run name` = 'A'", "run_name = 'A'"},
                 {"\"Run Name\" = 'A'", "run_name = 'A'"},
                 {"attributes.'Run name' = 'A'", "run_name = 'A'"},
                 {"created > 100", "start_time > 100"},
                 {"Created > 100", "start_time > 100"},
                 {"start_time = 100.0", "start_time = 100"},
                 {"end_time > 0", "end_time > 0"}});
    expect_refused(runs,
                   {"run name = 'A'",
                    "run_id IN ()",
                    "run_id IN (1)",
                    "run_id IN 'a'",
                    "run_id IN ('a'",
                    "run_id IN ('a' 'b')",
                    "run_id IN (,'a')",
                    "status IN ('x')",
                    "start_time > '100'",
                    "start_time LIKE '1'",
                    "experiment_id = '1'",
                    "attributes.lifecycle_stage = 'active'",
                    "attributes.source_name = 'x'",
                    "'status' = 'x'",
                    "target = 'local'"});
}

TEST(RunFilter, BlanksOfPagesAreBlanks)
{
    expect_rows(runs,
                {{"metrics.a\u00a0>\u00a01\u2003AND\u3000params.b\u202f=\u2009'x\u00a0y'\u205f",
                  "metrics.a > 1 AND params.b = 'x\u00a0y'"},
                 {"params.`a\u00a0b`\u00a0= 'x'", "params.`a\u00a0b` = 'x'"},
                 {"metrics.\u00e9t\u00e9 > 1", "metrics.\u00e9t\u00e9 > 1"}});
    expect_refused(runs, {"metrics.a\u200b > 1x", "params.`a`\u00e9 = 'x'"});
}

TEST(RunFilter, DatasetsHaveThreeFields)
{
    expect_rows(runs,
                {{"dataset.name = 'x'", "datasets.name = 'x'"},
                 {"datasets.digest LIKE 'x%'", "datasets.digest LIKE 'x%'"},
                 {"dataset.context IN ('train')", "datasets.context IN ('train')"}});
    expect_refused(runs, {"dataset.foo='x'", "dataset.name > 'x'", "dataset.name IS NULL"});
}

TEST(RunFilter, ComparisonsAreJoinedByAnd)
{
    const auto* both = "metrics.m > 1 AND params.p = 'x'";
    expect_rows(runs,
                {{"metrics.m > 1 AND params.p = 'x'", both},
                 {"metrics.m > 1\n\tand\r\nparams.p='x'", both},
                 {"metrics.m>1AND params.p='x'", "refused"},
                 {"params.p='x'AND status='x'", "params.p = 'x' AND status = 'x'"},
                 {"metrics.m > 1 AND", "metrics.m > 1"},
                 {"AND metrics.m > 1", "metrics.m > 1"},
                 {"metrics.m > 1 AND AND params.p = 'x'", both},
                 {"AND", ""},
                 {"", ""},
                 {" \n", ""}});
    expect_refused(runs,
                   {"metrics.m > 1 OR metrics.m < 0",
                    "metrics.m > 1 params.p = 'x'",
                    "(metrics.m > 1)",
                    "NOT metrics.m > 1",
                    "metrics.m > 1;",
                    "metrics.m > 1; metrics.m > 2",
                    "metrics.m > 1 -- c",
                    "metrics.m > 1 /* c */"});
}

TEST(RunFilter, IsATreeOfValues)
{
    const auto filter = parse_filter(runs, "metric.m >= 1.5 AND created != 7 AND run_id IN ('a')");

    ASSERT_TRUE(filter);
    EXPECT_THAT(
        *filter,
        ElementsAre(
            Comparison{Entity::metric, "m", Operator::greater_equal, 1.5},
            Comparison{Entity::attribute, "start_time", Operator::not_equal, 7.0},
            Comparison{Entity::attribute, "run_id", Operator::in, std::vector<std::string>{"a"}}));
}

TEST(HistoryFilter, KnowsWhatPonkKnowsOfARun)
{
    expect_rows(history_runs,
                {{"target = 'host'", "target = 'host'"},
                 {"script LIKE 'train%'", "script LIKE 'train%'"},
                 {"script_name = 'a.py'", "script = 'a.py'"},
                 {"name = 'a'", "run_name = 'a'"},
                 {"user = 'ann'", "user_id = 'ann'"},
                 {"status = 'Completed'", "status = 'Completed'"},
                 {"status != 'FINISHED'", "status != 'FINISHED'"},
                 {"status LIKE 'Can%'", "status LIKE 'Can%'"},
                 {"experiment IN ('a', 'b')", "experiment IN ('a', 'b')"},
                 {"start_time > '2026-01-01'", "start_time > 1767225600000"},
                 {"end_time_utc <= '2026-01-01 12:00'", "end_time <= 1767268800000"},
                 {"start_time > 7", "start_time > 7"},
                 {"metrics.m > 1", "metrics.m > 1"}});
    expect_refused(
        history_runs,
        {"status = 'Done'", "target > 'a'", "start_time > '2026-02-30'", "end_time = x"});
}

TEST(ExperimentFilter, HasNamesTimesAndTags)
{
    expect_rows(
        experiments,
        {{"name = 'a'", "name = 'a'"},
         {"attribute.name ILIKE '%a'", "name ILIKE '%a'"},
         {"creation_time > 5", "creation_time > 5"},
         {"attribute.last_update_time <= 5", "last_update_time <= 5"},
         {"experiment_id != '1'", "experiment_id != '1'"},
         {"experiment_id NOT IN ('1', '2')", "experiment_id NOT IN ('1', '2')"},
         {"tag.k = 'v' AND tags.`a b` IS NOT NULL", "tags.k = 'v' AND tags.`a b` IS NOT NULL"}});
    expect_refused(experiments,
                   {"attributes.name = 'a'",
                    "metrics.m > 1",
                    "params.p = 'x'",
                    "experiment_id = 1",
                    "experiment_id LIKE '1'",
                    "name IN ('a')",
                    "name > 'a'",
                    "creation_time = '5'"});
}

TEST(LoggedModelFilter, HasAttributesMetricsParametersAndTags)
{
    expect_rows(
        logged_models,
        {{"name = 'a'", "name = 'a'"},
         {"attributes.model_type IN ('a', 'b')", "model_type IN ('a', 'b')"},
         {"creation_timestamp >= 1", "creation_timestamp_ms >= 1"},
         {"creation_time >= 1", "creation_timestamp_ms >= 1"},
         {"last_updated_timestamp < 1", "last_updated_timestamp_ms < 1"},
         {"metrics.m > 1 AND params.p NOT IN ('x')", "metrics.m > 1 AND params.p NOT IN ('x')"},
         {"tags.t LIKE 'x%'", "tags.t LIKE 'x%'"}});
    expect_refused(
        logged_models,
        {"dataset.name = 'x'", "metrics.m > '1'", "creation_timestamp LIKE '1'", "foo = 'x'"});
}

TEST(RegistryFilter, HasNamesAndTags)
{
    expect_rows(
        registered_models,
        {{"name LIKE 'a%'", "name LIKE 'a%'"},
         {"tag.`mlflow.prompt.is_prompt` != 'true'", "tags.mlflow.prompt.is_prompt != 'true'"}});
    expect_refused(registered_models, {"run_id = 'a'", "creation_timestamp > 1", "metrics.m > 1"});
    expect_rows(model_versions,
                {{"name = 'a'", "name = 'a'"},
                 {"name IN ('a')", "name IN ('a')"},
                 {"version_number > 2", "version_number > 2"},
                 {"run_id IN ('a','b')", "run_id IN ('a', 'b')"},
                 {"source_path = 'p' AND tags.a = 'b'", "source_path = 'p' AND tags.a = 'b'"}});
    expect_refused(model_versions, {"version_number = '2'", "params.p = 'x'"});
}

TEST(TraceMetricFilter, ComparesTracesSpansAndAssessmentsByEqualsAlone)
{
    expect_rows(trace_metrics,
                {{"trace.status = 'OK'", "status = 'OK'"},
                 {"trace.tag.a.b = 'x'", "tag.a.b = 'x'"},
                 {"trace.metadata.`a-b` = \"x\"", "`metadata.a-b` = 'x'"},
                 {"trace.`metadata.a-b` = 'x'", "`metadata.a-b` = 'x'"},
                 {"span.name = 'a'", "span.name = 'a'"},
                 {"assessment.type = 'feedback'", "assessment.type = 'feedback'"}});
    expect_refused(trace_metrics,
                   {"trace.status != 'OK'",
                    "trace.tag = 'x'",
                    "trace.tag. = 'x'",
                    "trace.tag.`` = 'x'",
                    "trace.tag.a.`b` = 'x'",
                    "trace.tag.`a`.b = 'x'",
                    "trace.name = 'x'",
                    "span.content = 'x'",
                    "feedback.a = 'x'",
                    "assessment.value = 'x'"});
    expect_refused(traces, {"tags.a.`b` = 'x'", "span.`attributes.a`.b = 'x'"});
    expect_rows(traces, {{"span.attributes.`a-b` = 'x'", "span.`attributes.a-b` = 'x'"}});
}

}  // namespace
}  // namespace ponk::query::search
