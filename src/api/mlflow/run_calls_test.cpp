// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/run_calls.hpp"
#include "api/mlflow/tracking_test_support.hpp"
#include "store/models/models.hpp"
#include "store/tracking/tracking.hpp"

#include <set>

namespace ponk::api {
namespace {

// A run that has made a model, and somebody else's things.
class RunCalls : public mlflow::MlflowTest {
protected:
    RunCalls()
    {
        run_ = RunId::parse(new_run()).value();
        other_ = new_run();
        store::Tracking tracking(*history_);
        child_ = RunId::make().text();
        EXPECT_TRUE(tracking.create_run(
            {.name = "child", .parent = run_.text(), .id = RunId::parse(child_).value()}));
        model_ = make_model(run_.text(), {{"ponk.made_by", run_.text()}});
        theirs_ = make_model(other_, {});
    }

    std::string make_model(const std::string& run, store::Pairs tags)
    {
        return store::Models(*history_)
            .create({.name = "net", .source_run = run, .tags = std::move(tags)})
            .value()
            .id;
    }

    struct Answer {
        int status;
        std::string body;
    };
    Answer call(const std::string& method, const std::string& target, const Json& body = {})
    {
        JsonObject ask{{"ask", "0123456789abcdef"}, {"method", method}, {"target", target}};
        if (body.is_object()) {
            ask.set("body", to_json(body));
            ask.set("type", "application/json");
        }
        const auto text = answer_run(*services_, run_, ask);
        const auto end = text.find('\n');
        const auto head = parse_json(text.substr(0, end)).value_or(Json());
        return {static_cast<int>(head.integer("status")), text.substr(end + 1)};
    }
    Answer registry(const std::string& what, JsonObject body)
    {
        return call("POST", "/api/2.0/mlflow/" + what, std::move(body));
    }

