// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"
#include "store/history/history_test_support.hpp"
#include "store/points/summary_test_support.hpp"

namespace ponk::store {
namespace {

class HistoryPixels : public HistoryTest {
protected:
    // As if every point was decoded.
    PixelRows plain(const PixelWindow& window, PixelAxis axis, double smoothing)
    {
        const auto points = history_->metric_series(id_, "m").value();
        std::int64_t origin = std::numeric_limits<std::int64_t>::max();
        for (const auto& point : points)
            origin = std::min(origin, point.time);
        if (axis != PixelAxis::relative) origin = 0;
        std::vector<std::pair<std::int64_t, double>> all;
        for (const auto& point : points) {
            if (!point.text)
                all.emplace_back(axis == PixelAxis::step ? point.step : point.time - origin,
                                 point.value);
        }
        std::stable_sort(
            all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        PixelCurve curve(window, smoothing, static_cast<std::uint64_t>(origin));
        for (const auto& [x, y] : all)
            EXPECT_TRUE(curve.add(x, y));
        return curve.finish();
    }
    void record(const PointColumns& points)
    {
        std::vector<model::MetricPoint> all;
        for (std::size_t at = 0; at < points.size(); ++at)
            all.push_back(points.point("m", at));
        ASSERT_TRUE(history_->record_metrics(id_, {"j", read_, read_ + all.size(), all}));
        read_ += all.size();
    }
    void compare(std::mt19937_64& random, const PointColumns& points, unsigned seed)
    {
        for (const auto axis : {PixelAxis::step, PixelAxis::relative, PixelAxis::wall}) {
            const auto ends = history_->metric_ends(id_, "m", axis).value();
            const auto& all = axis == PixelAxis::step ? points.steps : points.times;
            const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
            const auto origin = axis == PixelAxis::relative ? *least : 0;
            ASSERT_TRUE(ends);
            EXPECT_EQ(ends->from, *least - origin);
            EXPECT_EQ(ends->to, *greatest - origin);
            for (const double smoothing : {0.0, 0.9}) {
                const auto window = random_window(random, all, static_cast<std::uint64_t>(origin));
                const auto rows = history_->metric_pixels(id_, "m", axis, window, smoothing);
                expect_same(plain(window, axis, smoothing), **rows, seed);
            }
        }
    }
    std::int64_t number(const char* what)
    {
        const auto reader = db::Connection::open(folder_ / "history.db", db::Role::reader).value();
        return reader->query_integer(fmt::format("SELECT {}", what)).value();
    }

    RunId id_ = add().id;
    std::uint64_t read_ = 0;
};

TEST_F(HistoryPixels, AreThoseOfAllPoints)
{
    for (unsigned seed = 0; seed < 25; ++seed) {
        id_ = add().id;
        read_ = 0;
        std::mt19937_64 random(seed);
        const auto points = random_points(random, 256 + random() % 20'000);
        const auto compacted = points.size() - random() % 500;
        PointColumns part;
        part.append(points, 0, compacted);
        record(part);
        for (auto at = compacted; at < points.size(); ++at)
            ASSERT_TRUE(history_->log_points(id_, std::vector{points.point("m", at)}));
        compare(random, points, seed);
        ASSERT_TRUE(history_->compact_all());
        compare(random, points, seed);
    }
}

TEST_F(HistoryPixels, OfAnEarlierVersionAreTheSameAndGetSummariesBeside)
{
    std::mt19937_64 random(7);
    auto points = random_points(random, 20'000);
    record(points);
    const auto all = number("count(*) FROM chunk");
    EXPECT_EQ(number("count(*) FROM chunk_summary WHERE steps IS NOT NULL"), all);
    history_.reset();
    {
        const auto old = db::Connection::open(folder_ / "history.db", db::Role::writer).value();
        ASSERT_TRUE(old->execute("UPDATE chunk_summary SET steps = NULL, times = NULL"));
    }
    history_ = History::open(folder_).value();

    compare(random, points, 7);
    EXPECT_EQ(number("count(*) FROM chunk_summary WHERE steps IS NULL"), all) << "reads write not";
    ASSERT_TRUE(history_->compact_all());
    EXPECT_EQ(number("count(*) FROM chunk_summary WHERE steps IS NULL"), 0);
    EXPECT_GT(number("count(*) FROM chunk_summary WHERE length(steps) > 0"), 0);
    compare(random, points, 7);
}

TEST_F(HistoryPixels, SummariesGoWithTheirChunks)
{
    std::mt19937_64 random(3);
    record(random_points(random, 9000));
    for (std::int64_t i = 0; i < 300; ++i)
        ASSERT_TRUE(history_->record_metrics(
            id_,
            {"more",
             static_cast<std::uint64_t>(i),
             static_cast<std::uint64_t>(i + 1),
             {{"m", 1, {}, (std::int64_t{1} << 61) + i, 1'800'000'000'000 + i}}}));
    EXPECT_EQ(number("count(*) FROM chunk_summary"), number("count(*) FROM chunk"));
    EXPECT_EQ(number("count(*) FROM chunk JOIN chunk_summary ON chunk = row AND"
                     " chunk.first = chunk_summary.first AND chunk.metric = chunk_summary.metric"),
              number("count(*) FROM chunk"));
    finish(id_);
    ASSERT_TRUE(history_->delete_run(id_));
    EXPECT_EQ(number("count(*) FROM chunk_summary"), 0);
}

}  // namespace
}  // namespace ponk::store
