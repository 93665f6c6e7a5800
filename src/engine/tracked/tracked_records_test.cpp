// SPDX-License-Identifier: Apache-2.0
// What records of a journal become: child runs, models, datasets, requests of the script.
#include "engine/tracked/journal_reader_test_support.hpp"

namespace ponk::engine {
namespace {

TEST_F(JournalReaders, RunsThatTheScriptMadeComeHomeOnce)
{
    const auto run = begin_run();
    const auto inner = RunId::make().text();
    const auto text =
        model::journal_record(
            JsonObject{{"of", inner}, {"made", "inner"}, {"user", "ann"}, {"time", 50}}) +
        model::journal_record(JsonObject{{"of", inner}, {"param", "lr"}, {"value", "0.1"}}) +
        model::journal_record(
            JsonObject{{"of", inner}, {"metric", "m"}, {"value", 3}, {"step", 1}, {"time", 60}}) +
        model::journal_record(JsonObject{{"of", inner}, {"status", "FINISHED"}, {"ended", 70}});
    // Two journals that say the same: as if the daemon had been killed before it noted how far.
    put(run, "relay-1", text);
    put(run, "relay-2", text);
    JournalReader reader(context_, run);
    read_all(reader);

    const store::Tracking tracking(*history_);
    const auto found = tracking.get_run(inner);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->name, "inner");
    EXPECT_EQ(found->state, model::RunState::completed);
    EXPECT_EQ(found->ended, 70);
    EXPECT_EQ(found->experiment, tracking.get_run(run.text())->experiment);
    ASSERT_EQ(found->metrics.size(), 1U);
    EXPECT_EQ(found->metrics[0].value, 3);
    EXPECT_EQ(last_step(run), -1);  // none of them is the run's own
}

TEST_F(JournalReaders, AJournalCannotSpeakOfOtherRuns)
{
    const auto run = begin_run();
    const auto other = begin_run();
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"of", other.text()}, {"made", "mine"}}) +
            model::journal_record(JsonObject{{"of", other.text()}, {"tag", "a"}, {"value", "b"}}) +
            model::journal_record(
                JsonObject{{"of", other.text()}, {"metric", "m"}, {"value", 1}, {"time", 1}}) +
            model::journal_record(JsonObject{{"of", "../x"}, {"made", "y"}}) + point(7));
    JournalReader reader(context_, run);
    read_all(reader);

    const auto untouched = store::Tracking(*history_).get_run(other.text());
    ASSERT_TRUE(untouched);
    EXPECT_TRUE(untouched->metrics.empty());
    EXPECT_EQ(std::ranges::count(untouched->tags, std::pair<std::string, std::string>("a", "b")),
              0);
    EXPECT_EQ(last_step(run), 7);
}

TEST_F(JournalReaders, ModelsAndDatasetsComeHomeOnce)
{
    const auto run = begin_run();
    const std::string id = "m-0123456789abcdef0123456789abcdef";
    const auto text =
        model::journal_record(JsonObject{{"model", id},
                                         {"name", "net"},
                                         {"type", "classifier"},
                                         {"run", run.text()},
                                         {"params", JsonObject{{"depth", "3"}}},
                                         {"tags", JsonObject{{"a", "b"}, {"gone", "c"}}},
                                         {"time", 50}}) +
        model::journal_record(JsonObject{{"metric", "acc"},
                                         {"value", 0.5},
                                         {"step", 1},
                                         {"time", 60},
                                         {"model_id", id},
                                         {"dataset_name", "iris"}}) +
        model::journal_record(JsonObject{{"model", id}, {"untag", "gone"}}) +
        model::journal_record(JsonObject{{"model", id}, {"status", "LOGGED_MODEL_READY"}}) +
        model::journal_record(JsonObject{
            {"dataset", JsonObject{{"name", "iris"}, {"digest", "d1"}, {"source", "s"}}},
            {"tags",
             JsonArray{JsonObject{{"key", "mlflow.data.context"}, {"value", "training"}}}}}) +
        model::journal_record(JsonObject{{"model_output", id}, {"step", 4}});
    put(run, "relay-1", text);
    put(run, "relay-2", text);
    JournalReader reader(context_, run);
    read_all(reader);

    const auto model = store::Models(*history_).get(id);
    ASSERT_TRUE(model) << model.error().message();
    EXPECT_EQ(model->name, "net");
    EXPECT_EQ(model->status, "LOGGED_MODEL_READY");
    EXPECT_EQ(model->source_run, run.text());
    EXPECT_EQ(model->created, 50);
    EXPECT_EQ(model->params, (store::Pairs{{"depth", "3"}}));
    EXPECT_EQ(model->tags, (store::Pairs{{"a", "b"}, {"ponk.made_by", run.text()}}));
    ASSERT_EQ(model->metrics.size(), 1U);
    EXPECT_EQ(model->metrics[0].value, 0.5);
    EXPECT_EQ(model->metrics[0].dataset_name, "iris");
    const auto seen = store::Tracking(*history_).get_run(run.text());
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->experiment, model->experiment);
    ASSERT_EQ(seen->inputs.datasets.size(), 1U);
    EXPECT_EQ(seen->inputs.datasets[0].dataset.name, "iris");
    EXPECT_EQ(seen->inputs.datasets[0].tags.size(), 1U);
    ASSERT_EQ(seen->inputs.outputs.size(), 1U);
    EXPECT_EQ(seen->inputs.outputs[0].step, 4);
    ASSERT_EQ(seen->metrics.size(), 1U) << "a model's metric is the run's, too";
}