    RunId run_;
    std::string other_;
    std::string child_;
    std::string model_;
    std::string theirs_;
};

TEST_F(RunCalls, ARunLooksAtEverythingAndChangesNothingOfOthers)
{
    // What a run may change, when it is its own.
    const std::set<std::string> for_own{"POST /api/2.0/mlflow/experiments/set-experiment-tag",
                                        "POST /api/2.0/mlflow/registered-models/create",
                                        "POST /api/2.0/mlflow/registered-models/set-tag",
                                        "DELETE /api/2.0/mlflow/registered-models/delete-tag",
                                        "PATCH /api/2.0/mlflow/registered-models/update",
                                        "POST /api/2.0/mlflow/model-versions/create",
                                        "POST /api/2.0/mlflow/model-versions/set-tag",
                                        "DELETE /api/2.0/mlflow/model-versions/delete-tag",
                                        "PATCH /api/2.0/mlflow/model-versions/update",
                                        "DELETE /api/2.0/mlflow/model-versions/delete",
                                        "POST /api/2.0/mlflow/runs/delete",
                                        "POST /api/2.0/mlflow/runs/restore",
                                        "POST /api/2.0/mlflow/traces/link-to-run",
                                        "PATCH /api/3.0/mlflow/traces/{id}/tags",
                                        "DELETE /api/3.0/mlflow/traces/{id}/tags"};
    std::size_t seen = 0;
    for (const auto& route : mlflow::routes()) {
        const auto name = fmt::format("{} {}", route.method, route.pattern);
        std::string target = route.pattern;
        for (auto at = target.find('{'); at != std::string::npos; at = target.find('{'))
            target.replace(at, target.find('}') - at + 1, "x");
        const JsonObject body{{"run_id", other_}, {"experiment_id", "0"}};
        const auto status = call(route.method, target, body).status;
        if (for_own.contains(name)) {
            ++seen;
        } else if (route.permission == Permission::read) {
            EXPECT_NE(status, 403) << name;
        } else {
            EXPECT_EQ(status, 403) << name;
        }
    }
    EXPECT_EQ(seen, for_own.size()) << "a right for a call that is not there";
    for (const auto* target : {"/api/v1/tokens", "/api/v1/runs", "/api/v1/secrets", "/health", "/"})
        EXPECT_EQ(call("GET", target).status, 403) << target;
    EXPECT_EQ(call("DELETE", "/api/v1/runs/" + other_).status, 403);
    EXPECT_EQ(call("GET", "/api/2.0/mlflow/../v1/tokens").status, 400);
    EXPECT_EQ(call("POST", "/api/2.0/mlflow/experiments/create-x", JsonObject()).status, 404);
}

TEST_F(RunCalls, WhatIsNotThereIsNotForbidden)
{
    const JsonObject metric{
        {"run_id", std::string(32, 'f')}, {"key", "m"}, {"value", 1}, {"timestamp", 1}};
    EXPECT_EQ(registry("runs/log-metric", metric).status, 404);
    for (const auto* what : {"runs/create", "logged-models"}) {
        EXPECT_EQ(registry(what, {{"experiment_id", "0"}}).status, 403) << what;
        const auto absent = registry(what, {{"experiment_id", "77"}});
        EXPECT_EQ(absent.status, 404) << what;
        EXPECT_THAT(absent.body, testing::HasSubstr("RESOURCE_DOES_NOT_EXIST"));
        EXPECT_EQ(registry(what, {{"experiment_id", "x"}}).status, 400) << what;
    }
}

TEST_F(RunCalls, ARunRegistersWhatItMade)
{
    ASSERT_EQ(registry("registered-models/create", {{"name", "R"}}).status, 200);
    const auto version = [this](JsonObject body) {
        body.set("name", "R");
        return registry("model-versions/create", std::move(body)).status;
    };
    EXPECT_EQ(version({{"source", "models:/" + model_}, {"model_id", model_}}), 200);
    EXPECT_EQ(version({{"source", "runs:/" + child_ + "/model"}, {"run_id", child_}}), 200);
    EXPECT_EQ(version({{"source", "models:/" + theirs_}, {"model_id", theirs_}}), 403);
    EXPECT_EQ(version({{"source", "runs:/" + other_ + "/model"}, {"run_id", other_}}), 403);
    EXPECT_EQ(version({{"source", "s3://bucket/x"}}), 403) << "of nobody's run";
    EXPECT_EQ(
        version({{"source", "models:/" + theirs_}, {"model_id", theirs_}, {"run_id", child_}}),
        403);
    EXPECT_EQ(registry("model-versions/set-tag",
                       {{"name", "R"}, {"version", "2"}, {"key", "a"}, {"value", "b"}})
                  .status,
              200);
    EXPECT_EQ(registry("model-versions/set-tag",
                       {{"name", "R"}, {"version", "9"}, {"key", "a"}, {"value", "b"}})
                  .status,
              404);
    EXPECT_EQ(call("DELETE", "/api/2.0/mlflow/registered-models/delete", JsonObject{{"name", "R"}})
                  .status,
              403);
}

TEST_F(RunCalls, ARunDescribesNamesThatItMadeOrHasAVersionOf)
{
    ask(post("registered-models/create", R"({"name":"theirs"})"));
    ask(post("registered-models/create", R"({"name":"shared"})"));
    const auto change = [this](const char* name) {
        const auto tag = registry("registered-models/set-tag",
                                  {{"name", name}, {"key", "task"}, {"value", "vision"}});
        const auto text = call("PATCH",
                               "/api/2.0/mlflow/registered-models/update",
                               JsonObject{{"name", name}, {"description", "of a run"}});
        const auto untag = call("DELETE",
                                "/api/2.0/mlflow/registered-models/delete-tag",
                                JsonObject{{"name", name}, {"key", "task"}});
        EXPECT_EQ(tag.status, text.status);
        EXPECT_EQ(tag.status, untag.status);
        return tag.status;
    };
    ASSERT_EQ(registry("registered-models/create", {{"name", "mine"}}).status, 200);
    EXPECT_EQ(change("mine"), 200);
    EXPECT_EQ(change("theirs"), 403);
    EXPECT_EQ(change("shared"), 403);
    EXPECT_EQ(change("absent"), 404);
    ASSERT_EQ(registry("model-versions/create",
                       {{"name", "shared"}, {"source", "models:/" + model_}, {"model_id", model_}})
                  .status,
              200);
    EXPECT_EQ(change("shared"), 200);
    EXPECT_EQ(registry("registered-models/rename", {{"name", "mine"}, {"new_name", "x"}}).status,
              403);
}

// Of what it may describe, it does not say whose it is.
TEST_F(RunCalls, ARunMakesNothingItsOwnByATag)
{
    ask(post("registered-models/create", R"({"name":"shared"})"));
    const JsonObject version{
        {"name", "shared"},
        {"source", "models:/" + model_},
        {"model_id", model_},
        {"tags", JsonArray{JsonObject{{"key", "ponk.made_by"}, {"value", other_}}}}};
    ASSERT_EQ(registry("model-versions/create", version).status, 200);
    const JsonObject mark{
        {"name", "shared"}, {"version", "1"}, {"key", "ponk.made_by"}, {"value", run_.text()}};
    for (const auto* what : {"registered-models/set-tag", "model-versions/set-tag"})
        EXPECT_EQ(registry(what, mark).status, 403) << what;
    for (const auto* what : {"registered-models/delete-tag", "model-versions/delete-tag"})
        EXPECT_EQ(call("DELETE", std::string("/api/2.0/mlflow/") + what, mark).status, 403) << what;
    const auto name = ask(get("registered-models/get", {{"name", "shared"}}));
    EXPECT_EQ(to_json(name).find("ponk.made_by"), std::string::npos) << to_json(name);
}

TEST_F(RunCalls, OthersVersionsStayAsTheyAre)
{
    ask(post("registered-models/create", R"({"name":"R"})"));
    ask(post("model-versions/create",
             to_json(JsonObject{
                 {"name", "R"}, {"source", "models:/" + theirs_}, {"model_id", theirs_}})));
    EXPECT_EQ(
        registry("registered-models/alias", {{"name", "R"}, {"alias", "best"}, {"version", "1"}})
            .status,
        403);
    EXPECT_EQ(registry("model-versions/transition-stage",
                       {{"name", "R"}, {"version", "1"}, {"stage", "Production"}})
                  .status,
              403);
    ask(post("registered-models/alias", R"({"name":"R","alias":"best","version":"1"})"));
    const auto remove = [this](const std::string& what, JsonObject body) {
        return call("DELETE", "/api/2.0/mlflow/" + what, std::move(body)).status;
    };
    EXPECT_EQ(remove("registered-models/alias", {{"name", "R"}, {"alias", "best"}}), 403);
    EXPECT_EQ(remove("model-versions/delete", {{"name", "R"}, {"version", "1"}}), 403);
    EXPECT_EQ(call("GET", "/api/2.0/mlflow/model-versions/get?name=R&version=1").status, 200);
}

// `models:/prod@champion` is what others load: who logs does not decide that.
TEST_F(RunCalls, ARunMovesNoAliasOfAModelUnlessItsSubmitterAllowedIt)
{
    ask(post("registered-models/create", R"({"name":"prod"})"));
    for (const auto& [id, number] : {std::pair(theirs_, "1"), std::pair(model_, "2")}) {
        const auto made = ask(post(
            "model-versions/create",
            to_json(JsonObject{{"name", "prod"}, {"source", "models:/" + id}, {"model_id", id}})));
        ASSERT_EQ(made["model_version"].text("version"), number);
    }
    ask(post("registered-models/alias", R"({"name":"prod","alias":"champion","version":"1"})"));
    const auto champion = [this] {
        return ask(get("registered-models/alias",
                       {{"name", "prod"}, {"alias", "champion"}}))["model_version"]
            .text("version");
    };
    const JsonObject to_own{{"name", "prod"}, {"alias", "champion"}, {"version", "2"}};
    const JsonObject stage{{"name", "prod"}, {"version", "2"}, {"stage", "Production"}};
    const auto remove = [this](const std::string& what, JsonObject body) {
        return call("DELETE", "/api/2.0/mlflow/" + what, std::move(body)).status;
    };
    const auto refused = registry("registered-models/alias", to_own);
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, testing::HasSubstr("ponk submit --allow promote"));
    EXPECT_EQ(registry("model-versions/transition-stage", stage).status, 403);
    EXPECT_EQ(remove("registered-models/alias", {{"name", "prod"}, {"alias", "champion"}}), 403);
    EXPECT_EQ(champion(), "1");
    // Its own version goes, but not while others find it by an alias.
    ask(post("registered-models/alias", R"({"name":"prod","alias":"champion","version":"2"})"));
    EXPECT_EQ(remove("model-versions/delete", {{"name", "prod"}, {"version", "2"}}), 403);
    ask(post("registered-models/alias", R"({"name":"prod","alias":"champion","version":"1"})"));

