// SPDX-License-Identifier: Apache-2.0
// Searches as MLflow's server answers them: its verdicts on filters, orders and pages.
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::StartsWith;

class MlflowSearch : public MlflowTest {
protected:
    // A..D with metric m = 1, 2, +Inf, none, begun at 100, 200, 300, 400.
    void add_runs()
    {
        const char* const values[] = {"1", "2", "\"Infinity\"", nullptr};
        for (int i = 0; i < 4; ++i) {
            const auto made =
                ask(post("runs/create",
                         fmt::format(R"({{"experiment_id": "0", "run_name": "{}", "start_time": {},
                                 "user_id": "ann", "tags": [{{"key": "t", "value": "{}"}}]}})",
                                     static_cast<char>('A' + i),
                                     100 * (i + 1),
                                     i)));
            const auto id = made["run"]["info"].text("run_id");
            ids_.push_back(id);
            if (values[i]) {
                ask(in_run("log-metric",
                           id,
                           fmt::format(R"("key": "m", "value": {}, "timestamp": 1)", values[i])));
            }
        }
        ask(in_run("log-batch",
                   ids_[0],
                   R"("params": [{"key": "p", "value": "Foo"}], "metrics":
                      [{"key": "a b", "value": 1, "timestamp": 1},
                       {"key": "x.y", "value": 3, "timestamp": 1},
                       {"key": "neg", "value": -2.5, "timestamp": 1},
                       {"key": "nan", "value": "NaN", "timestamp": 1}])"));
        ask(in_run("log-batch", ids_[1], R"("params": [{"key": "p", "value": "foo"}])"));
        ask(in_run("update", ids_[3], R"("status": "FINISHED", "end_time": 500)"));
    }
    net::Response search(const JsonObject& more)
    {
        JsonObject body{{"experiment_ids", JsonArray{"0"}}};
        for (const auto& [name, value] : more)
            body.set(name, value);
        return post("runs/search", to_json(body));
    }
    std::string names(const net::Response& response)
    {
        if (response.status != 200) return refusal(response);
        const auto page = parse_json(response.body).value();
        std::string all;
        const auto& runs = page["runs"];
        for (std::size_t i = 0; runs.is_array() && i < runs.as_array().size(); ++i)
            all += runs.as_array()[i]["info"].text("run_name");
        return all;
    }
    std::string found(const std::string& filter) { return names(search({{"filter", filter}})); }
    std::string ordered(const JsonArray& order_by)
    {
        return names(search({{"order_by", order_by}}));
    }

    std::vector<std::string> ids_;
};

