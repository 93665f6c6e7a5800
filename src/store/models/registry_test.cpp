// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/history/history_test_support.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"

namespace ponk::store {
namespace {

using query::search::Direction;
using query::search::Entity;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RegistryTest : public HistoryTest {
protected:
    Registry registry() const { return Registry(*history_); }
    std::int64_t version(const std::string& name, const std::string& source = "s3://b/x")
    {
        return registry()
            .create_version({.name = name, .source = source, .location = source})
            .value()
            .version;
    }
    std::vector<std::string> names(const std::string& text) const
    {
        RegistrySearch search;
        search.filter = query::search::parse_filter(query::search::registered_models, text).value();
        std::vector<std::string> found;
        const auto page = registry().search(search).value();
        for (const auto& model : page.models)
            found.push_back(model.name);
        return found;
    }
    std::vector<std::int64_t> versions(const std::string& text) const
    {
        RegistrySearch search;
        search.filter = query::search::parse_filter(query::search::model_versions, text).value();
        search.order_by = {{Entity::attribute, "version_number", Direction::ascending}};
        std::vector<std::int64_t> found;
        const auto page = registry().search_versions(search).value();
        for (const auto& one : page.versions)
            found.push_back(one.version);
        return found;
    }
    const Pairs prompt_{{"mlflow.prompt.is_prompt", "true"}};
};

TEST_F(RegistryTest, NamesAreUniqueAmongModelsAndPrompts)
{
    ASSERT_TRUE(registry().create("a", "words", {{"k", "1"}, {"k", "2"}}));
    ASSERT_TRUE(registry().create("p", "", prompt_));
    EXPECT_THAT(registry().get("a").value().tags, ElementsAre(std::pair("k", "2")));
    const auto again = registry().create("a", "", {});
    EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(again.error().message(), "Registered Model (name=a) already exists.");
    EXPECT_EQ(
        registry().create("a", "", prompt_).error().message(),
        "Tried to create a prompt with name 'a', but the name is already taken by a registered"
        " model. MLflow does not allow creating a model and a prompt with the same name.");
    EXPECT_EQ(registry().create("p", "", prompt_).error().message(),
              "Prompt (name=p) already exists.");
    EXPECT_EQ(registry().get("none").error().message(),
              "Registered Model with name=none not found");
}

TEST_F(RegistryTest, VersionsCountUpAndNumbersAreNotGivenAgain)
{
    ASSERT_TRUE(registry().create("a", "", {}));
    EXPECT_EQ(version("a"), 1);
    EXPECT_EQ(version("a"), 2);
    ASSERT_TRUE(registry().remove_version("a", 2));
    EXPECT_EQ(version("a"), 3);
    reopen();
    EXPECT_EQ(version("a"), 4);
    EXPECT_EQ(registry().get_version("a", 2).error().message(),
              "Model Version (name=a, version=2) not found");
    EXPECT_FALSE(registry().create_version({.name = "none", .source = "s", .location = "s"}));
}

TEST_F(RegistryTest, RenamingTakesTheVersionsAlong)
{
    ASSERT_TRUE(registry().create("a", "", {}));
    ASSERT_TRUE(registry().create("b", "", {}));
    version("a");
    EXPECT_EQ(registry().rename("a", "b").error().kind(), ErrorKind::conflict);
    ASSERT_TRUE(registry().rename("a", "c"));
    EXPECT_EQ(registry().get_version("c", 1).value().name, "c");
    EXPECT_TRUE(registry().rename("c", "c"));
    EXPECT_FALSE(registry().get("a"));
}

TEST_F(RegistryTest, AStageMayBeClearedForItsNewVersion)
{
    ASSERT_TRUE(registry().create("a", "", {}));
    version("a");
    version("a");
    version("a");
    ASSERT_TRUE(registry().set_stage("a", 1, "Production", Registry::Others::keep));
    ASSERT_TRUE(registry().set_stage("a", 2, "Production", Registry::Others::archive));
    EXPECT_EQ(registry().get_version("a", 1).value().stage, "Archived");
    const auto latest = registry().latest_versions("a", {}).value();
    ASSERT_THAT(latest, SizeIs(3));
    EXPECT_EQ(latest[2].version, 3);
    EXPECT_EQ(registry().latest_versions("a", {"Production"}).value().at(0).version, 2);
    EXPECT_THAT(registry().latest_versions("a", {"Staging"}).value(), IsEmpty());
}

TEST_F(RegistryTest, AnAliasMovesAndGoesWithItsVersion)
{
    ASSERT_TRUE(registry().create("a", "", {}));
    version("a");
    version("a");
    ASSERT_TRUE(registry().set_alias("a", "champion", 1));
    ASSERT_TRUE(registry().set_alias("a", "champion", 2));
    EXPECT_EQ(registry().get_by_alias("a", "champion").value().version, 2);
    EXPECT_THAT(registry().get_version("a", 2).value().aliases, ElementsAre("champion"));
    EXPECT_THAT(registry().get("a").value().aliases, ElementsAre(std::pair("champion", 2)));
    EXPECT_EQ(registry().get_by_alias("a", "LATEST").value().version, 2);
    EXPECT_EQ(registry().set_alias("a", "x", 9).error().kind(), ErrorKind::not_found);
    ASSERT_TRUE(registry().remove_version("a", 2));
    const auto gone = registry().get_by_alias("a", "champion");
    EXPECT_EQ(gone.error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(gone.error().message(), "Registered model alias champion not found.");
    EXPECT_TRUE(registry().remove_alias("a", "champion"));
}

TEST_F(RegistryTest, SearchesLeavePromptsOutUnlessTheyAskForThem)
{
    ASSERT_TRUE(registry().create("model", "", {{"team", "x"}}));
    ASSERT_TRUE(registry().create("other", "", {}));
    ASSERT_TRUE(registry().create("prompt", "", prompt_));
    EXPECT_THAT(names(""), ElementsAre("model", "other"));
    EXPECT_THAT(names("tags.`mlflow.prompt.is_prompt` != 'true'"), ElementsAre("model", "other"));
    EXPECT_THAT(names("tags.`mlflow.prompt.is_prompt` = 'true'"), ElementsAre("prompt"));
    EXPECT_THAT(names("tags.`mlflow.prompt.is_prompt` = 'false'"), ElementsAre("model", "other"));
    EXPECT_THAT(names("name ILIKE 'M%'"), ElementsAre("model"));
    EXPECT_THAT(names("name IN ('other', 'prompt')"), ElementsAre("other"));
    EXPECT_THAT(names("tags.team = 'x'"), ElementsAre("model"));
    EXPECT_THAT(names("tags.team != 'x'"), IsEmpty());
}

TEST_F(RegistryTest, VersionsAreFoundByNumberRunSourceAndTag)
{
    ASSERT_TRUE(registry().create("a", "", {}));
    ASSERT_TRUE(registry().create("p", "", prompt_));
    ASSERT_TRUE(registry().create_version({.name = "a",
                                           .source = "s3://b/1",
                                           .location = "s3://b/1",
                                           .run = "r1",
                                           .tags = {{"q", "1"}}}));
    version("a", "s3://c/2");
    version("a", "s3://c/3");
    ASSERT_TRUE(registry().create_version(
        {.name = "p", .source = "dummy-source", .location = "dummy-source", .tags = prompt_}));
    EXPECT_THAT(versions(""), ElementsAre(1, 2, 3));
    EXPECT_THAT(versions("name = 'a' AND version_number >= 2"), ElementsAre(2, 3));
    EXPECT_THAT(versions("run_id IN ('r1')"), ElementsAre(1));
    EXPECT_THAT(versions("source_path LIKE 's3://c%'"), ElementsAre(2, 3));
    EXPECT_THAT(versions("tags.q = '1'"), ElementsAre(1));
    EXPECT_THAT(versions("tags.`mlflow.prompt.is_prompt` = 'true'"), ElementsAre(1));
    ASSERT_TRUE(registry().set_version_tag("a", 3, "q", "2"));
    EXPECT_THAT(versions("tags.q != '1'"), ElementsAre(3));
    ASSERT_TRUE(registry().remove_version_tag("a", 3, "q"));
    EXPECT_THAT(versions("tags.q != '1'"), IsEmpty());
}

TEST_F(RegistryTest, PagesOfModelsAndVersionsGoOnWhereTheyEnded)
{
    for (const auto* name : {"c", "a", "b"}) {
        ASSERT_TRUE(registry().create(name, "", {}));
        version(name);
        version(name);
    }
    RegistrySearch search;
    search.limit = 2;
    search.order_by = {{Entity::attribute, "name", Direction::descending}};
    auto models = registry().search(search).value();
    EXPECT_EQ(models.models.at(1).name, "b");
    ASSERT_TRUE(registry().remove("b"));
    search.page = models.next;
    models = registry().search(search).value();
    ASSERT_THAT(models.models, SizeIs(1));
    EXPECT_EQ(models.models[0].name, "a");
    EXPECT_EQ(models.next, "");

    RegistrySearch by_default;
    by_default.limit = 3;
    auto page = registry().search_versions(by_default).value();
    ASSERT_THAT(page.versions, SizeIs(3));
    by_default.page = page.next;
    page = registry().search_versions(by_default).value();
    EXPECT_THAT(page.versions, SizeIs(1));
    EXPECT_EQ(page.next, "");
}

TEST_F(RegistryTest, ALoggedModelKnowsWhatItBecame)
{
    Models models(*history_);
    const auto id = models.create({.experiment = 0, .name = "lm"}).value().id;
    ASSERT_TRUE(registry().create("a", "", {}));
    for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(registry().create_version(
            {.name = "a", .source = "models:/" + id, .location = "x", .logged_model = id}));
    EXPECT_THAT(models.get(id).value().tags,
                ElementsAre(std::pair("mlflow.modelVersions",
                                      R"([{"name":"a","version":1},{"name":"a","version":2}])")));
}

TEST_F(RegistryTest, DescriptionsChange)
{
    ASSERT_TRUE(registry().create("a", "old", {}));
    version("a");
    EXPECT_EQ(registry().describe("a", "new").value().description, "new");
    EXPECT_EQ(registry().describe_version("a", 1, "words").value().description, "words");
    EXPECT_EQ(registry().describe_version("a", 1, std::nullopt).value().description, std::nullopt);
    ASSERT_TRUE(registry().set_tag("a", "k", "v"));
    ASSERT_TRUE(registry().remove_tag("a", "k"));
    EXPECT_TRUE(registry().remove_tag("a", "k"));
    ASSERT_TRUE(registry().remove("a"));
    EXPECT_FALSE(registry().get_version("a", 1));
    EXPECT_TRUE(history_->check_integrity());
}

}  // namespace
}  // namespace ponk::store
