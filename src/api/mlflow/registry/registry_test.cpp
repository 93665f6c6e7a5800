// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/registry/uri_text.hpp"
#include "api/mlflow/tracking_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;

class ModelRegistryTest : public MlflowTest {
protected:
    ModelRegistryTest() { ask(post("registered-models/create", R"({"name": "m"})")); }

    net::Response create(const std::string& source, const std::string& fields = {})
    {
        return post("model-versions/create",
                    fmt::format(R"({{"name": "m", "source": {}{}}})", to_json(source), fields));
    }
    Json version(const std::string& number)
    {
        return ask(
            get("model-versions/get", {{"name", "m"}, {"version", number}}))["model_version"];
    }
};

TEST_F(ModelRegistryTest, ModelsAndVersionsAreAsClientsReadThem)
{
    ask(post("registered-models/set-tag", R"({"name": "m", "key": "a", "value": "1"})"));
    expect_golden("model-version.json",
                  create("s3://b/x",
                         R"(, "run_id": "r1", "run_link": "http://x", "description": "dd",
                             "tags": [{"key": "q", "value": "1"}])"));
    ask(post("registered-models/alias", R"({"name": "m", "alias": "champ", "version": "1"})"));
    expect_golden("registered-model.json", get("registered-models/get", {{"name", "m"}}));
    EXPECT_EQ(ask(get("model-versions/get-download-uri", {{"name", "m"}, {"version", "1"}}))
                  .text("artifact_uri"),
              "s3://b/x");
    EXPECT_EQ(to_json(version("1")["aliases"]), R"(["champ"])");
}

TEST_F(ModelRegistryTest, WrongNamesVersionsAndTagsAreRefused)
{
    const auto made = [this](const std::string& body) {
        return refusal(post("registered-models/create", body));
    };
    EXPECT_EQ(made(R"({"name": "m"})"),
              "400 RESOURCE_ALREADY_EXISTS: Registered Model (name=m) already exists.");
    EXPECT_EQ(made(R"({"name": "a/b"})"),
              "400 INVALID_PARAMETER_VALUE: Invalid model name 'a/b'. Names cannot contain '/' or"
              " ':'.");
    for (const auto* body : {R"({})",
                             R"({"name": " "})",
                             R"({"name": ".."})",
                             R"({"name": 7})",
                             R"({"name": "x", "tags": [{"key": "k$"}]})",
                             R"({"name": "x", "tags": [{"value": "v"}]})",
                             R"({"name": "x", "tags": 1})"})
        EXPECT_THAT(made(body), HasSubstr("400 INVALID_PARAMETER_VALUE")) << body;
    EXPECT_EQ(refusal(get("model-versions/get", {{"name", "m"}, {"version", "x"}})),
              "400 INVALID_PARAMETER_VALUE: Parameter 'version' must be an integer, got 'x'.");
    EXPECT_EQ(refusal(get("model-versions/get", {{"name", "m"}, {"version", "9"}})),
              "404 RESOURCE_DOES_NOT_EXIST: Model Version (name=m, version=9) not found");
    EXPECT_EQ(refusal(get("registered-models/get", {{"name", "none"}})),
              "404 RESOURCE_DOES_NOT_EXIST: Registered Model with name=none not found");
}

TEST_F(ModelRegistryTest, APathOfThisMachineIsNoSource)
{
    const auto run = new_run();
    for (const auto* source : {"/etc/passwd",
                               "file:///etc/passwd",
                               "../x",
                               "x",
                               "s3://b/../x",
                               "s3://b/%2e%2e/x",
                               "s3://b/%252e%252e/x",
                               "s3://b/./a",
                               "s3://b?x=1",
                               "s3://b/a\\..\\b",
                               "s3://b/a?/../x",
                               "s3://b/a#/../x",
                               "s3://b/a%3f/../x",
                               "s3://b/a%3F/%2e%2e/x",
                               "s3://b/a%23/../x",
                               "s3://b/a%253f/%252e./x",
                               "s3://b/a?path=../x",
                               "s3://b/a?x=1&..",
                               "s3://b/a?x=%2e%2e%2fy",
                               "s3://b/a?x=..%5cy",
                               "s3://../a",
                               "dbfs:/a%3f/../x",
                               "s3:b",
                               "http://h/api/2.0/mlflow-artifacts/artifacts/1/x",
                               "mlflow-artifacts:/0/x",
                               "mlflow-artifacts://host/0/x",
                               "runs:/abc/model",
                               "models:/m-none",
                               "models://other/m/1"}) {
        EXPECT_THAT(refusal(create(source)),
                    HasSubstr("400 INVALID_PARAMETER_VALUE: Invalid model"
                              " version source"))
            << source;
        EXPECT_THAT(refusal(create(source, fmt::format(R"(, "run_id": "{}")", run))),
                    HasSubstr("Invalid model version source"))
            << source;
    }
    EXPECT_EQ(create(std::string("s3://b/x%00y")).status, 400);
    EXPECT_EQ(create(std::string(3000, 'x')).status, 400);
    EXPECT_FALSE(ask(get("model-versions/search", {}))["model_versions"].is_array());
}

TEST_F(ModelRegistryTest, WhatIsInsideTheNamedRunOrModelIsASource)
{
    const auto run = new_run();
    const auto of_run = fmt::format(R"(, "run_id": "{}")", run);
    ask(create(fmt::format("runs:/{}/model", run), of_run));
    ask(create(fmt::format("mlflow-artifacts:/0/{}/artifacts/model", run), of_run));
    EXPECT_THAT(refusal(create(fmt::format("mlflow-artifacts:/0/{}/model", run), of_run)),
                HasSubstr("The run_id request parameter must identify"));
    ask(create("s3://bucket/anything#fragment"));
    ask(create("dbfs:/x"));
    const auto made = ask(
        post("logged-models",
             fmt::format(R"({{"experiment_id": "0", "name": "lm", "source_run_id": "{}"}})", run)));
    const auto id = made["model"]["info"].text("model_id");
    const auto of_model = fmt::format(R"(, "model_id": "{}")", id);
    EXPECT_EQ(create("models:/" + id).status, 400);
    const auto version = ask(create("models:/" + id, of_model))["model_version"];
    EXPECT_EQ(version.text("run_id"), run);
    EXPECT_EQ(ask(get("model-versions/get-download-uri",
                      {{"name", "m"}, {"version", version.text("version")}}))
                  .text("artifact_uri"),
              fmt::format("mlflow-artifacts:/0/models/{}/artifacts", id));
    ask(create(fmt::format("mlflow-artifacts:/0/models/{}/artifacts", id), of_model));
    const auto tags = ask(get("logged-models/" + id, {}))["model"]["info"]["tags"];
    EXPECT_EQ(tags.as_array().at(0).text("value"),
              R"([{"name":"m","version":5},{"name":"m","version":6}])");
}

TEST_F(ModelRegistryTest, AVersionMayBeMadeOfAnother)
{
    ask(create("s3://b/x", R"(, "run_id": "r1")"));
    const auto copy = ask(create("models:/m/1"))["model_version"];
    EXPECT_EQ(copy.text("run_id"), "r1");
    EXPECT_EQ(ask(create("models:/m/latest"))["model_version"].text("source"), "models:/m/2");
    EXPECT_EQ(create("models:/none/1").status, 404);
    EXPECT_EQ(create("models:/m/99").status, 404);
    EXPECT_EQ(create("models:/m@nope").status, 400);
    EXPECT_EQ(create("models:/m/1", R"(, "run_id": "other")").status, 400);
}

TEST_F(ModelRegistryTest, StagesAndAliasesHaveTheirRules)
{
    ask(create("s3://b/x"));
    ask(create("s3://b/y"));
    const auto move = [this](const std::string& fields) {
        return post("model-versions/transition-stage", R"({"name": "m", )" + fields + "}");
    };
    ask(move(R"("version": "1", "stage": "production")"));
    EXPECT_EQ(version("1").text("current_stage"), "Production");
    ask(move(R"("version": "2", "stage": "Production", "archive_existing_versions": true)"));
    EXPECT_EQ(version("1").text("current_stage"), "Archived");
    EXPECT_EQ(
        refusal(move(R"("version": "2", "stage": "bogus")")),
        "400 INVALID_PARAMETER_VALUE: Invalid Model Version stage: bogus. Value must be one of"
        " None, Staging, Production, Archived.");
    EXPECT_EQ(move(R"("version": "2", "stage": "None", "archive_existing_versions": true)").status,
              400);
    EXPECT_EQ(move(R"("version": 2, "stage": "Staging")").status, 400);
    const auto latest = ask(post("registered-models/get-latest-versions",
                                 R"({"name": "m", "stages": ["production"]})"));
    EXPECT_EQ(latest["model_versions"].as_array().at(0).text("version"), "2");

    const auto alias = [this](const std::string& name) {
        return refusal(
            post("registered-models/alias",
                 fmt::format(R"({{"name": "m", "alias": {}, "version": "1"}})", to_json(name))));
    };
    EXPECT_THAT(alias("Latest"), HasSubstr("'latest' alias name (case insensitive) is reserved."));
    EXPECT_THAT(alias("v1"), HasSubstr("Version alias name 'v1' is reserved."));
    EXPECT_THAT(alias("a b"), HasSubstr("Invalid alias name: 'a b'"));
    EXPECT_THAT(alias(std::string(256, 'x')),
                HasSubstr("'Registered model alias name' exceeds the maximum length of 255"));
    EXPECT_EQ(refusal(get("registered-models/alias", {{"name", "m"}, {"alias", "none"}})),
              "400 INVALID_PARAMETER_VALUE: Registered model alias none not found.");
    EXPECT_EQ(
        ask(get("registered-models/alias", {{"name", "m"}, {"alias", "latest"}}))["model_version"]
            .text("version"),
        "2");
}

TEST_F(ModelRegistryTest, PromptsAreModelsApart)
{
    const std::string tag = R"("tags": [{"key": "mlflow.prompt.is_prompt", "value": "true"}])";
    ask(post("registered-models/create", R"({"name": "p", )" + tag + "}"));
    const auto version = [&](const std::string& source) {
        return post("model-versions/create",
                    fmt::format(R"({{"name": "p", "source": "{}", {}}})", source, tag));
    };
    ask(version("dummy-source"));
    EXPECT_THAT(refusal(version("/x")), HasSubstr("Invalid prompt source: '/x'"));
    EXPECT_THAT(refusal(create("models:/p/1")),
                HasSubstr("Prompt versions cannot be used as model version sources."));
    const auto names = [this](const std::string& filter) {
        const auto page = ask(get("registered-models/search", {{"filter", filter}}));
        std::string all;
        for (const auto& model : page["registered_models"].as_array())
            all += model.text("name") + " ";
        return all;
    };
    EXPECT_EQ(names(""), "m ");
    EXPECT_EQ(names("tags.`mlflow.prompt.is_prompt` != 'true'"), "m ");
    EXPECT_EQ(names("tags.`mlflow.prompt.is_prompt` = 'true'"), "p ");
}

TEST_F(ModelRegistryTest, SearchesHaveBoundsAndPages)
{
    ask(create("s3://b/x"));
    ask(create("s3://b/y"));
    const auto search = [this](std::vector<std::pair<std::string, std::string>> query) {
        return get("model-versions/search", std::move(query));
    };
    const auto first = ask(search({{"max_results", "1"}, {"order_by", "version_number ASC"}}));
    EXPECT_EQ(first["model_versions"].as_array().at(0).text("version"), "1");
    const auto second = ask(search({{"max_results", "1"},
                                    {"order_by", "version_number ASC"},
                                    {"page_token", first.text("next_page_token")}}));
    EXPECT_EQ(second["model_versions"].as_array().at(0).text("version"), "2");
    EXPECT_FALSE(second["next_page_token"].is_string());
    EXPECT_EQ(search({{"max_results", "0"}}).status, 400);
    EXPECT_EQ(search({{"max_results", "200001"}}).status, 400);
    EXPECT_EQ(search({{"page_token", "zz"}}).status, 400);
    EXPECT_EQ(search({{"filter", "source_path IN ('x')"}}).status, 400);
    EXPECT_EQ(get("registered-models/search", {{"max_results", "1001"}}).status, 400);
    EXPECT_EQ(get("registered-models/search", {{"order_by", "bogus"}}).status, 400);
}

TEST_F(ModelRegistryTest, ThingsAreRenamedDescribedAndDeleted)
{
    ask(create("s3://b/x"));
    ask(post("registered-models/create", R"({"name": "taken"})"));
    EXPECT_EQ(refusal(post("registered-models/rename", R"({"name": "m", "new_name": "taken"})")),
              "400 RESOURCE_ALREADY_EXISTS: Registered Model (name=taken) already exists.");
    ask(send("PATCH",
             "model-versions/update",
             {},
             R"({"name": "m", "version": "1", "description": "d"})"));
    EXPECT_EQ(version("1").text("description"), "d");
    ask(send("PATCH", "model-versions/update", {}, R"({"name": "m", "version": "1"})"));
    EXPECT_TRUE(version("1")["description"].is_null());
    ask(send("PATCH", "registered-models/update", {}, R"({"name": "m", "description": "d"})"));
    ask(post("model-versions/set-tag",
             R"({"name": "m", "version": "1", "key": "k", "value": "v"})"));
    ask(send(
        "DELETE", "model-versions/delete-tag", {}, R"({"name": "m", "version": "1", "key": "k"})"));
    ask(send("DELETE", "registered-models/delete-tag", {}, R"({"name": "m", "key": "none"})"));
    ask(send("DELETE", "registered-models/alias", {}, R"({"name": "m", "alias": "none"})"));
    ask(post("registered-models/rename", R"({"name": "m", "new_name": "n"})"));
    ask(send("DELETE", "model-versions/delete", {}, R"({"name": "n", "version": "1"})"));
    EXPECT_EQ(
        send("DELETE", "model-versions/delete", {}, R"({"name": "n", "version": "1"})").status,
        404);
    ask(send("DELETE", "registered-models/delete", {}, R"({"name": "n"})"));
    EXPECT_EQ(send("DELETE", "registered-models/delete", {}, R"({"name": "n"})").status, 404);
}

TEST(UriText, IsTakenApartWithAllItsEscapesResolved)
{
    const auto uri = parse_uri_text("S3://bucket/a%2520b//c/");
    EXPECT_EQ(uri.scheme, "s3");
    EXPECT_EQ(uri.authority, "bucket");
    EXPECT_EQ(uri.segments, (std::vector<std::string>{"a b", "c"}));
    EXPECT_TRUE(uri.is_absolute());
    EXPECT_FALSE(parse_uri_text("s3://b/%25252e%25252e/x").is_absolute());
    EXPECT_FALSE(parse_uri_text("s3:x").is_absolute());
    EXPECT_TRUE(parse_uri_text("/a?b").is_local());
    EXPECT_EQ(parse_uri_text("/a?b/c").segments.size(), 2U);
    EXPECT_TRUE(parse_uri_text("x:/a/b").is_within(parse_uri_text("x:/a")));
    EXPECT_FALSE(parse_uri_text("x:/ab").is_within(parse_uri_text("x:/a")));
    EXPECT_FALSE(parse_uri_text("x://h/a").is_within(parse_uri_text("x:/a")));
    EXPECT_TRUE(parse_uri_text("file:///a/b").is_within(parse_uri_text("/a")));
    EXPECT_EQ(parse_uri_text("%").path, "%");
    // The query ends where it was written: an escaped question mark is part of a name.
    EXPECT_EQ(parse_uri_text("s3://b/a%3fb/c?d").path, "/a?b/c");
    EXPECT_TRUE(parse_uri_text("s3://b/a..b/..c?d=...&x=1..2").is_absolute());
}

}  // namespace
}  // namespace ponk::api::mlflow
