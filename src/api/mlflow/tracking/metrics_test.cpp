// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MlflowHistory : public MlflowTest {
protected:
    using Query = std::vector<std::pair<std::string, std::string>>;

    void log(const std::string& run, double value, std::int64_t time, std::int64_t step)
    {
        ask(in_run(
            "log-metric",
            run,
            fmt::format(
                R"("key": "m", "value": {}, "timestamp": {}, "step": {})", value, time, step)));
    }
    // "value@step " for each.
    static std::string shown(const Json& answer)
    {
        std::string all;
        const auto& list = answer["metrics"];
        for (std::size_t i = 0; list.is_array() && i < list.as_array().size(); ++i) {
            const auto& entry = list.as_array()[i];
            all += fmt::format("{}@{} ", entry["value"].as_double(), entry.integer("step"));
        }
        return all;
    }
    std::string interval(Query query)
    {
        query.emplace_back("metric_key", "m");
        const auto answer = get("metrics/get-history-bulk-interval", std::move(query));
        return answer.status == 200 ? shown(ask(answer)) : refusal(answer);
    }

    const std::string bulk_ = "/ajax-api/2.0/mlflow/metrics/get-history-bulk";
    const std::string id_ = new_run();
};

TEST_F(MlflowHistory, IsSortedByTimeStepAndValueAndHasEachPointOnce)
{
    log(id_, 5, 30, 1);
    log(id_, 4, 10, 2);
    log(id_, 3, 10, 1);
    log(id_, 2, 10, 1);
    log(id_, 5, 30, 1);
    const auto answer = get("metrics/get-history", {{"run_id", id_}, {"metric_key", "m"}});
    EXPECT_EQ(shown(ask(answer)), "2@1 3@1 4@2 5@1 ");
    expect_golden("history.json", answer);
}

TEST_F(MlflowHistory, ComesInPages)
{
    for (int i = 0; i < 5; ++i)
        log(id_, i, i, i);
    std::string all;
    std::string token;
    int pages = 0;
    do {
        const auto answer = ask(get(
            "metrics/get-history",
            {{"run_uuid", id_}, {"metric_key", "m"}, {"max_results", "2"}, {"page_token", token}}));
        all += shown(answer);
        token = answer.text("next_page_token");
        ++pages;
    } while (!token.empty());
    EXPECT_EQ(all, "0@0 1@1 2@2 3@3 4@4 ");
    EXPECT_EQ(pages, 3);
}

TEST_F(MlflowHistory, OfNothingIsEmpty)
{
    EXPECT_EQ(get("metrics/get-history", {{"run_id", id_}, {"metric_key", "none"}}).body, "{}\n");
    EXPECT_EQ(get("metrics/get-history", {{"run_id", "none"}, {"metric_key", "m"}}).body, "{}\n");
    EXPECT_THAT(refusal(get("metrics/get-history", {{"run_id", id_}})),
                HasSubstr("Missing value for required parameter 'metric_key'"));
    log(id_, 1, 1, 1);
    for (const auto& [name, value] : Query{{"max_results", "0"},
                                           {"max_results", "-1"},
                                           {"max_results", "x"},
                                           {"page_token", "x"},
                                           {"page_token", "eyJvZmZzZXQiOiAtMX0="}})
        EXPECT_THAT(refusal(get("metrics/get-history",
                                {{"run_id", id_}, {"metric_key", "m"}, {name, value}})),
                    StartsWith("400 INVALID_PARAMETER_VALUE"))
            << name << value;
}

TEST_F(MlflowHistory, OfSeveralRunsComesAtOnce)
{
    const auto other = new_run();
    log(id_, 1, 1, 1);
    log(other, 2, 1, 1);
    const auto both = ask(get(bulk_, {{"run_id", other}, {"run_id", id_}, {"metric_key", "m"}}));
    EXPECT_EQ(shown(both), id_ < other ? "1@1 2@1 " : "2@1 1@1 ");
    EXPECT_EQ(both["metrics"].as_array()[0].text("run_id"), std::min(id_, other));
    EXPECT_EQ(
        shown(ask(get(
                  bulk_,
                  {{"run_id", other}, {"run_id", id_}, {"metric_key", "m"}, {"max_results", "1"}})))
            .size(),
        4U);
    EXPECT_EQ(get(bulk_, {{"run_id", id_}, {"metric_key", "none"}}).body, "{\"metrics\":[]}\n")
        << "pages index it without a look";
    EXPECT_THAT(refusal(get(bulk_, {{"metric_key", "m"}})),
                HasSubstr("GetMetricHistoryBulk request must specify at least one run_id"));
    EXPECT_THAT(refusal(get(bulk_, {{"run_id", id_}})),
                HasSubstr("GetMetricHistoryBulk request must specify a metric_key"));
    Query many{{"metric_key", "m"}};
    for (int i = 0; i < 101; ++i)
        many.emplace_back("run_id", "x");
    EXPECT_THAT(refusal(get(bulk_, many)),
                HasSubstr("GetMetricHistoryBulk request cannot specify more than 100 run_ids"));
    // There is none for clients.
    EXPECT_THAT(refusal(get("metrics/get-history-bulk", many)),
                StartsWith("404 ENDPOINT_NOT_FOUND"));
}

TEST_F(MlflowHistory, IsSampledEvenly)
{
    for (int i = 0; i < 10; ++i)
        log(id_, i, 100 - i, i);
    EXPECT_EQ(interval({{"run_ids", id_}, {"max_results", "20"}}),
              "0@0 1@1 2@2 3@3 4@4 5@5 6@6 7@7 8@8 9@9 ");
    EXPECT_EQ(interval({{"run_ids", id_}, {"max_results", "3"}}), "0@0 4@4 9@9 ");
    EXPECT_EQ(interval({{"run_ids", id_}, {"start_step", "3"}, {"end_step", "5"}}), "3@3 4@4 5@5 ");
    EXPECT_EQ(interval({{"run_ids", "none"}, {"run_ids", id_}, {"max_results", "1"}}), "9@9 ");
    EXPECT_THAT(interval({}), HasSubstr("Missing value for required parameter 'run_ids'"));
    EXPECT_THAT(interval({{"run_ids", id_}, {"max_results", "2501"}}),
                HasSubstr("max_results must be between 1 and 2500"));
    EXPECT_THAT(interval({{"run_ids", id_}, {"start_step", "3"}, {"end_step", "2"}}),
                HasSubstr("end_step must be greater than start_step"));
    EXPECT_THAT(interval({{"run_ids", id_}, {"start_step", "3"}}),
                HasSubstr("If either start step or end step are specified, both must be"));
    Query many;
    for (int i = 0; i < 101; ++i)
        many.emplace_back("run_ids", "x");
    EXPECT_THAT(interval(many),
                HasSubstr("GetMetricHistoryBulkInterval request must specify at most 100 run_ids"));
}

}  // namespace
}  // namespace ponk::api::mlflow