    model::Run granted;
    granted.id = RunId::make();
    granted.project = "p";
    granted.configuration = JsonObject{{"may_promote", true}};
    ASSERT_TRUE(history_->create_run(granted));
    const auto plain = std::exchange(run_, granted.id);
    EXPECT_EQ(registry("registered-models/alias", to_own).status, 200);
    EXPECT_EQ(champion(), "2");
    EXPECT_EQ(registry("model-versions/transition-stage", stage).status, 200);
    EXPECT_EQ(remove("registered-models/alias", {{"name", "prod"}, {"alias", "champion"}}), 200);
    run_ = plain;
    EXPECT_EQ(remove("model-versions/delete", {{"name", "prod"}, {"version", "2"}}), 200);
}

// They have neither run nor files.
TEST_F(RunCalls, PromptsThatARunMadeAreItsOwn)
{
    ASSERT_EQ(registry("registered-models/create", {{"name", "P"}}).status, 200);
    JsonObject prompt{
        {"name", "P"},
        {"source", "dummy-source"},
        {"tags", JsonArray{JsonObject{{"key", "mlflow.prompt.is_prompt"}, {"value", "true"}}}}};
    EXPECT_EQ(registry("model-versions/create", prompt).status, 200);
    const auto tag = JsonObject{{"name", "P"}, {"version", "1"}, {"key", "lang"}, {"value", "en"}};
    EXPECT_EQ(registry("model-versions/set-tag", tag).status, 200);
    prompt.set("source", "runs:/" + other_ + "/model");
    EXPECT_EQ(registry("model-versions/create", prompt).status, 403) << "of others' files";
    // One that somebody else made.
    ask(post(
        "model-versions/create",
        R"({"name":"P","source":"dummy-source","tags":[{"key":"mlflow.prompt.is_prompt","value":"true"}]})"));
    EXPECT_EQ(registry("model-versions/set-tag",
                       {{"name", "P"}, {"version", "2"}, {"key", "lang"}, {"value", "en"}})
                  .status,
              403);
}

TEST_F(RunCalls, ARunDeletesRunsThatItMade)
{
    EXPECT_EQ(registry("runs/delete", {{"run_id", child_}}).status, 200);
    EXPECT_EQ(registry("runs/delete", {{"run_id", other_}}).status, 403);
    EXPECT_EQ(registry("runs/delete", {{"run_id", run_.text()}}).status, 403);
    EXPECT_EQ(store::Tracking(*history_).get_run(other_)->deleted, false);
}

TEST_F(RunCalls, ARunTagsItsOwnExperiment)
{
    const auto elsewhere = new_experiment("elsewhere");
    const auto tag = [this](const std::string& id) {
        return registry("experiments/set-experiment-tag",
                        {{"experiment_id", id}, {"key", "team"}, {"value", "x"}})
            .status;
    };
    EXPECT_EQ(tag("0"), 200);
    EXPECT_EQ(tag(elsewhere), 403);
}

TEST_F(RunCalls, SearchesAreAnsweredAsOutside)
{
    const auto found = registry("runs/search", {{"experiment_ids", JsonArray{"0"}}});
    ASSERT_EQ(found.status, 200) << found.body;
    EXPECT_EQ((*parse_json(found.body))["runs"].as_array().size(), 3U);
    EXPECT_EQ(registry("runs/search", {{"filter", "nonsense"}}).status, 400);
}

TEST_F(RunCalls, ASearchThatFindsTooMuchForOneAnswerHasMorePages)
{
    store::Tracking tracking(*history_);
    const std::string note(500'000, 'n');
    for (int i = 0; i < 40; ++i)
        ASSERT_TRUE(tracking.create_run({.name = "large", .tags = {{"note", note}}}));
    std::size_t runs = 0;
    std::size_t pages = 0;
    std::string page;
    do {
        const auto found = registry("runs/search",
                                    {{"experiment_ids", JsonArray{"0"}},
                                     {"filter", "tags.note LIKE 'n%'"},
                                     {"max_results", 1000},
                                     {"page_token", page}});
        ASSERT_EQ(found.status, 200) << found.body.substr(0, 200);
        const auto answer = parse_json(found.body).value();
        runs += answer["runs"].as_array().size();
        page = answer.text("next_page_token");
        ASSERT_LT(++pages, 100U);
    } while (!page.empty());
    EXPECT_EQ(runs, 40U);
    EXPECT_GT(pages, 1U);
}

}  // namespace
}  // namespace ponk::api
