// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_test_support.hpp"

namespace ponk::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(HistoryTest, ProjectsAreKnownByTheirRuns)
{
    const auto first = add("p1");
    const auto last = add("p1");
    ASSERT_TRUE(history_->put_project({"p2", "Second", "/srv/two"}));

    const auto all = history_->projects().value();

    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].project.name, "Second");
    EXPECT_EQ(all[1].project.name, "p1");
    EXPECT_EQ(all[1].runs, 2);
    EXPECT_EQ(all[1].last_run, last.id);
    EXPECT_EQ(history_->find_project_at("/srv/two").value()->project.id, "p2");
    EXPECT_EQ(history_->find_project_at("/nowhere").value(), std::nullopt);
    EXPECT_THAT(history_->delete_project("p1").error().message(), HasSubstr("is NotStarted"));
    finish(first.id);
    finish(last.id);
    ASSERT_TRUE(history_->delete_project("p1"));
    EXPECT_EQ(history_->find_project("p1").value(), std::nullopt);
    EXPECT_THAT(history_->list_runs({}).value().runs, IsEmpty());
    EXPECT_EQ(history_->delete_project("p1").error().kind(), ErrorKind::not_found);
}

TEST_F(HistoryTest, AMovedProjectIsFoundAtItsNewPlace)
{
    add("p1");
    auto run = make_run("p1");
    run.project_path = "/new/place";
    ASSERT_TRUE(history_->create_run(run));

    EXPECT_EQ(history_->find_project_at("/new/place").value()->runs, 2);
}

TEST_F(HistoryTest, AssetsHaveVersions)
{
    const auto run = add().id;
    const Asset asset{.project = "p1", .name = "model", .run = run, .path = "outputs/m", .size = 5};

    EXPECT_EQ(history_->add_asset(asset).value().version, 1);
    EXPECT_EQ(history_->add_asset(asset).value().version, 2);

    ASSERT_THAT(history_->assets("p1").value(), SizeIs(1));
    EXPECT_EQ(history_->assets("p1").value()[0].version, 2);
    EXPECT_EQ(history_->assets("p1").value()[0].run, run);
    const auto versions = history_->asset_versions("p1", "model").value();
    ASSERT_THAT(versions, SizeIs(2));
    EXPECT_EQ(versions[0].version, 2);
    // The run outlives its name.
    finish(run);
    EXPECT_EQ(history_->delete_run(run).error().kind(), ErrorKind::conflict);
    EXPECT_TRUE(history_->delete_asset("p1", "model"));
    EXPECT_TRUE(history_->delete_run(run));
    EXPECT_EQ(history_->delete_asset("p1", "model").error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(history_->add_asset({.project = "p9", .name = "x"}));
}

TEST_F(HistoryTest, ARunThatHoldsAnAssetStays)
{
    auto run = make_run();
    run.state = model::RunState::completed;
    ASSERT_TRUE(history_->create_run(run));
    Asset asset;
    asset.project = run.project;
    asset.name = "model";
    asset.run = run.id;
    asset.path = "outputs/model";
    ASSERT_TRUE(history_->add_asset(asset));

    const auto refused = history_->delete_run(run.id);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("asset 'model'"));
}

}  // namespace
}  // namespace ponk::store
