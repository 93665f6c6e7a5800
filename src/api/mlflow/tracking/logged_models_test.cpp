// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

class LoggedModelsTest : public MlflowTest {
protected:
    std::string new_model(const std::string& name)
    {
        const auto made = ask(
            post("logged-models", fmt::format(R"({{"experiment_id": "0", "name": "{}"}})", name)));
        return made["model"]["info"].text("model_id");
    }
    Json model(const std::string& id) { return ask(get("logged-models/" + id, {}))["model"]; }
    std::vector<std::string> found(const std::string& fields)
    {
        const auto page =
            ask(post("logged-models/search", R"({"experiment_ids": ["0"])" + fields + "}"));
        std::vector<std::string> names;
        if (!page["models"].is_array()) return names;
        for (const auto& one : page["models"].as_array())
            names.push_back(one["info"].text("name"));
        return names;
    }
};

TEST_F(LoggedModelsTest, AreAsClientsReadThem)
{
    const auto made = post("logged-models",
                           R"({"experiment_id": "0", "name": "a", "model_type": "agent",
                               "params": [{"key": "x", "value": "1"}],
                               "tags": [{"key": "t", "value": "v"}]})");
    const auto id = ask(made)["model"]["info"].text("model_id");
    const auto run = new_run();
    ask(in_run("log-metric",
               run,
               fmt::format(R"("key": "acc", "value": 0.5, "timestamp": 5, "step": 1,
                              "model_id": "{}", "dataset_name": "d", "dataset_digest": "1")",
                           id)));
    ask(in_run("log-batch",
               run,
               fmt::format(R"("metrics": [{{"key": "nan", "value": "NaN", "timestamp": 6,
                              "model_id": "{}"}}])",
                           id)));
    expect_golden("logged-model.json", get("logged-models/" + id, {}));
    // What is logged for a model is a metric of the run too.
    EXPECT_EQ(data(run, "metrics", "acc"), Json(0.5));
}

TEST_F(LoggedModelsTest, AMetricOfAnUnknownModelIsNotStoredForTheRunEither)
{
    const auto run = new_run();
    EXPECT_EQ(refusal(in_run("log-metric",
                             run,
                             R"("key": "m", "value": 1, "timestamp": 1, "model_id": "m-none")")),
              "404 RESOURCE_DOES_NOT_EXIST: Logged model with ID 'm-none' not found.");
    EXPECT_TRUE(data(run, "metrics", "m").is_null());
}

TEST_F(LoggedModelsTest, WrongCallsAreRefusedInTheWordsOfTheServer)
{
    const auto id = new_model("a");
    EXPECT_EQ(refusal(post("logged-models", "{}")),
              "400 INVALID_PARAMETER_VALUE: Missing value for required parameter 'experiment_id'. "
              "See the API docs"
              " for more information about request parameters.");
    EXPECT_EQ(refusal(post("logged-models", R"({"experiment_id": "77"})")),
              "404 RESOURCE_DOES_NOT_EXIST: No Experiment with id=77 exists");
    EXPECT_EQ(post("logged-models", R"({"experiment_id": "x"})").status, 400);
    EXPECT_THAT(refusal(post("logged-models", R"({"experiment_id": "0", "name": "a/b"})")),
                HasSubstr("Invalid model name ('a/b') provided"));
    EXPECT_EQ(post("logged-models",
                   R"({"experiment_id": "0", "params": [{"key": "x", "value": "1"},
                                                        {"key": "x", "value": "2"}]})")
                  .status,
              400);
    const auto one = "logged-models/" + id;
    EXPECT_THAT(refusal(send("PATCH", one, {}, R"({"status": 2})")), HasSubstr("'model_id'"));
    EXPECT_THAT(refusal(send("PATCH", one, {}, fmt::format(R"({{"model_id": "{}"}})", id))),
                HasSubstr("'status'"));
    EXPECT_EQ(send("PATCH", one, {}, fmt::format(R"({{"model_id": "{}", "status": "BOGUS"}})", id))
                  .status,
              400);
    EXPECT_EQ(get("logged-models/m-none", {}).status, 404);
    EXPECT_EQ(refusal(send("DELETE", one + "/tags/k", {}, "")),
              fmt::format("404 RESOURCE_DOES_NOT_EXIST: No tag with key 'k' found for model with ID"
                          " '{}'.",
                          id));
}

