// SPDX-License-Identifier: Apache-2.0
#include "store/history/history_test_support.hpp"
#include "store/history/saved_views.hpp"

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(History& history)
{
    std::vector<std::string> all;
    const auto views = SavedViews(history).list().value();
    for (const auto& view : views)
        all.push_back(view.project + "/" + view.name + "=" + view.text);
    return all;
}

TEST_F(HistoryTest, ViewsAreKeptByProjectAndName)
{
    ASSERT_TRUE(history_->put_setting("answer", "42"));
    EXPECT_TRUE(SavedViews(*history_).put({"p1", "best: of all", "{}"}).value());
    EXPECT_TRUE(SavedViews(*history_).put({"", "best: of all", "[]"}).value());
    EXPECT_FALSE(SavedViews(*history_).put({"p1", "best: of all", "{1}"}).value());

    EXPECT_THAT(names(*history_), ElementsAre("/best: of all=[]", "p1/best: of all={1}"));
    EXPECT_EQ(history_->find_setting("answer").value(), "42");
}

TEST_F(HistoryTest, AViewIsRenamedUnlessTheNameIsTaken)
{
    ASSERT_TRUE(SavedViews(*history_).put({"p1", "a", "1"}));
    ASSERT_TRUE(SavedViews(*history_).put({"p1", "b", "2"}));

    EXPECT_THAT(SavedViews(*history_).rename("p1", "a", "b").error().message(),
                HasSubstr("'b' already exists"));
    EXPECT_EQ(SavedViews(*history_).rename("p1", "none", "c").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(SavedViews(*history_).rename("", "a", "c").error().kind(), ErrorKind::not_found);
    ASSERT_TRUE(SavedViews(*history_).rename("p1", "a", "c"));
    ASSERT_TRUE(SavedViews(*history_).rename("p1", "b", "b"));
    EXPECT_THAT(names(*history_), ElementsAre("p1/b=2", "p1/c=1"));

    ASSERT_TRUE(SavedViews(*history_).remove("p1", "c"));
    EXPECT_EQ(SavedViews(*history_).remove("p1", "c").error().kind(), ErrorKind::not_found);
    EXPECT_THAT(names(*history_), ElementsAre("p1/b=2"));
}

TEST_F(HistoryTest, ViewsGoWithTheirProject)
{
    ASSERT_TRUE(history_->put_project({"p1", "One", "/srv/one"}));
    ASSERT_TRUE(history_->put_project({"p12", "Two", "/srv/two"}));
    ASSERT_TRUE(SavedViews(*history_).put({"p1", "a", "1"}));
    ASSERT_TRUE(SavedViews(*history_).put({"p12", "a", "2"}));
    ASSERT_TRUE(SavedViews(*history_).put({"", "a", "3"}));

    ASSERT_TRUE(history_->delete_project("p1"));

    EXPECT_THAT(names(*history_), ElementsAre("/a=3", "p12/a=2"));
}

}  // namespace
}  // namespace ponk::store