TEST_F(JournalReaders, CallsOfTheScriptAreToldOnceAndWithoutThoseTakenBack)
{
    const auto run = begin_run();
    const auto ask = [](const char* name) {
        return model::journal_record(JsonObject{{"ask", name}, {"method", "GET"}});
    };
    put(run, "relay-1", ask("a") + point(3) + ask("b"));
    put(run, "relay-2", model::journal_record(JsonObject{{"withdrawn", "a"}}));
    JournalReader reader(context_, run);
    read_all(reader);

    const auto asks = reader.take_forwarded();
    ASSERT_EQ(asks.size(), 1U);
    EXPECT_EQ(asks[0].text("ask"), "b");
    EXPECT_EQ(last_step(run), 3) << "what was logged before is there before the answer";
    EXPECT_TRUE(reader.take_forwarded().empty());
    JournalReader next(context_, run);
    read_all(next);
    EXPECT_TRUE(next.take_forwarded().empty()) << "a daemon that comes later does nothing twice";
}

TEST_F(JournalReaders, AMetricOfAModelThatIsNotThereTakesNoOtherAlong)
{
    const auto run = begin_run();
    const std::string id = "m-0123456789abcdef0123456789abcdef";
    const auto metric = [](const std::string& model, int step) {
        return model::journal_record(JsonObject{
            {"metric", "acc"}, {"value", 1}, {"step", step}, {"time", 5}, {"model_id", model}});
    };
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"model", id}, {"name", "net"}}) + metric(id, 1) +
            metric("m-unknown", 2) + metric(id, 3));
    JournalReader reader(context_, run);
    read_all(reader);
    EXPECT_EQ(store::Models(*history_).get(id)->metrics.size(), 2U);
    EXPECT_EQ(last_step(run), 3);
}

TEST_F(JournalReaders, ManyCallsAreToldInPortions)
{
    const auto run = begin_run();
    for (int i = 0; i < 20; ++i)
        put(run, "relay-1", model::journal_record(JsonObject{{"ask", std::to_string(i)}}));
    JournalReader reader(context_, run);
    read_all(reader);
    EXPECT_EQ(reader.take_forwarded().size(), 16U);
    EXPECT_LT(reader.due(), after(std::chrono::minutes(1))) << "the rest waits for nothing else";
    read_all(reader);
    EXPECT_EQ(reader.take_forwarded().size(), 4U);
    EXPECT_GT(reader.due(), after(std::chrono::hours(1)));
}

TEST_F(JournalReaders, AModelDoesNotComeFromARunOfOthers)
{
    const auto other = begin_run();
    const auto run = begin_run();
    const std::string id = "m-ffffffffffffffffffffffffffffffff";
    put(run,
        "relay-1",
        model::journal_record(
            JsonObject{{"model", id}, {"name", "net"}, {"run", other.text()}, {"time", 50}}));
    JournalReader reader(context_, run);
    read_all(reader);

    EXPECT_EQ(store::Models(*history_).get(id).value().source_run, run.text());
}

