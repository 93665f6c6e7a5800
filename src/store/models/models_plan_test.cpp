// SPDX-License-Identifier: Apache-2.0
// What SQLite does for the searches that clients make: an index in the order of the answer where
// there is one, never a walk over what others own.
#include "db/database.hpp"
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/models/model_row.hpp"
#include "store/models/registry_row.hpp"
#include "store/schema/schema.hpp"
#include "store/tracking/trace_row.hpp"

namespace ponk::store {
namespace {

using query::search::parse_filter;
using query::search::parse_order_by;
using testing::HasSubstr;
using testing::Not;

class ModelPlanTest : public HistoryTest {
protected:
    ModelPlanTest()
    {
        history_.reset();
        database_ =
            db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
                .value();
    }
    std::string plan(const RowSearch& search)
    {
        const auto steps = database_->read([&](db::Connection& reader) -> Result<std::string> {
            auto statement = TRY(Sql("EXPLAIN QUERY PLAN ")
                                     .add(row_statement(search, {}))
                                     .add(" LIMIT 10")
                                     .prepare(reader));
            std::string text;
            while (TRY(statement.step()))
                text += statement.text(3) + "\n";
            return text;
        });
        EXPECT_TRUE(steps) << steps.error().message();
        return steps.value_or("");
    }
    static ModelSearch models(const std::string& filter)
    {
        ModelSearch search{.experiments = {1}};
        search.filter = parse_filter(query::search::logged_models, filter).value();
        return search;
    }
    static RegistrySearch registry(const query::search::Grammar& grammar,
                                   const std::string& filter,
                                   const std::vector<std::string>& order = {})
    {
        RegistrySearch search;
        search.filter = parse_filter(grammar, filter).value();
        search.order_by = parse_order_by(grammar, order).value();
        return search;
    }

    std::unique_ptr<db::Database> database_;
};

TEST_F(ModelPlanTest, TheNewestModelsOfAnExperimentAreWalked)
{
    const auto steps = plan(model_rows(models("tags.a != 'x' AND metrics.m > 1")));
    EXPECT_THAT(steps, HasSubstr("logged_model_by_created"));
    EXPECT_THAT(steps, Not(HasSubstr("USE TEMP B-TREE")));
    EXPECT_THAT(steps, HasSubstr("logged_model_metric_once (model=? AND key=?"));
}

TEST_F(ModelPlanTest, AModelIsFoundByItsName)
{
    EXPECT_THAT(plan(model_rows(models("name = 'a'"))), HasSubstr("logged_model_by_name"));
}

TEST_F(ModelPlanTest, RegisteredModelsAreWalkedByName)
{
    const auto& grammar = query::search::registered_models;
    const auto steps =
        plan(registered_rows(registry(grammar, "tags.`mlflow.prompt.is_prompt` != 'true'")));
    EXPECT_THAT(steps, HasSubstr("sqlite_autoindex_registered_model_1"));
    EXPECT_THAT(steps, Not(HasSubstr("USE TEMP B-TREE")));
    EXPECT_THAT(plan(registered_rows(registry(grammar, "tags.team = 'x'"))),
                HasSubstr("registered_model_tag_by_value (key=? AND value=?)"));
    const auto by_time =
        plan(registered_rows(registry(grammar, "", {"last_updated_timestamp ASC"})));
    EXPECT_THAT(by_time, HasSubstr("registered_model_by_updated"));
    EXPECT_THAT(by_time, Not(HasSubstr("USE TEMP B-TREE")));
}

TEST_F(ModelPlanTest, VersionsAreFoundByNameRunAndTag)
{
    const auto& grammar = query::search::model_versions;
    EXPECT_THAT(plan(version_rows(registry(grammar, "name = 'a'"))),
                HasSubstr("SEARCH registered_model USING"));
    EXPECT_THAT(plan(version_rows(registry(grammar, "run_id = 'a'"))),
                HasSubstr("model_version_by_run"));
    EXPECT_THAT(plan(version_rows(registry(grammar, "tags.a = 'x'"))),
                HasSubstr("model_version_tag_by_value (key=? AND value=?)"));
}

TEST_F(ModelPlanTest, TheNewestTracesOfAnExperimentAreWalked)
{
    TraceSearch search{.experiments = {1}};
    search.filter =
        parse_filter(query::search::traces, "status = 'OK' AND timestamp_ms > 5").value();
    const auto steps = plan(trace_rows(search));
    EXPECT_THAT(steps, HasSubstr("trace_by_time (project=? AND time>?)"));
    EXPECT_THAT(steps, Not(HasSubstr("USE TEMP B-TREE")));
}

}  // namespace
}  // namespace ponk::store
