// SPDX-License-Identifier: Apache-2.0
// Models and traces that a script logs, without the daemon.
#include "relay/artifacts.hpp"
#include "relay/relay_test_support.hpp"

#include <filesystem>

namespace ponk::relay {
namespace {

TEST_F(RelayTest, AModelIsLoggedWithoutTheDaemon)
{
    const auto made = parse_json(
        post("logged-models", {{"experiment_id", "7"}, {"name", "net"}, {"source_run_id", own_run}})
            .body);
    const auto id = (*made)["model"]["info"].text("model_id");
    ASSERT_TRUE(id.starts_with("m-"));
    post("runs/outputs",
         {{"run_id", own_run}, {"models", JsonArray{JsonObject{{"model_id", id}, {"step", 0}}}}});
    ask("PATCH",
        "api/2.0/mlflow/logged-models/" + id,
        JsonObject{{"status", "LOGGED_MODEL_READY"}});

    start_again();

    const auto model = get("logged-models/" + id, {})["model"];
    EXPECT_EQ(model["info"].text("status"), "LOGGED_MODEL_READY");
    EXPECT_EQ(own()["outputs"]["model_outputs"].as_array()[0].text("model_id"), id);
    const auto found =
        parse_json(post("logged-models/search",
                        {{"experiment_ids", JsonArray{"7"}},
                         {"filter", fmt::format("name = 'net' AND source_run_id = '{}'", own_run)}})
                       .body);
    EXPECT_EQ((*found)["models"].as_array().size(), 1U);
}

// As clients do for "runs:/RUN/net", whoever's run that is.
TEST_F(RelayTest, ASearchByNameAloneIsTheDaemonsUnlessThatIsAway)
{
    post("logged-models", {{"experiment_id", "7"}, {"name", "net"}, {"source_run_id", own_run}});
    net::Request request;
    request.method = "POST";
    request.path = {"api", "2.0", "mlflow", "logged-models", "search"};
    request.headers = {{"Content-Type", "application/json"}};
    const auto alone = [&](const std::string& filter) {
        request.body = to_json(JsonObject{{"experiment_ids", JsonArray{"7"}}, {"filter", filter}});
        EXPECT_FALSE(answer(*recorder_, request)) << filter;
        return answer_alone(*recorder_, request);
    };
    const auto known = alone("name = 'net'");
    ASSERT_TRUE(known);
    EXPECT_EQ(parse_json(known->body).value()["models"].as_array().size(), 1U);
    EXPECT_EQ(alone("name = 'other'")->body, "{}\n");
    EXPECT_FALSE(alone("metrics.acc > 0"));
    EXPECT_FALSE(alone("name = 'net' AND source_run_id = 'another'"));
}

TEST_F(RelayTest, AModelHasItsMetricsAndIsFoundByNameAndRun)
{
    const auto made = parse_json(
        post("logged-models", {{"experiment_id", "7"}, {"name", "net"}, {"source_run_id", own_run}})
            .body);
    const auto id = (*made)["model"]["info"].text("model_id");
    const auto log = [&](double value, std::int64_t step) {
        return post("runs/log-metric",
                    {{"run_id", own_run},
                     {"key", "acc"},
                     {"value", value},
                     {"timestamp", 5000},
                     {"step", step},
                     {"model_id", id},
                     {"dataset_name", "iris"},
                     {"dataset_digest", "1a"}})
            .status;
    };
    ASSERT_EQ(log(0.5, 2), 200);
    ASSERT_EQ(log(0.1, 1), 200);
    start_again();

    const auto metrics = get("logged-models/" + id, {})["model"]["data"]["metrics"].as_array();
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_EQ(metrics[0]["value"], Json(0.5));
    EXPECT_EQ(metrics[0].text("dataset_name"), "iris");
    const auto found = [this](const std::string& filter) {
        return post("logged-models/search",
                    {{"experiment_ids", JsonArray{"7"}}, {"filter", filter}});
    };
    const auto both = found(fmt::format("name = 'net' AND source_run_id='{}'", own_run));
    EXPECT_NE(both.body.find(id), std::string::npos) << both.body;
    EXPECT_EQ(found(fmt::format("name = 'x' AND source_run_id='{}'", own_run)).body, "{}\n");
    EXPECT_EQ(found("name = 'net' AND source_run_id = 'another'").status, 0) << "the daemon's";
    EXPECT_EQ(found("metrics.acc > 0").status, 0);
    ASSERT_EQ(ask("DELETE", "api/2.0/mlflow/logged-models/" + id, JsonObject()).status, 200);
    EXPECT_EQ(ask("GET", "api/2.0/mlflow/logged-models/" + id, JsonObject()).status, 0);
}

TEST_F(RelayTest, AModelIsRefusedForWhatTheDaemonWouldRefuse)
{
    const auto make = [this](JsonObject fields) {
        fields.set("experiment_id", "7");
        return post("logged-models", std::move(fields));
    };
    for (const auto* name : {"a/b", "..", "a:b", "q\"q"})
        EXPECT_EQ(make({{"name", name}}).status, 400) << name;
    const JsonObject twin{{"key", "k"}, {"value", "v"}};
    EXPECT_EQ(make({{"name", "net"}, {"params", JsonArray{twin, twin}}}).status, 400);
    const auto made = parse_json(make({{"name", ""}, {"params", JsonArray{twin}}}).body).value();
    const auto id = made["model"]["info"].text("model_id");
    EXPECT_NE(made["model"]["info"].text("name"), "");
    const auto log = [&](const char* value) {
        return post("logged-models/" + id + "/params",
                    {{"params", JsonArray{JsonObject{{"key", "k"}, {"value", value}}}}});
    };
    EXPECT_EQ(log("v").status, 200);
    EXPECT_NE(log("other").body.find("Changing param values is not allowed"), std::string::npos);
    EXPECT_EQ(ask("PATCH",
                  "api/2.0/mlflow/logged-models/" + id,
                  JsonObject{{"model_id", "m-other"}, {"status", "LOGGED_MODEL_READY"}})
                  .status,
              400);
    EXPECT_EQ(post("runs/outputs", {{"run_id", own_run}}).status, 400);
}

TEST_F(RelayTest, DataThatIsLoggedInEveryEpochIsWrittenOnce)
{
    const auto journal_size = [this] {
        std::uintmax_t size = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "journal"))
            size += entry.file_size();
        return size;
    };
    const auto log = [this] {
        const JsonObject dataset{
            {"name", "iris"}, {"digest", "d"}, {"source_type", "local"}, {"source", "x"}};
        const auto inputs = post("runs/log-inputs",
                                 {{"run_id", own_run},
                                  {"datasets", JsonArray{JsonObject{{"dataset", dataset}}}},
                                  {"models", JsonArray{JsonObject{{"model_id", "m-1"}}}}});
        const auto outputs =
            post("runs/outputs",
                 {{"run_id", own_run}, {"models", JsonArray{JsonObject{{"model_id", "m-2"}}}}});
        return inputs.status == 200 && outputs.status == 200;
    };
    ASSERT_TRUE(log());
    const auto size = journal_size();
    ASSERT_TRUE(log());
    EXPECT_EQ(journal_size(), size);
    EXPECT_EQ(own()["inputs"]["dataset_inputs"].as_array().size(), 1U);
    EXPECT_EQ(own()["inputs"]["model_inputs"].as_array().size(), 1U);
}