TEST_F(JournalReaders, TheGoldenJournalOfARelayComesHome)
{
    const auto run = begin_run();
    put(run, "relay-1", os::read_file(os::Path(PONK_GOLDEN) / "relay.journal").value());
    put(run,
        "relay-2",
        model::journal_record(JsonObject{{"tag", "ponk.made_by"}, {"value", run.text()}}));
    JournalReader reader(context_, run);
    read_all(reader);

    EXPECT_TRUE(reader.findings().empty());
    const store::Tracking tracking(*history_);
    const auto own = tracking.get_run(run.text()).value();
    EXPECT_EQ(own.params, (store::Pairs{{"lr", "0.1"}}));
    EXPECT_EQ(own.metrics.size(), 2U);
    EXPECT_EQ(own.inputs.datasets.at(0).dataset.source, "iris.csv");
    EXPECT_EQ(own.inputs.outputs.at(0).step, 2);
    EXPECT_EQ(parent_of(own.tags), "") << "no script says who made its run";
    EXPECT_EQ(own.parent, "");
    const auto model = store::Models(*history_).get("m-00112233445566778899aabbccddeeff").value();
    EXPECT_EQ(model.status, "LOGGED_MODEL_READY");
    EXPECT_EQ(model.params, (store::Pairs{{"depth", "3"}, {"width", "4"}}));
    EXPECT_EQ(model.tags, (store::Pairs{{"a", "b"}, {"ponk.made_by", run.text()}}));
    EXPECT_EQ(model.metrics.at(0).value, 0.9);
    const auto inner = tracking.get_run("0192aaaaaaab7bbb8cccddddddddeeee").value();
    EXPECT_EQ(inner.metrics.at(0).value, 7);
    EXPECT_EQ(inner.parent, run.text());
    EXPECT_EQ(parent_of(inner.tags), run.text()) << "clients see it";
    EXPECT_EQ(inner.inputs.models.at(0), model.id);
    EXPECT_EQ(inner.state, model::RunState::completed);
    const auto trace = store::Traces(*history_).get("tr-1").value();
    EXPECT_EQ(trace.duration, 91);
    EXPECT_EQ(trace.response, "2");
    EXPECT_EQ(parent_of(trace.tags), run.text());
    EXPECT_EQ(std::ranges::count(trace.tags, std::pair<std::string, std::string>("seen", "yes")),
              1);
    const auto asks = reader.take_forwarded();
    ASSERT_EQ(asks.size(), 1U);
    EXPECT_EQ(asks[0].text("target"), "/api/2.0/mlflow/experiments/search");
}

TEST_F(JournalReaders, AJournalCannotSpeakOfOthersModels)
{
    const auto run = begin_run();
    const std::string id = "m-0123456789abcdef0123456789abcdef";
    store::NewModel other{.name = "theirs"};
    other.id = id;
    ASSERT_TRUE(store::Models(*history_).create(other));
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"model", id}, {"name", "mine"}}) +
            model::journal_record(JsonObject{{"model", id}, {"tags", JsonObject{{"a", "b"}}}}) +
            model::journal_record(JsonObject{{"model", id}, {"deleted", true}}) +
            model::journal_record(JsonObject{{"model", "../x"}, {"name", "y"}}) + point(7));
    JournalReader reader(context_, run);
    read_all(reader);

    const auto untouched = store::Models(*history_).get(id);
    ASSERT_TRUE(untouched) << untouched.error().message();
    EXPECT_EQ(untouched->name, "theirs");
    EXPECT_TRUE(untouched->tags.empty());
    EXPECT_EQ(last_step(run), 7);
}

TEST_F(JournalReaders, ARunIsRenamedAndItsTagsGo)
{
    const auto run = begin_run();
    put(run,
        "relay-1",
        model::journal_record(JsonObject{{"tag", "a"}, {"value", "1"}}) +
            model::journal_record(JsonObject{{"tag", "mlflow.runName"}, {"value", "night"}}));
    JournalReader reader(context_, run);
    read_all(reader);
    put(run, "relay-1", model::journal_record(JsonObject{{"untag", "a"}}));
    reader.begin_again();
    read_all(reader);

    const auto found = store::Tracking(*history_).get_run(run.text());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "night");
    EXPECT_EQ(std::ranges::count_if(found->tags, [](const auto& tag) { return tag.first == "a"; }),
              0);
}

}  // namespace
}  // namespace ponk::engine
