// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/datasets.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class DatasetsTest : public HistoryTest {
protected:
    Datasets datasets() const { return Datasets(*history_); }
    RunInputs inputs(const std::string& run) const
    {
        return Tracking(*history_).get_run(run).value().inputs;
    }
    static DatasetInput input(const std::string& name, const std::string& context = {})
    {
        DatasetInput made{{name, "d1", "local", "/data", std::nullopt, "{}"}, {}};
        if (!context.empty()) made.tags = {{"mlflow.data.context", context}};
        return made;
    }
    std::vector<std::string> found(const std::string& filter) const
    {
        RunSearch search;
        search.filter = query::search::parse_filter(query::search::runs, filter).value();
        std::vector<std::string> ids;
        const auto page = history_->search_runs(search).value();
        for (const auto& run : page.runs)
            ids.push_back(run.id.text());
        return ids;
    }
};

TEST_F(DatasetsTest, AnInputKeepsItsFirstTags)
{
    const auto run = add().id.text();
    ASSERT_TRUE(datasets().log_inputs(run, {input("a", "train"), input("a", "again")}, {"m-1"}));
    ASSERT_TRUE(datasets().log_inputs(run, {input("b"), input("a", "later")}, {"m-1"}));
    const auto of_run = inputs(run);
    ASSERT_THAT(of_run.datasets, SizeIs(2));
    EXPECT_EQ(of_run.datasets[0].dataset.name, "a");
    EXPECT_THAT(of_run.datasets[0].tags, ElementsAre(std::pair("mlflow.data.context", "train")));
    EXPECT_EQ(of_run.datasets[1].dataset.schema, std::nullopt);
    EXPECT_EQ(of_run.datasets[1].dataset.profile, "{}");
    EXPECT_THAT(of_run.models, ElementsAre("m-1"));
}

TEST_F(DatasetsTest, ADatasetIsOnePerExperiment)
{
    const auto first = add("p1");
    const auto second = add("p1");
    const auto other = add("p2");
    for (const auto& run : {first, second, other})
        ASSERT_TRUE(datasets().log_inputs(run.id.text(), {input("a", "train")}, {}));
    ASSERT_TRUE(datasets().log_inputs(second.id.text(), {input("b")}, {}));
    const auto summaries = datasets().search({1, 2, 99}).value();
    ASSERT_THAT(summaries, SizeIs(3));
    EXPECT_EQ(summaries[0].name, "a");
    EXPECT_EQ(summaries[0].context, "train");
    EXPECT_EQ(summaries[1].context, std::nullopt);
    EXPECT_EQ(summaries[2].experiment, 2);
}

TEST_F(DatasetsTest, OutputsHaveTheirLatestStep)
{
    const auto run = add().id.text();
    ASSERT_TRUE(datasets().log_outputs(run, {{"m-2", 1}, {"m-1", 0}}));
    ASSERT_TRUE(datasets().log_outputs(run, {{"m-2", 5}}));
    const auto outputs = inputs(run).outputs;
    ASSERT_THAT(outputs, SizeIs(2));
    EXPECT_EQ(outputs[1].model, "m-2");
    EXPECT_EQ(outputs[1].step, 5);
    EXPECT_EQ(datasets().log_outputs("none", {}).error().message(), "Run with id=none not found");
}

TEST_F(DatasetsTest, RunsAreFoundByWhatTheyRead)
{
    const auto first = add().id.text();
    const auto second = add().id.text();
    add();
    ASSERT_TRUE(datasets().log_inputs(first, {input("iris", "train"), input("wine", "eval")}, {}));
    ASSERT_TRUE(datasets().log_inputs(second, {input("iris")}, {}));
    EXPECT_THAT(found("dataset.name = 'iris'"), ElementsAre(second, first));
    EXPECT_THAT(found("datasets.name LIKE 'w%'"), ElementsAre(first));
    EXPECT_THAT(found("dataset.name ILIKE 'IRIS' AND dataset.context = 'eval'"),
                ElementsAre(first));
    EXPECT_THAT(found("dataset.context IN ('train', 'x')"), ElementsAre(first));
    EXPECT_THAT(found("dataset.name != 'iris'"), ElementsAre(first));
    EXPECT_THAT(found("dataset.digest = 'd1' AND dataset.context != 'train'"), ElementsAre(first));
    EXPECT_THAT(found("dataset.name NOT IN ('iris', 'wine')"), IsEmpty());
}

TEST_F(DatasetsTest, ModelsOfOlderClientsAreListedInATag)
{
    const auto run = add();
    ASSERT_TRUE(datasets().add_model_history(run.id.text(), JsonObject{{"artifact_path", "a"}}));
    ASSERT_TRUE(datasets().add_model_history(run.id.text(), JsonObject{{"artifact_path", "b"}}));
    EXPECT_THAT(history_->get_run(run.id).value().tags,
                ElementsAre(std::pair("mlflow.log-model.history",
                                      R"([{"artifact_path":"a"},{"artifact_path":"b"}])")));
}

TEST_F(DatasetsTest, InputsGoWithTheirRun)
{
    const auto run = add();
    ASSERT_TRUE(datasets().log_inputs(run.id.text(), {input("a")}, {"m"}));
    finish(run.id);
    ASSERT_TRUE(history_->delete_run(run.id));
    EXPECT_THAT(datasets().search({1}).value(), IsEmpty());
    EXPECT_TRUE(history_->check_integrity());
}

}  // namespace
}  // namespace ponk::store