TEST_F(RelayTest, ModelsOfOlderClientsAreListedInATag)
{
    const auto log = [this](const std::string& text) {
        return post("runs/log-model", {{"run_id", own_run}, {"model_json", text}}).status;
    };
    const auto model = [](const std::string& path) {
        return to_json(JsonObject{{"run_id", own_run},
                                  {"artifact_path", path},
                                  {"utc_time_created", "now"},
                                  {"flavors", JsonObject()},
                                  {"more", "is left out"}});
    };
    EXPECT_EQ(log(model("a")), 200);
    EXPECT_EQ(log(model("b")), 200);
    EXPECT_EQ(log("{}"), 400);
    start_again();

    const auto listed =
        parse_json(value_in(own()["data"]["tags"], "mlflow.log-model.history").as_string());
    ASSERT_EQ(listed->as_array().size(), 2U);
    EXPECT_EQ(listed->as_array()[1].text("artifact_path"), "b");
    EXPECT_TRUE(listed->as_array()[1]["more"].is_null());
}

TEST_F(RelayTest, TheGoldenJournalIsFolded)
{
    const auto golden = os::read_file(os::Path(PONK_GOLDEN) / "relay.journal").value();
    ASSERT_TRUE(os::replace_file(folder_ / "journal/relay-00000001-00000000.journal", golden));
    start_again();

    const auto run = own();
    EXPECT_EQ(value_in(run["data"]["metrics"], "acc"), Json(0.9));
    EXPECT_EQ(run["inputs"]["dataset_inputs"].as_array().at(0)["dataset"].text("name"), "iris");
    const std::string id = "m-00112233445566778899aabbccddeeff";
    const auto model = get("logged-models/" + id, {})["model"];
    EXPECT_EQ(model["info"].text("status"), "LOGGED_MODEL_READY");
    EXPECT_EQ(model["data"]["metrics"].as_array().at(0)["value"], Json(0.9));
    EXPECT_EQ(value_in(model["info"]["tags"], "gone"), Json());
    const auto inner = get("runs/get", {{"run_id", "0192aaaaaaab7bbb8cccddddddddeeee"}})["run"];
    EXPECT_EQ(inner["info"].text("status"), "FINISHED");
    EXPECT_TRUE(recorder_->look([](const TrackedState& state) { return state.has_trace("tr-1"); }));
    EXPECT_EQ(find_other_name(*recorder_, other_experiment_id("base")), "base");
}

