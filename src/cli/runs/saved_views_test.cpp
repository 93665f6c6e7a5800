// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/saved_views.hpp"

#include <gmock/gmock.h>

namespace ponk::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SavedViews, SayWhatAListIsAskedForAndShows)
{
    const auto view = saved_view_from(
        parse_json(
            R"({"filter": "metrics.loss < 1", "group": "params.lr", "order": "metrics.loss DESC",
                       "columns": ["state", "metric:val,loss", "param:lr", "tag:team"]})")
            .value());
    EXPECT_EQ(view.filter, "metrics.loss < 1");
    EXPECT_THAT(view.order_by, ElementsAre("params.lr ASC", "metrics.loss DESC"));
    EXPECT_EQ(view.columns, "run,name,status,metrics.`val,loss`,params.`lr`,tags.`team`");
    EXPECT_THAT(view.notes, IsEmpty());
}

TEST(SavedViews, NameTheColumnsThatOnlyThePageHas)
{
    const auto view =
        saved_view_from(parse_json(R"({"columns": ["best:loss", "tags", "gpu"]})").value());
    EXPECT_EQ(view.columns, "run,name,gpu");
    EXPECT_THAT(view.notes, ElementsAre(HasSubstr("'best:loss'"), HasSubstr("'tags'")));
    EXPECT_EQ(saved_view_from(parse_json("{}").value()).columns, "");
}

}  // namespace
}  // namespace ponk::cli
