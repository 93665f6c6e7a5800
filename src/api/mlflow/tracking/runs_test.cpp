// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class MlflowRuns : public MlflowTest {
protected:
    // A run that the engine owns, Running.
    RunId add_own_run()
    {
        model::Run run;
        run.id = RunId::make();
        run.project = "p1";
        run.project_path = "/home/ann/mnist";
        run.script_name = "train.py";
        run.user = "ann";
        run.target = run.target_type = "local";
        run.started = 1000;
        run.state = model::RunState::running;
        run.git = JsonObject{{"commit", "abc"}};
        return history_->create_run(run).value().run.id;
    }
    net::Response
    native(const std::string& method, const std::string& path, const std::string& body = "")
    {
        return send(method, "/api/v1/" + path, {}, body);
    }
};

TEST_F(MlflowRuns, AreMadeRunning)
{
    const auto made = post("runs/create",
                           R"({"experiment_id": "0", "user_id": "ann", "run_name": "first",
                               "start_time": 1700000000000, "tags":
                               [{"key": "mlflow.source.name", "value": "/home/ann/train.py"}]})");
    expect_golden("run-created.json", made);
    const auto id = ask(made)["run"]["info"].text("run_id");
    ask(in_run("log-batch",
               id,
               R"("params": [{"key": "lr", "value": "0.1"}], "tags": [{"key": "t", "value": ""}],
                  "metrics": [{"key": "loss", "value": 0.5, "timestamp": 7, "step": 3},
                              {"key": "nan", "value": "NaN", "timestamp": 7}])"));
    ask(in_run("update", id, R"("status": "FINISHED", "end_time": 1700000001000)"));
    expect_golden("run.json", get("runs/get", {{"run_id", id}}));
    expect_golden("runs-search.json", post("runs/search", R"({"experiment_ids": ["0"]})"));
}

TEST_F(MlflowRuns, WithoutANameGetOneThatIsEasyToSay)
{
    const auto id = new_run();
    const auto name = run(id)["info"].text("run_name");
    EXPECT_THAT(name, MatchesRegex("[a-z]+-[a-z]+-[0-9]+"));
    EXPECT_EQ(data(id, "tags", "mlflow.runName"), Json(name));
}

TEST_F(MlflowRuns, ANameMayComeAsATag)
{
    const auto create = [this](const std::string& fields) {
        return post("runs/create", "{" + fields + "}");
    };
    const std::string tag = R"("tags": [{"key": "mlflow.runName", "value": "b"}])";
    EXPECT_EQ(ask(create(tag))["run"]["info"].text("run_name"), "b");
    EXPECT_EQ(ask(create(R"("run_name": "b", )" + tag))["run"]["info"].text("run_name"), "b");
    EXPECT_THAT(refusal(create(R"("run_name": "a", )" + tag)),
                StartsWith("400 INVALID_PARAMETER_VALUE: Both 'run_name' argument"));
}

TEST_F(MlflowRuns, ARenamedRunHasItsNameEverywhere)
{
    const auto id = new_run("0", "first");
    ask(in_run("set-tag", id, R"("key": "mlflow.runName", "value": "second")"));
    ask(in_run("set-tag", id, R"("key": "mlflow.runName", "value": "")"));
    EXPECT_EQ(run(id)["info"].text("run_name"), "second");
    ask(in_run("update", id, R"("run_name": "third")"));
    EXPECT_EQ(data(id, "tags", "mlflow.runName"), Json("third"));
    ask(in_run("update", id, R"("run_name": "")"));
    EXPECT_EQ(run(id)["info"].text("run_name"), "third");
    // A run always has a name.
    ask(in_run("delete-tag", id, R"("key": "mlflow.runName")"));
    EXPECT_EQ(run(id)["info"].text("run_name"), "third");
}

TEST_F(MlflowRuns, OnlyWhatIsGivenChanges)
{
    const auto id = new_run("0", "n");
    ask(in_run("update", id, R"("end_time": "5")"));
    EXPECT_EQ(run(id)["info"].text("status"), "RUNNING");
    EXPECT_EQ(run(id)["info"].integer("end_time"), 5);
    for (const auto* status : {"SCHEDULED", "FINISHED", "FAILED", "KILLED", "RUNNING"}) {
        const auto info = ask(in_run("update", id, fmt::format(R"("status": "{}")", status)));
        EXPECT_EQ(info["run_info"].text("status"), status);
    }
    ask(in_run("update", id, R"("status": 3)"));
    EXPECT_EQ(run(id)["info"].text("status"), "FINISHED");
    EXPECT_THAT(refusal(in_run("update", id, R"("status": "BOGUS")")), StartsWith("400 "));
    EXPECT_EQ(run(id)["info"].integer("end_time"), 5);
}

TEST_F(MlflowRuns, ThatAreDeletedCanBeReadAndNotWritten)
{
    const auto id = new_run();
    ask(in_run("log-parameter", id, R"("key": "p", "value": "1")"));
    ask(in_run("delete", id, ""));
    ask(in_run("delete", id, ""));
    EXPECT_EQ(run(id)["info"].text("lifecycle_stage"), "deleted");
    const std::pair<const char*, const char*> writes[] = {
        {"update", R"("status": "FINISHED")"},
        {"log-metric", R"("key": "a", "value": 1, "timestamp": 1)"},
        {"log-parameter", R"("key": "a", "value": "1")"},
        {"set-tag", R"("key": "a", "value": "1")"},
        {"delete-tag", R"("key": "a")"},
        {"log-batch", R"("tags": [{"key": "a", "value": "1"}])"}};
    for (const auto& [call, fields] : writes) {
        EXPECT_EQ(refusal(in_run(call, id, fields)),
                  fmt::format("400 INVALID_PARAMETER_VALUE: The run {} must be in the 'active' "
                              "state. Current state is deleted.",
                              id))
            << call;
    }
    EXPECT_EQ(post("runs/search", R"({"experiment_ids": ["0"]})").body, "{}\n");
    EXPECT_THAT(
        post("runs/search", R"({"experiment_ids": ["0"], "run_view_type": "DELETED_ONLY"})").body,
        HasSubstr(id));
    EXPECT_TRUE(history_->list_runs({}).value().runs.empty());
    ask(in_run("restore", id, ""));
    ask(in_run("restore", id, ""));
    EXPECT_EQ(run(id)["info"].text("lifecycle_stage"), "active");
}