TEST_F(LoggedModelsTest, AModelIsFinishedTaggedAndDeleted)
{
    const auto id = new_model("a");
    const auto one = "logged-models/" + id;
    for (const auto* status : {"2", "\"LOGGED_MODEL_READY\"", "\"2\""}) {
        const auto done = ask(send(
            "PATCH", one, {}, fmt::format(R"({{"model_id": "{}", "status": {}}})", id, status)));
        EXPECT_EQ(done["model"]["info"].text("status"), "LOGGED_MODEL_READY");
    }
    ask(send("PATCH", one + "/tags", {}, R"({"tags": [{"key": "k", "value": "w"}]})"));
    EXPECT_EQ(to_json(model(id)["info"]["tags"]), R"([{"key":"k","value":"w"}])");
    ask(send("DELETE", one + "/tags/k", {}, ""));
    ask(post(one + "/params", R"({"params": [{"key": "p", "value": "2"}]})"));
    EXPECT_THAT(refusal(post(one + "/params", R"({"params": [{"key": "p", "value": "3"}]})")),
                HasSubstr("Changing param values is not allowed"));
    ask(send("DELETE", one, {}, ""));
    EXPECT_EQ(get(one, {}).status, 404);
    EXPECT_EQ(get(one, {{"allow_deleted", "true"}}).status, 200);
    EXPECT_TRUE(found("").empty());
}

TEST_F(LoggedModelsTest, SearchesFilterOrderAndPage)
{
    const auto run = new_run();
    for (const auto* name : {"a", "b", "c"}) {
        const auto id = new_model(name);
        if (*name == 'c') continue;
        ask(in_run("log-metric",
                   run,
                   fmt::format(R"("key": "acc", "value": {}, "timestamp": 1, "model_id": "{}")",
                               *name == 'a' ? 1 : 2,
                               id)));
    }
    using Names = std::vector<std::string>;
    EXPECT_EQ(found(R"(, "filter": "name = 'b'")"), Names{"b"});
    EXPECT_EQ(found(R"(, "order_by": [{"field_name": "metrics.acc", "ascending": false}])"),
              (Names{"b", "a", "c"}));
    EXPECT_EQ(found(R"(, "order_by": [{"field_name": "name"}])"), (Names{"a", "b", "c"}));
    const auto first = ask(post("logged-models/search",
                                R"({"experiment_ids": ["0"], "max_results": 2,
                                    "order_by": [{"field_name": "name"}]})"));
    EXPECT_EQ(found(fmt::format(R"(, "order_by": [{{"field_name": "name"}}], "page_token": "{}")",
                                first.text("next_page_token"))),
              Names{"c"});
    EXPECT_EQ(ask(post("logged-models/search", R"({"experiment_ids": ["99"]})")),
              Json(JsonObject()));
    const auto refused = [this](const std::string& fields) {
        return refusal(post("logged-models/search", R"({"experiment_ids": ["0"])" + fields + "}"));
    };
    EXPECT_EQ(refused(R"(, "order_by": [{"field_name": "bogus"}])"),
              "400 INVALID_PARAMETER_VALUE: Invalid order by field name: bogus");
    EXPECT_THAT(refused(R"(, "order_by": [{"field_name": "params.x"}])"),
                HasSubstr("Only metrics are supported."));
    EXPECT_THAT(refused(R"(, "datasets": [{"dataset_digest": "1"}])"),
                HasSubstr("`dataset_name` in the `datasets` clause must be specified."));
    EXPECT_THAT(refused(R"(, "page_token": "bad")"), HasSubstr("400"));
    EXPECT_THAT(refused(R"(, "max_results": -1)"), HasSubstr("400"));
    EXPECT_THAT(refused(R"(, "max_results": 50001)"), HasSubstr("400"));
    EXPECT_THAT(refused(R"(, "filter": "bogus")"), HasSubstr("400"));
    EXPECT_THAT(refusal(post("logged-models/search", "{}")), HasSubstr("'experiment_ids'"));
}

TEST_F(LoggedModelsTest, InputsAndOutputsAreInTheRun)
{
    const auto id = new_run();
    const auto model_id = new_model("a");
    ask(in_run(
        "outputs", id, fmt::format(R"("models": [{{"model_id": "{}", "step": "3"}}])", model_id)));
    ask(in_run("log-inputs",
               id,
               fmt::format(R"("models": [{{"model_id": "{}"}}], "datasets": [
                   {{"tags": [{{"key": "mlflow.data.context", "value": "train"}}],
                     "dataset": {{"name": "n", "digest": "d", "source_type": "local",
                                  "source": "s", "schema": "{{}}", "profile": "{{}}"}}}},
                   {{"dataset": {{"name": "n2", "digest": "d", "source_type": "local",
                                  "source": "s"}}}}])",
                           model_id)));
    expect_golden("run-inputs.json", net::json_response(run(id)["inputs"]));
    expect_golden("run-outputs.json", net::json_response(run(id)["outputs"]));
    const auto page = ask(post(
        "runs/search",
        R"({"experiment_ids": ["0"], "filter": "dataset.name = 'n' AND dataset.context = 'train'"})"));
    ASSERT_TRUE(page["runs"].is_array());
    EXPECT_EQ(page["runs"].as_array().at(0)["inputs"], run(id)["inputs"]);
    EXPECT_EQ(to_json(ask(post("/ajax-api/2.0/mlflow/experiments/search-datasets",
                               R"({"experiment_ids": ["0"]})"))),
              R"({"dataset_summaries":[{"experiment_id":"0","name":"n","digest":"d",)"
              R"("context":"train"},{"experiment_id":"0","name":"n2","digest":"d"}]})");
}

