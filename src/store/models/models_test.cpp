// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/models/models.hpp"

#include <cmath>
#include <limits>

namespace ponk::store {
namespace {

using query::search::Direction;
using query::search::Entity;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ModelsTest : public HistoryTest {
protected:
    std::string make(const std::string& name, Pairs params = {}, Pairs tags = {})
    {
        return models()
            .create({.experiment = 0,
                     .name = name,
                     .type = "agent",
                     .source_run = run_.id.text(),
                     .params = std::move(params),
                     .tags = std::move(tags)})
            .value()
            .id;
    }
    Models models() const { return Models(*history_); }
    void
    log(const std::string& model, double value, std::int64_t time, const char* dataset = nullptr)
    {
        ModelMetric metric{.model = model, .key = "acc", .value = value, .time = time};
        if (dataset) metric.dataset_name = dataset;
        ASSERT_TRUE(models().log_metrics(run_.id.text(), {metric}));
    }
    static query::search::Filter filter(const std::string& text)
    {
        return query::search::parse_filter(query::search::logged_models, text).value();
    }
    std::vector<std::string> names(const ModelSearch& search) const
    {
        std::vector<std::string> found;
        const auto page = models().search(search).value();
        for (const auto& model : page.models)
            found.push_back(model.name);
        return found;
    }
    std::vector<std::string> names(const std::string& text) const
    {
        return names({.experiments = {0},
                      .filter = filter(text),
                      .datasets = {},
                      .order_by = {{.key = {Entity::attribute, "name", Direction::ascending}}},
                      .page = {}});
    }

    model::Run run_ = add();
};

TEST_F(ModelsTest, OneThatWasMadeElsewhereKeepsItsIdAndIsMadeOnce)
{
    NewModel model{.experiment = 0, .name = "net"};
    model.id = "m-0123456789abcdef0123456789abcdef";
    model.created = 77;
    const auto made = models().create(model).value();
    EXPECT_EQ(made.id, model.id);
    EXPECT_EQ(made.created, 77);
    EXPECT_THAT(made.location, HasSubstr("/models/" + model.id + "/artifacts"));
    ASSERT_TRUE(models().set_tags(model.id, {{"a", "b"}}));
    model.name = "again";
    const auto known = models().create(model).value();
    EXPECT_EQ(known.name, "net");
    EXPECT_THAT(known.tags, SizeIs(1));
}

TEST_F(ModelsTest, AModelIsPendingAndHasAPlaceForItsFiles)
{
    const auto id = make("a", {{"lr", "0.1"}}, {{"team", "x"}});
    const auto model = models().get(id).value();
    EXPECT_TRUE(id.starts_with("m-"));
    EXPECT_EQ(id.size(), 34U);
    EXPECT_EQ(model.status, "LOGGED_MODEL_PENDING");
    EXPECT_EQ(model.location, "mlflow-artifacts:/0/models/" + id + "/artifacts");
    EXPECT_THAT(model.params, ElementsAre(std::pair("lr", "0.1")));
    EXPECT_THAT(model.tags, ElementsAre(std::pair("team", "x")));
    EXPECT_EQ(models().set_status(id, "LOGGED_MODEL_READY").value().status, "LOGGED_MODEL_READY");
    reopen();
    EXPECT_EQ(models().get(id).value().status, "LOGGED_MODEL_READY");
}

TEST_F(ModelsTest, WhatIsNotThereIsToldInTheWordsOfClients)
{
    EXPECT_EQ(models().get("m-none").error().message(), "Logged model with ID 'm-none' not found.");
    EXPECT_EQ(models().create({.experiment = 77}).error().message(),
              "No Experiment with id=77 exists");
    EXPECT_EQ(models().remove_tag(make("a"), "t").error().kind(), ErrorKind::not_found);
    const ModelMetric metric{.model = "m-none", .key = "acc"};
    EXPECT_EQ(models().log_metrics(run_.id.text(), {metric}).error().kind(), ErrorKind::not_found);
    EXPECT_EQ(models().log_metrics("none", {}).error().message(), "Run with id=none not found");
}

TEST_F(ModelsTest, ParametersAreWrittenOnceAndAllOrNone)
{
    const auto id = make("a", {{"lr", "0.1"}});
    EXPECT_TRUE(models().log_params(id, {{"lr", "0.1"}}));
    const auto refused = models().log_params(id, {{"new", "1"}, {"lr", "0.2"}});
    EXPECT_THAT(refused.error().message(), HasSubstr("Changing param values is not allowed"));
    EXPECT_THAT(models().get(id).value().params, SizeIs(1));
}

TEST_F(ModelsTest, ADeletedModelIsReadOnlyByWhoAsks)
{
    const auto id = make("a");
    ASSERT_TRUE(models().remove(id));
    EXPECT_FALSE(models().get(id));
    EXPECT_TRUE(models().get(id, Models::Deleted::include));
    EXPECT_THAT(names(""), IsEmpty());
}

TEST_F(ModelsTest, MetricsBelongToTheModelWithTheirRunAndDataset)
{
    const auto id = make("a");
    log(id, 0.5, 5, "train");
    log(id, std::numeric_limits<double>::quiet_NaN(), 6);
    log(id, 0.5, 5, "train");
    const auto metrics = models().get(id).value().metrics;
    ASSERT_THAT(metrics, SizeIs(2));
    EXPECT_EQ(metrics[0].dataset_name, "train");
    EXPECT_EQ(metrics[0].run, run_.id.text());
    EXPECT_TRUE(std::isnan(metrics[1].value));
}

TEST_F(ModelsTest, FiltersAskForAttributesMetricsParametersAndTags)
{
    const auto first = make("first", {{"p", "1"}}, {{"t", "x"}});
    make("second", {{"p", "2"}}, {{"t", "y"}});
    log(first, 0.9, 1, "train");
    EXPECT_THAT(names(""), ElementsAre("first", "second"));
    EXPECT_THAT(names("name = 'first'"), ElementsAre("first"));
    EXPECT_THAT(names("name LIKE 's%' AND params.p = '2'"), ElementsAre("second"));
    EXPECT_THAT(names("tags.t != 'x'"), ElementsAre("second"));
    EXPECT_THAT(names("tags.t IN ('x', 'z')"), ElementsAre("first"));
    EXPECT_THAT(names("metrics.acc > 0.5"), ElementsAre("first"));
    EXPECT_THAT(names("metrics.acc > 0.95"), IsEmpty());
    EXPECT_THAT(names("model_type = 'agent' AND creation_timestamp > 5"), SizeIs(2));
    EXPECT_THAT(names("source_run_id = '" + run_.id.text() + "'"), SizeIs(2));
    EXPECT_THAT(names("status IN ('LOGGED_MODEL_READY')"), IsEmpty());
}

TEST_F(ModelsTest, OrdersByTheLatestValueOnADatasetWithNoneLast)
{
    const auto low = make("low");
    const auto high = make("high");
    const auto odd = make("odd");
    make("none");
    log(low, 0.1, 1, "train");
    log(low, 0.9, 2, "test");
    log(high, 0.5, 1, "train");
    log(odd, std::numeric_limits<double>::quiet_NaN(), 1, "train");
    ModelSearch search{.experiments = {0}};
    search.order_by = {{.key = {Entity::metric, "acc", Direction::descending}}};
    EXPECT_THAT(names(search), ElementsAre("low", "high", "odd", "none"));
    search.order_by[0].dataset_name = "train";
    EXPECT_THAT(names(search), ElementsAre("high", "low", "odd", "none"));
    search.order_by[0].key.direction = Direction::ascending;
    EXPECT_THAT(names(search), ElementsAre("low", "high", "odd", "none"));
    search.order_by[0].dataset_name = "test";
    EXPECT_EQ(names(search).front(), "low");
    search.datasets = {{.name = "test"}};
    EXPECT_THAT(names(search), ElementsAre("low"));
    search.filter = filter("metrics.acc < 0.5");
    EXPECT_THAT(names(search), IsEmpty());
}

TEST_F(ModelsTest, PagesHaveEachModelOnceWhateverIsAddedMeanwhile)
{
    std::vector<std::string> made;
    for (int i = 0; i < 7; ++i) {
        const auto id = make(fmt::format("m{}", i));
        if (i % 2 == 0) log(id, i, 1);
    }
    ModelSearch search{.experiments = {0}};
    search.order_by = {{.key = {Entity::metric, "acc", Direction::ascending}}};
    const auto whole = names(search);
    ASSERT_THAT(whole, SizeIs(7));
    search.limit = 2;
    std::vector<std::string> paged;
    do {
        const auto page = models().search(search).value();
        for (const auto& model : page.models)
            paged.push_back(model.name);
        search.page = page.next;
        if (paged.size() == 2) log(make("late"), -1, 1);
    } while (!search.page.empty());
    EXPECT_EQ(paged, whole);
    search.page = "bad";
    EXPECT_EQ(models().search(search).error().kind(), ErrorKind::invalid_argument);
}

TEST_F(ModelsTest, GoWithTheirExperiment)
{
    const auto id = models().create({.experiment = 1, .name = "a"}).value().id;
    finish(run_.id);
    ASSERT_TRUE(history_->delete_project("p1"));
    EXPECT_FALSE(models().get(id, Models::Deleted::include));
    EXPECT_TRUE(history_->check_integrity());
}

}  // namespace
}  // namespace ponk::store
