// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using MlflowExperiments = MlflowTest;

TEST_F(MlflowExperiments, DefaultIsThereFromTheStart)
{
    expect_golden("experiment-default.json", get("experiments/get", {{"experiment_id", "0"}}));
}

TEST_F(MlflowExperiments, AreMadeOnceAndFoundByIdAndName)
{
    const auto made = post("experiments/create",
                           R"({"name": "vision", "tags": [{"key": "team", "value": "b"}]})");
    EXPECT_EQ(made.body, "{\"experiment_id\":\"1\"}\n");
    expect_golden("experiment.json", get("experiments/get", {{"experiment_id", "1"}}));
    EXPECT_EQ(
        ask(get("experiments/get-by-name", {{"experiment_name", "vision"}}))["experiment"].text(
            "experiment_id"),
        "1");
    EXPECT_EQ(refusal(post("experiments/create", R"({"name": "vision"})")),
              "400 RESOURCE_ALREADY_EXISTS: Experiment(name=vision) already exists.");
    EXPECT_EQ(new_experiment("other"), "2");
}

TEST_F(MlflowExperiments, WhatIsNotThereIsSaidInTheWordsThatClientsLookFor)
{
    EXPECT_EQ(refusal(get("experiments/get", {{"experiment_id", "77"}})),
              "404 RESOURCE_DOES_NOT_EXIST: No Experiment with id=77 exists");
    EXPECT_THAT(refusal(get("experiments/get", {{"experiment_id", "99999999999999999999"}})),
                StartsWith("404 RESOURCE_DOES_NOT_EXIST: No Experiment with id="));
    EXPECT_THAT(refusal(get("experiments/get", {{"experiment_id", "x1"}})),
                StartsWith("400 INVALID_PARAMETER_VALUE: Invalid experiment ID 'x1'. Experiment ID"
                           " must be a valid integer."));
    EXPECT_EQ(refusal(get("experiments/get-by-name", {{"experiment_name", "none"}})),
              "404 RESOURCE_DOES_NOT_EXIST: Could not find experiment with name 'none'");
    EXPECT_EQ(
        refusal(post("experiments/create", "{}")),
        "400 INVALID_PARAMETER_VALUE: Missing value for required parameter 'name'. See the API"
        " docs for more information about request parameters.");
}