TEST_F(LoggedModelsTest, InputsAreAsManyAndAsLargeAsMlflowTakes)
{
    const auto id = new_run();
    std::string list;
    for (int i = 0; i <= 1000; ++i)
        list += fmt::format(R"({}{{"dataset": {{"name": "n", "digest": "{}", "source_type": "s",
                            "source": "x"}}}})",
                            i == 0 ? "" : ",",
                            i);
    ask(in_run("log-inputs", id, R"("datasets": [)" + list + "]"));
    EXPECT_EQ(run(id)["inputs"]["dataset_inputs"].as_array().size(), 1001U);
    // The longest profile, with every character escaped.
    net::Request head;
    head.method = "POST";
    head.path = {"api", "2.0", "mlflow", "runs", "log-inputs"};
    EXPECT_GT(api::receive(*services_, head).body_limit, 2 * std::size_t{16'777'215});
    head.path.back() = "log-batch";
    EXPECT_EQ(api::receive(*services_, head).body_limit, std::size_t{16} << 20);
}

TEST_F(LoggedModelsTest, AreFoundByExperimentAndPlace)
{
    new_model("a");
    const auto count = [this](const std::string& filter) {
        const auto page =
            ask(post("logged-models/search",
                     to_json(JsonObject{{"experiment_ids", JsonArray{"0"}}, {"filter", filter}})));
        return page["models"].is_array() ? page["models"].as_array().size() : 0;
    };
    EXPECT_EQ(count("experiment_id = '0'"), 1U);
    EXPECT_EQ(count("experiment_id != '0'"), 0U);
    EXPECT_EQ(count("experiment_id IN ('0', '7')"), 1U);
    EXPECT_EQ(count("artifact_location LIKE 'mlflow-artifacts:/0/models/%'"), 1U);
    EXPECT_EQ(count("artifact_location = 'x'"), 0U);
}

TEST_F(LoggedModelsTest, WrongInputsAreRefused)
{
    const auto id = new_run();
    const auto long_name = std::string(501, 'x');
    EXPECT_THAT(refusal(in_run("log-inputs", id, R"("datasets": [{}])")),
                HasSubstr("'datasets[0].dataset'"));
    EXPECT_THAT(refusal(in_run(
                    "log-inputs",
                    id,
                    fmt::format(R"("datasets": [{{"dataset": {{"name": "{}", "digest": "d"}}}}])",
                                long_name))),
                HasSubstr("'name' exceeds the maximum length of 500 characters"));
    EXPECT_THAT(refusal(in_run("log-inputs", "../x", "")),
                HasSubstr(R"(Invalid value "../x" for parameter 'run_id' supplied)"));
    EXPECT_EQ(refusal(in_run("log-inputs", "none", "")),
              "404 RESOURCE_DOES_NOT_EXIST: Run with id=none not found");
    EXPECT_THAT(refusal(in_run("outputs", id, "")), HasSubstr("'models'"));
    ask(in_run("delete", id, ""));
    EXPECT_THAT(refusal(in_run("log-inputs", id, "")), HasSubstr("must be in the 'active' state"));
    EXPECT_THAT(refusal(post("/ajax-api/2.0/mlflow/experiments/search-datasets", "{}")),
                HasSubstr("must specify at least one experiment_id"));
}

TEST_F(LoggedModelsTest, OlderClientsListTheirModelsInATag)
{
    const auto id = new_run();
    const std::string text = R"("model_json": "{\"artifact_path\":\"m\",\"flavors\":{\"a\":{}},)"
                             R"(\"utc_time_created\":\"2020\",\"run_id\":\"r\",\"extra\":1}")";
    ask(in_run("log-model", id, text));
    EXPECT_EQ(data(id, "tags", "mlflow.log-model.history").as_string(),
              R"([{"run_id":"r","artifact_path":"m","utc_time_created":"2020",)"
              R"("model_uuid":null,"flavors":{"a":{}}}])");
    EXPECT_THAT(refusal(in_run("log-model", id, R"("model_json": "{}")")),
                HasSubstr("Model json is missing mandatory fields"));
    EXPECT_THAT(refusal(in_run("log-model", id, R"("model_json": "x")")),
                HasSubstr("Malformed model info"));
}

}  // namespace
}  // namespace ponk::api::mlflow
