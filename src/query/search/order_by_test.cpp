// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::query::search {
namespace {

std::string shown(const Grammar& grammar, const std::vector<std::string>& entries)
{
    const auto keys = parse_order_by(grammar, entries);
    if (!keys) return keys.error().message().substr(0, keys.error().message().find('\n'));
    std::string text;
    for (const auto& key : *keys)
        text += (text.empty() ? "" : ", ") + to_text(key);
    return text;
}

TEST(OrderBy, IsANameAndADirection)
{
    EXPECT_EQ(shown(runs, {"metrics.m"}), "metrics.m ASC");
    EXPECT_EQ(shown(runs, {"metrics.m asc", "param.`a b` DESC", "tags.x desc"}),
              "metrics.m ASC, params.`a b` DESC, tags.x DESC");
    EXPECT_EQ(shown(runs, {" attribute.start_time\tDesc "}), "start_time DESC");
    EXPECT_EQ(shown(runs, {"created", "status", "end_time DESC"}),
              "start_time ASC, status ASC, end_time DESC");
    EXPECT_EQ(shown(runs, {"metrics.desc", "metrics.asc desc"}),
              "metrics.desc ASC, metrics.asc DESC");
    EXPECT_EQ(shown(history_runs, {"target", "script DESC"}), "target ASC, script DESC");
    EXPECT_EQ(shown(runs, {}), "");
}

TEST(OrderBy, RefusesWhatIsNoOrder)
{
    EXPECT_EQ(shown(runs, {""}), "order_by at column 1: expected a name, but the text ends");
    EXPECT_EQ(shown(runs, {"metrics.m up"}),
              "order_by at column 11: expected ASC, DESC or the end, but found 'up'");
    EXPECT_EQ(shown(runs, {"metrics.m, metrics.n"}),
              "order_by at column 10: expected ASC, DESC or the end, but found ','");
    EXPECT_EQ(shown(runs, {"metrics.m metrics.n"}),
              "order_by at column 11: expected ASC, DESC or the end, but found 'metrics.n'");
    EXPECT_EQ(shown(runs, {"metrics.m DESC ASC"}),
              "order_by at column 16: expected ASC, DESC or the end, but found 'ASC'");
    EXPECT_EQ(shown(runs, {"metrics.m", "DESC"}),
              "order_by[1] at column 1: there is no attribute 'DESC' to order by");
    EXPECT_EQ(shown(runs, {"experiment_id"}),
              "order_by at column 1: there is no attribute 'experiment_id' to order by");
    EXPECT_EQ(shown(runs, {"`run name`"}),
              "order_by at column 1: there is no attribute 'run name' to order by");
    EXPECT_EQ(shown(runs, {"dataset.name"}),
              "order_by at column 9: there is no field of a dataset 'name' to order by");
    EXPECT_EQ(shown(runs, {"metrics.m > 1"}),
              "order_by at column 11: expected ASC, DESC or the end, but found '>'");
}

TEST(OrderBy, CanBeTheLeastGreatestOrBestOfAMetric)
{
    EXPECT_EQ(shown(history_runs, {"min.loss", "max.`val loss` DESC", "metrics.loss"}),
              "min.loss ASC, max.`val loss` DESC, metrics.loss ASC");
    EXPECT_EQ(shown(history_runs, {"best.loss", "best.accuracy DESC"}),
              "min.loss ASC, max.accuracy DESC");
    EXPECT_EQ(shown(history_runs, {"best.epoch"}),
              "order_by at column 1: the name 'epoch' does not say whether less or more is better");
    EXPECT_EQ(shown(history_runs, {"min.loss", "best.loss"}),
              "order_by[1]: 'best.loss' is given twice");
    EXPECT_EQ(shown(runs, {"min.loss"}), "order_by at column 1: runs have no 'min'")
        << "MLflow's clients know no such word";
    EXPECT_THAT(parse_filter(history_runs, "min.loss < 1").error().message(),
                testing::HasSubstr("'min' is only to order by"));
}

TEST(OrderBy, NamesNothingTwice)
{
    EXPECT_EQ(shown(runs, {"metrics.m", "metric.`m` DESC"}),
              "order_by[1]: 'metric.`m` DESC' is given twice");
    EXPECT_EQ(shown(runs, {"start_time", "created"}), "order_by[1]: 'created' is given twice");
    EXPECT_EQ(shown(runs, {"params.m", "metrics.m"}), "params.m ASC, metrics.m ASC");
}

TEST(OrderBy, HasTheKeysOfItsKind)
{
    EXPECT_EQ(shown(experiments, {"experiment_id", "name DESC", "attribute.last_update_time"}),
              "experiment_id ASC, name DESC, last_update_time ASC");
    EXPECT_EQ(shown(experiments, {"tags.x"}), "order_by at column 1: cannot order by 'tags'");
    EXPECT_EQ(shown(logged_models, {"metrics.m DESC", "creation_timestamp"}),
              "metrics.m DESC, creation_timestamp_ms ASC");
    EXPECT_EQ(shown(registered_models, {"timestamp", "name"}),
              "last_updated_timestamp ASC, name ASC");
    EXPECT_EQ(shown(model_versions, {"version_number DESC", "creation_timestamp"}),
              "version_number DESC, creation_timestamp ASC");
}

}  // namespace
}  // namespace ponk::query::search