TEST_F(MlflowExperiments, NamesAndPlacesHaveLimits)
{
    const auto create = [this](const Json& body) {
        return refusal(post("experiments/create", to_json(body)));
    };
    EXPECT_EQ(create(JsonObject{{"name", std::string(501, 'x')}}),
              "400 INVALID_PARAMETER_VALUE: 'name' exceeds the maximum length of 500 characters");
    // Characters, not bytes.
    std::string wide;
    for (int i = 0; i < 500; ++i)
        wide += "ž";
    EXPECT_EQ(ask(post("experiments/create", to_json(JsonObject{{"name", wide}}))).text("x"), "");
    for (const auto* place : {"runs:/abc", "s3://b/x#y", "s3://b/x;y", "s3://b/?a=../.."}) {
        EXPECT_THAT(create(JsonObject{{"name", "n"}, {"artifact_location", place}}),
                    StartsWith("400 INVALID_PARAMETER_VALUE: Invalid value"))
            << place;
    }
    EXPECT_THAT(create(JsonObject{{"name", "n"}, {"artifact_location", std::string(2049, 'a')}}),
                HasSubstr("exceeds the maximum length of 2048"));
    // Never opened by us, so it may be anything.
    const auto own =
        ask(post("experiments/create", R"({"name": "own", "artifact_location": "file:///etc"})"))
            .text("experiment_id");
    EXPECT_EQ(ask(get("experiments/get", {{"experiment_id", own}}))["experiment"].text(
                  "artifact_location"),
              "file:///etc");
}

TEST_F(MlflowExperiments, APlaceInThisStoreMayBeChosen)
{
    const auto create = [this](const std::string& location) {
        return post("experiments/create",
                    to_json(JsonObject{{"name", location}, {"artifact_location", location}}));
    };
    for (const auto* location :
         {"mlflow-artifacts:/", "mlflow-artifacts:/team/vision", "mlflow-artifacts:/team/x/"}) {
        const auto id = ask(create(location)).text("experiment_id");
        const auto made = new_run(id);
        const auto address = run(made)["info"].text("artifact_uri").substr(18);
        const auto proxy = "/api/2.0/mlflow-artifacts/artifacts/" + address;
        EXPECT_EQ(send("PUT", proxy + "/a.txt", {}, "bytes").status, 200) << location;
        const auto listed = ask(get("artifacts/list", {{"run_id", made}}));
        EXPECT_EQ(listed.text("root_uri"), "mlflow-artifacts:/" + address);
        EXPECT_EQ(listed["files"].as_array().at(0).text("path"), "a.txt");
        // The run's folder is where those of all runs are, and goes with the run.
        EXPECT_TRUE(std::filesystem::exists(home_ / "artifacts" / id / made / "artifacts/a.txt"));
        EXPECT_EQ(send("DELETE", proxy + "/a.txt", {}, "").status, 200);
    }
    for (const auto* location : {"mlflow-artifacts:x",
                                 "mlflow-artifacts:/1",
                                 "mlflow-artifacts:/1/abc/artifacts",
                                 "mlflow-artifacts:/a/../b",
                                 "mlflow-artifacts:/a//b",
                                 "mlflow-artifacts:/a?b"})
        EXPECT_THAT(refusal(create(location)), StartsWith("400 INVALID_PARAMETER_VALUE"))
            << location;
}

TEST_F(MlflowExperiments, TheQueryOfALocationStaysAtItsEnd)
{
    struct Row {
        const char* location;
        const char* uri;  // of a run
    };
    const Row rows[] = {{"s3://b/p?endpoint=x", "s3://b/p/RUN/artifacts?endpoint=x"},
                        {"s3://b/p/?e=http://h/y", "s3://b/p/RUN/artifacts?e=http://h/y"},
                        {"s3://b?x=1", "s3://b/RUN/artifacts?x=1"},
                        {"s3://b/p/", "s3://b/p/RUN/artifacts"},
                        {"/data/what?", "/data/what?/RUN/artifacts"},
                        {"a?b:c", "a?b:c/RUN/artifacts"}};
    for (const auto& row : rows) {
        const auto body = JsonObject{{"name", row.location}, {"artifact_location", row.location}};
        const auto id = ask(post("experiments/create", to_json(body))).text("experiment_id");
        const auto made = new_run(id);
        const auto uri = run(made)["info"].text("artifact_uri");
        EXPECT_EQ(without_chance(uri), row.uri);
        // Searches see what clients are told.
        const auto found =
            ask(post("runs/search",
                     to_json(JsonObject{{"experiment_ids", JsonArray{id}},
                                        {"filter", "artifact_uri = '" + uri + "'"}})));
        EXPECT_TRUE(found["runs"].is_array()) << uri;
        const auto model = ask(post("logged-models", to_json(JsonObject{{"experiment_id", id}})));
        const auto place = model["model"]["info"].text("artifact_uri");
        EXPECT_EQ(std::regex_replace(place, std::regex("models/m-[0-9a-f]{32}"), "RUN"), row.uri);
    }
}

TEST_F(MlflowExperiments, TagsAreSetAndDeleted)
{
    const auto id = new_experiment("tagged");
    const auto tag = [&](const std::string& rest) {
        return post("experiments/set-experiment-tag",
                    fmt::format(R"({{"experiment_id": "{}", {}}})", id, rest));
    };
    ask(tag(R"("key": "a", "value": "1")"));
    ask(tag(R"("key": "a", "value": "2")"));
    EXPECT_EQ(to_json(ask(get("experiments/get", {{"experiment_id", id}}))["experiment"]["tags"]),
              R"([{"key":"a","value":"2"}])");
    EXPECT_THAT(refusal(tag(fmt::format(R"("key": "a", "value": "{}")", std::string(20'001, 'v')))),
                HasSubstr("'value' exceeds the maximum length of 20000 characters"));
    const auto body = fmt::format(R"({{"experiment_id": "{}", "key": "a"}})", id);
    ask(post("experiments/delete-experiment-tag", body));
    EXPECT_EQ(refusal(post("experiments/delete-experiment-tag", body)),
              "404 RESOURCE_DOES_NOT_EXIST: No tag with name: a in experiment with id 1");
}

TEST_F(MlflowExperiments, AreDeletedAndRestoredWithAllTheirRuns)
{
    const auto id = new_experiment("old");
    const auto first = new_run(id);
    const auto second = new_run(id);
    ask(in_run("delete", first, ""));
    const auto body = fmt::format(R"({{"experiment_id": "{}"}})", id);

    ask(post("experiments/delete", body));

    EXPECT_EQ(run(second)["info"].text("lifecycle_stage"), "deleted");
    EXPECT_THAT(refusal(post("experiments/delete", body)), StartsWith("404 "));
    EXPECT_THAT(refusal(post("runs/create", body)),
                HasSubstr("The experiment 1 must be in the 'active' state"));
    EXPECT_THAT(
        refusal(post("experiments/create", R"({"name": "old"})")),
        StartsWith("400 RESOURCE_ALREADY_EXISTS: Experiment(name=old) already exists in the "
                   "deleted state"));
    EXPECT_THAT(refusal(post("experiments/set-experiment-tag",
                             R"({"experiment_id": "1", "key": "a", "value": "b"})")),
                StartsWith("400 INVALID_PARAMETER_VALUE"));
    // A code of 5xx would make clients try again for minutes.
    EXPECT_THAT(refusal(post("experiments/update", R"({"experiment_id": "1", "new_name": "n"})")),
                StartsWith("400 INVALID_STATE"));
    EXPECT_EQ(ask(get("experiments/get-by-name", {{"experiment_name", "old"}}))["experiment"].text(
                  "lifecycle_stage"),
              "deleted");

    ask(in_run("restore", second, ""));
    EXPECT_EQ(run(second)["info"].text("lifecycle_stage"), "active");

    ask(post("experiments/restore", body));

    EXPECT_EQ(run(first)["info"].text("lifecycle_stage"), "active");
    EXPECT_THAT(refusal(post("experiments/restore", body)), StartsWith("404 "));
}

TEST_F(MlflowExperiments, AreRenamed)
{
    new_experiment("a");
    new_experiment("b");
    ask(post("experiments/update", R"({"experiment_id": "1", "new_name": "c"})"));
    EXPECT_EQ(ask(get("experiments/get", {{"experiment_id", "1"}}))["experiment"].text("name"),
              "c");
    EXPECT_THAT(refusal(post("experiments/update", R"({"experiment_id": "1", "new_name": "b"})")),
                StartsWith("400 RESOURCE_ALREADY_EXISTS"));
}

TEST_F(MlflowExperiments, AreSearchedPageByPage)
{
    for (const auto* name : {"a1", "a2", "b1", "b2"})
        new_experiment(name);
    ask(post("experiments/set-experiment-tag",
             R"({"experiment_id": "3", "key": "k", "value": "v"})"));
    ask(post("experiments/delete", R"({"experiment_id": "4"})"));
    const auto found = [this](const std::string& fields) {
        std::string names;
        std::string page;
        do {
            const auto answer = ask(
                post("experiments/search",
                     fmt::format(R"({{"max_results": 2, "page_token": "{}", {}}})", page, fields)));
            const auto& list = answer["experiments"];
            for (std::size_t i = 0; list.is_array() && i < list.as_array().size(); ++i)
                names += list.as_array()[i].text("name") + " ";
            page = answer.text("next_page_token");
        } while (!page.empty());
        return names;
    };
    EXPECT_EQ(found(R"("order_by": ["name"])"), "Default a1 a2 b1 ");
    EXPECT_EQ(found(R"("order_by": ["name DESC"], "view_type": "ALL")"), "b2 b1 a2 a1 Default ");
    EXPECT_EQ(found(R"("view_type": 2)"), "b2 ");
    EXPECT_EQ(found(R"("order_by": ["experiment_id"], "filter": "name LIKE 'a%'")"), "a1 a2 ");
    EXPECT_EQ(found(R"("filter": "tags.k = 'v'")"), "b1 ");
    EXPECT_EQ(found(R"("filter": "tags.k IS NULL AND name ILIKE 'B%'")"), "");
    EXPECT_EQ(found(R"("filter": "creation_time > 0 AND last_update_time < 1")"), "");
    EXPECT_EQ(found(R"("filter": "experiment_id = '2'")"), "a2 ");
    EXPECT_EQ(found(R"x("order_by": ["name"], "filter": "experiment_id NOT IN ('2', '0')")x"),
              "a1 b1 ");
    for (const auto* bad : {R"({})",
                            R"({"max_results": 50001})",
                            R"({"max_results": 5, "filter": "metrics.a > 1"})",
                            R"({"max_results": 5, "page_token": "abc"})",
                            R"({"max_results": 5, "order_by": ["name", "name"]})",
                            R"({"max_results": 5, "view_type": "SOME"})"})
        EXPECT_THAT(refusal(post("experiments/search", bad)),
                    StartsWith("400 INVALID_PARAMETER_VALUE"))
            << bad;
    EXPECT_EQ(
        ask(get("experiments/search", {{"max_results", "10"}}))["experiments"].as_array().size(),
        4U);
    EXPECT_EQ(ask(get("experiments/list", {}))["experiments"].as_array().size(), 4U);
}

TEST_F(MlflowExperiments, AreTheProjectsOfFoldersToo)
{
    ASSERT_TRUE(history_->put_project({"p1", "mnist", "/home/ann/mnist"}));
    ASSERT_TRUE(history_->put_project({"p2", "mnist", "/home/bob/mnist"}));
    ASSERT_TRUE(history_->put_project({"p3", "Default", "/home/bob/Default"}));

    const auto named = [this](const std::string& name) {
        return ask(get("experiments/get-by-name", {{"experiment_name", name}}))["experiment"].text(
            "experiment_id");
    };
    EXPECT_EQ(named("mnist"), "1");
    EXPECT_EQ(named("mnist (2)"), "2");
    EXPECT_EQ(named("Default (3)"), "3");
    EXPECT_EQ(named("Default"), "0");
}

// An id that came again would put what a client logs into a stranger's experiment.
TEST_F(MlflowExperiments, IdsOfDeletedProjectsNeverComeAgain)
{
    ASSERT_TRUE(history_->put_project({"p1", "a", "/a"}));
    ASSERT_TRUE(history_->delete_project("p1"));
    EXPECT_EQ(new_experiment("b"), "2");
    EXPECT_EQ(history_->delete_project("experiment:default").error().kind(), ErrorKind::conflict);
}

TEST_F(MlflowExperiments, AreInTheListOfProjectsOnceTheyHaveRuns)
{
    new_experiment("empty");
    EXPECT_TRUE(history_->projects().value().empty());
    const auto id = new_run(new_experiment("full"));
    const auto projects = history_->projects().value();
    ASSERT_EQ(projects.size(), 1U);
    EXPECT_EQ(projects[0].project.name, "full");
    EXPECT_EQ(projects[0].last_run.text(), id);
}

}  // namespace
}  // namespace ponk::api::mlflow