TEST_F(MlflowSearch, ARelaySaysWhereToLookBesideTheFilter)
{
    add_runs();
    ask(in_run("set-tag", ids_[1], R"("key": "ponk.experiment_name", "value": "it's \"b\"")"));
    const auto within = [this](JsonObject scope, const char* filter = "") {
        return names(search({{"ponk_scope", std::move(scope)}, {"filter", filter}}));
    };
    EXPECT_EQ(within({{"names", JsonArray{"it's \"b\""}}}), "B");
    EXPECT_EQ(within({{"names", JsonArray{"none", "Default"}}}), "DCBA");
    EXPECT_EQ(within({{"names", JsonArray{std::string("a\0b", 3)}}}), "");
    EXPECT_EQ(within({{"without", ids_[1]}}), "DCA");
    EXPECT_EQ(within({{"without", ids_[1]}}, "metrics.m > 0"), "CA");
    EXPECT_THAT(within({}, "nonsense"), testing::HasSubstr("column 1:"));
}

TEST_F(MlflowSearch, FiltersThatAreAccepted)
{
    add_runs();
    const std::pair<const char*, const char*> table[] = {
        {"", "DCBA"},
        {"metrics.m > 1", "CB"},
        {"metric.m >= 1", "CBA"},
        {"metrics.m < 1e1", "BA"},
        {"metrics.m > .5", "CBA"},
        {"metrics.m > 1.", "CB"},
        {"metrics.m != 1", "CB"},
        {"metrics.neg = -2.5", "A"},
        {"metrics.`a b` = 1", "A"},
        {"metrics.\"a b\" = 1", "A"},
        {"metrics.'a b' = 1", "A"},
        {"metrics.x.y = 3", "A"},
        {"`metrics`.m=1", "A"},
        {"params.p = \"Foo\"", "A"},
        {"parameter.p='foo'", "B"},
        {"params.p like 'f%'", "B"},
        {"params.p ilike '%OO'", "BA"},
        {"params.p != 'x'", "BA"},
        {"params.p IS NOT NULL", "BA"},
        {"params.p is null", "DC"},
        {"status = 'RUNNING'", "CBA"},
        {"run.status='FINISHED'", "D"},
        {"`run name` = 'A'", "A"},
        {"run_name LIKE '%'", "DCBA"},
        {"created > 100", "DCB"},
        {"start_time = 100.0", "A"},
        {"end_time > 0", "D"},
        {"user_id = 'ann'", "DCBA"},
        {"tags.mlflow.runName='A'", "A"},
        {"tags.mlflow.runName IS NULL", ""},
        {"tags.t = '2'", "C"},
        {"dataset.name = 'x'", ""},
        {"dataset.context IN ('train')", ""},
        {"metrics.m > 0\n\tAND params.p = 'foo'", "B"},
        {"AND metrics.m = 1 AND", "A"},
    };
    for (const auto& [filter, expected] : table)
        EXPECT_EQ(found(filter), expected) << filter;
    EXPECT_EQ(found("run_id IN ('" + ids_[0] + "','b')"), "A");
    EXPECT_EQ(found("attributes.run_id NOT IN ('" + ids_[0] + "')"), "DCB");
}

TEST_F(MlflowSearch, FiltersThatAreRefused)
{
    for (const auto* filter : {"metrics.m == 1",
                               "metrics.m <> 1",
                               "metrics.m > '1'",
                               "metrics.m LIKE '1'",
                               "metrics.m IN (1,2)",
                               "metrics.m IS NULL",
                               "metrics.m BETWEEN 0 AND 1",
                               "'metrics'.m=1",
                               "metrics . m > 0",
                               "foo.m > 1",
                               "metrics.m",
                               "metrics.m >",
                               "1 < metrics.m",
                               "metrics.m > metrics.n",
                               "params.p = Foo",
                               "params.p = 5",
                               "params.p > 'a'",
                               "params.p IN ('x')",
                               "params.p NOT LIKE 'x'",
                               "run name = 'A'",
                               "run_id IN ()",
                               "run_id IN (1)",
                               "status IN ('x')",
                               "start_time > '100'",
                               "experiment_id = '1'",
                               "attributes.lifecycle_stage = 'active'",
                               "attributes.source_name = 'x'",
                               "dataset.foo='x'",
                               "metrics.m > 1 OR metrics.m < 0",
                               "(metrics.m > 1)",
                               "NOT metrics.m > 1",
                               "metrics.m > 1;",
                               "metrics.m > 1; metrics.m > 2",
                               "metrics.m > 1 -- c",
                               "metrics.m > 1 /* c */"})
        EXPECT_THAT(found(filter), StartsWith("400 INVALID_PARAMETER_VALUE: ")) << filter;
}

TEST_F(MlflowSearch, OrdersPutWhatIsMissingLast)
{
    add_runs();
    EXPECT_EQ(ordered({}), "DCBA");
    EXPECT_EQ(ordered({"metrics.m"}), "ABCD");
    EXPECT_EQ(ordered({"metrics.m DESC"}), "CBAD");
    EXPECT_EQ(ordered({"params.p ASC"}), "ABDC");
    EXPECT_EQ(ordered({"start_time asc"}), "ABCD");
    EXPECT_EQ(ordered({"attributes.end_time DESC"}), "DCBA");
    EXPECT_EQ(ordered({"status", "tags.mlflow.runName"}), "DABC");
    EXPECT_EQ(ordered({"run_name DESC"}), "DCBA");
    for (const auto& bad : {JsonArray{"metrics.m up"},
                            JsonArray{""},
                            JsonArray{"metrics.m, metrics.n"},
                            JsonArray{"experiment_id"},
                            JsonArray{"start_time", "start_time DESC"},
                            JsonArray{Json(7)}})
        EXPECT_THAT(ordered(bad), StartsWith("400 INVALID_PARAMETER_VALUE")) << to_json(bad);
}

TEST_F(MlflowSearch, PagesFollowEachOther)
{
    add_runs();
    for (const auto& order : {JsonArray{}, JsonArray{"metrics.m DESC"}}) {
        std::string all;
        std::string token;
        do {
            const auto page =
                search({{"max_results", 1}, {"page_token", token}, {"order_by", order}});
            all += names(page);
            token = parse_json(page.body)->text("next_page_token");
        } while (!token.empty());
        EXPECT_EQ(all, order.empty() ? "DCBA" : "CBAD");
    }
    EXPECT_THAT(names(search({{"page_token", "x"}})), StartsWith("400 INVALID_PARAMETER_VALUE"));
    for (const auto& size : {Json(0), Json(50'001), Json(-1), Json("x")})
        EXPECT_THAT(names(search({{"max_results", size}})), StartsWith("400 "));
    EXPECT_EQ(names(search({{"max_results", "2"}})), "DC");
}

TEST_F(MlflowSearch, ExperimentsAreASetOfIds)
{
    add_runs();
    new_run(new_experiment("second"), "E");
    new_run(new_experiment("third"), "F");
    const auto in = [this](const JsonArray& ids) {
        return names(search({{"experiment_ids", ids}, {"order_by", JsonArray{"run_name"}}}));
    };
    EXPECT_EQ(in({"1"}), "E");
    EXPECT_EQ(in({"1", "2", "1"}), "EF");
    EXPECT_EQ(in({"0", "2"}), "ABCDF");
    EXPECT_EQ(in({"7", "99999999999999999999"}), "");
    EXPECT_EQ(in({}), "");
    EXPECT_EQ(names(search({{"experiment_ids", Json()}})), "");
    EXPECT_THAT(in({"x"}), StartsWith("400 INVALID_PARAMETER_VALUE"));
    JsonArray many;
    for (int i = 0; i < 40'000; ++i)
        many.emplace_back(std::to_string(i));
    EXPECT_EQ(in(many), "ABCDEF");
}

TEST_F(MlflowSearch, ViewsTellActiveFromDeletedRuns)
{
    add_runs();
    ask(in_run("delete", ids_[1], ""));
    const auto view = [this](const Json& type) { return names(search({{"run_view_type", type}})); };
    EXPECT_EQ(view("ACTIVE_ONLY"), "DCA");
    EXPECT_EQ(view("DELETED_ONLY"), "B");
    EXPECT_EQ(view("ALL"), "DCBA");
    EXPECT_EQ(view(3), "DCBA");
    EXPECT_THAT(view("NONE"), StartsWith("400 "));
}

}  // namespace
}  // namespace ponk::api::mlflow