TEST_F(MlflowRuns, WhatIsNotThereIsSaidInTheWordsThatClientsLookFor)
{
    const std::string unknown(32, 'a');
    EXPECT_EQ(refusal(get("runs/get", {{"run_id", unknown}})),
              "404 RESOURCE_DOES_NOT_EXIST: Run with id=" + unknown + " not found");
    EXPECT_EQ(refusal(get("runs/get", {{"run_uuid", "x'; DROP"}})),
              "404 RESOURCE_DOES_NOT_EXIST: Run with id=x'; DROP not found");
    EXPECT_EQ(refusal(get("runs/get", {})),
              "400 INVALID_PARAMETER_VALUE: Missing value for required parameter 'run_id'. See the "
              "API docs"
              " for more information about request parameters.");
    EXPECT_THAT(refusal(post("runs/create", R"({"experiment_id": "9"})")),
                StartsWith("404 RESOURCE_DOES_NOT_EXIST"));
    EXPECT_THAT(refusal(post("runs/create", R"({"experiment_id": "x"})")), StartsWith("400 "));
    for (const auto* call : {"delete", "restore", "update"})
        EXPECT_THAT(refusal(in_run(call, unknown, "")), StartsWith("404 ")) << call;
    EXPECT_THAT(refusal(in_run("delete-tag", new_run(), R"("key": "none")")),
                StartsWith("404 RESOURCE_DOES_NOT_EXIST: No tag with name: none in run with id "));
}

TEST_F(MlflowRuns, OfTheEngineAreSeenByClients)
{
    const auto id = add_own_run().text();
    expect_golden("run-own.json", get("runs/get", {{"run_id", id}}));
    EXPECT_THAT(post("runs/search",
                     R"({"experiment_ids": ["1"], "filter": "tags.mlflow.runName = 'train.py-1'"})")
                    .body,
                HasSubstr(id));
    const auto by_place = fmt::format("artifact_uri = 'mlflow-artifacts:/1/{}/artifacts'", id);
    EXPECT_THAT(post("runs/search",
                     to_json(JsonObject{{"experiment_ids", JsonArray{"1"}}, {"filter", by_place}}))
                    .body,
                HasSubstr(id));
}

TEST_F(MlflowRuns, OfTheEngineKeepTheirStateWhateverAClientSays)
{
    const auto id = add_own_run();
    ask(in_run("update", id.text(), R"("status": "FINISHED", "end_time": 5, "run_name": "mine")"));
    const auto run = history_->get_run(id).value();
    EXPECT_EQ(run.state, model::RunState::running);
    EXPECT_EQ(run.ended, 0);
    EXPECT_EQ(run.name, "mine");
    ASSERT_TRUE(history_->update_state(id, model::RunState::running, model::RunState::lost));
    EXPECT_EQ(this->run(id.text())["info"].text("status"), "FAILED");
    EXPECT_EQ(data(id.text(), "tags", "ponk.state"), Json("Lost"));
}

TEST_F(MlflowRuns, OfClientsAreNoneOfTheEngines)
{
    const auto id = new_run();
    const auto project = history_->projects().value().at(0).project.id;
    EXPECT_TRUE(history_->active_runs().value().empty());
    EXPECT_THAT(native("GET", "runs").body, HasSubstr(id));
    EXPECT_EQ(parse_json(native("GET", "runs/" + id).body)->text("status"), "Running");
    EXPECT_EQ(history_->list_runs({.project = project}).value().runs.size(), 1U);
    EXPECT_EQ(native("POST", "runs/" + id + "/cancel", "{}").status, 409);
    EXPECT_EQ(native("POST", "runs/" + id + "/rerun", "{}").status / 100, 4);
    EXPECT_EQ(native("DELETE", "runs/" + id).status, 200);
    EXPECT_THAT(refusal(get("runs/get", {{"run_id", id}})), StartsWith("404 "));
}

TEST_F(MlflowRuns, NativeCallsAboutARunOfAClientNeverFailHard)
{
    const auto id = new_run();
    const std::pair<const char*, const char*> calls[] = {{"PATCH", ""},
                                                         {"GET", "/log"},
                                                         {"GET", "/log/check"},
                                                         {"GET", "/artifacts"},
                                                         {"GET", "/snapshot"},
                                                         {"GET", "/metrics"},
                                                         {"POST", "/restore"},
                                                         {"POST", "/return"},
                                                         {"POST", "/clean"},
                                                         {"POST", "/promote"},
                                                         {"POST", "/diagnostics"},
                                                         {"GET", "/lock"}};
    for (const auto& [method, path] : calls) {
        const auto answer = native(method, "runs/" + id + path, "{}");
        EXPECT_LT(answer.status, 500) << method << path << answer.body;
    }
    ASSERT_TRUE(
        history_->delete_project(history_->projects().value().at(0).project.id).error().kind() ==
        ErrorKind::conflict);
}

}  // namespace
}  // namespace ponk::api::mlflow