TEST_F(RelayTest, ATraceIsLoggedWithoutTheDaemon)
{
    const auto start = [this](const std::string& id, const std::string& experiment) {
        const JsonObject info{
            {"trace_id", id},
            {"trace_location",
             JsonObject{{"mlflow_experiment", JsonObject{{"experiment_id", experiment}}}}},
            {"request_time", "2026-03-01T12:30:05.123Z"},
            {"execution_duration", "0.091s"},
            {"state", "OK"},
            {"tags", JsonObject{{"a", "b"}}}};
        return ask("POST",
                   "api/3.0/mlflow/traces",
                   JsonObject{{"trace", JsonObject{{"trace_info", info}}}});
    };
    const auto told = parse_json(start("tr-1", "7").body);
    EXPECT_EQ((*told)["trace"]["trace_info"]["tags"].text("mlflow.artifactLocation"),
              "mlflow-artifacts:/7/traces/tr-1/artifacts");
    EXPECT_EQ(start("../x", "7").status, 400);
    EXPECT_EQ(start("tr-2", "8").status, 0) << "another experiment is the daemon's matter";
    EXPECT_EQ(
        ask("PATCH", "api/3.0/mlflow/traces/tr-1/tags", JsonObject{{"key", "c"}, {"value", "d"}})
            .status,
        200);
    start_again();

    const std::vector<std::string> path{"7", "traces", "tr-1", "artifacts", "traces.json"};
    const auto place = recorder_->look(
        [&](const TrackedState& state) { return place_of(state, tracking_, path); });
    ASSERT_TRUE(place);
    EXPECT_EQ(place->segments, (std::vector<std::string>{"traces", "tr-1", "traces.json"}));
}

}  // namespace
}  // namespace ponk::relay
