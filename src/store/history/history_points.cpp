// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/points/metric_pages.hpp"
#include "store/points/metric_ranges.hpp"
#include "store/points/point_tail.hpp"
#include "store/points/sampling.hpp"
#include "store/points/summary_row.hpp"
#include "store/points/tail_codec.hpp"
#include "store/rows/run_row.hpp"

#include <algorithm>

namespace ponk::store {

using model::MetricPoint;

namespace {

// Of all tails together: from where on they are compacted beside, and from where on those who log
// have to wait for it. About 300,000 and 5,000,000 points. Whoever reads pays for what is there.
constexpr std::uint64_t large_tail = std::uint64_t{4} << 20;
constexpr std::uint64_t overdue_tail = std::uint64_t{64} << 20;
constexpr std::size_t most_rows = 10'000;

// Nullopt when the run or the key is not there.
Result<std::optional<KeyPoints>>
find_key_of(db::Connection& reader, const TailReader& tail, const RunId& id, const std::string& key)
{
    const auto run = get_run_row(reader, id);
    if (!run && run.error().kind() == ErrorKind::not_found) return std::optional<KeyPoints>();
    return find_key(reader, tail, TRY(run), key);
}

}  // namespace

Result<> History::Impl::compact(std::int64_t run)
{
    return store::compact(*database, uncompacted, run);
}

Result<> History::Impl::compact_all()
{
    return store::compact_all(*database, uncompacted);
}

bool History::Impl::is_overdue() const
{
    return uncompacted.bytes() > overdue_tail;
}

void History::Impl::compact_when_large()
{
    call_compactor();
    static_cast<void>(compact_down_to(*database, uncompacted, overdue_tail));
}

bool History::Impl::is_large() const
{
    return uncompacted.bytes() > large_tail || uncompacted.count() > most_rows;
}

void History::Impl::call_compactor()
{
    if (sweeper) sweeper->call();
    if (is_large() || uncompacted.any_long_run()) compactor.call();
}

void History::Impl::compact_beside()
{
    // What goes wrong here is tried again with the next call: all points are stored.
    if (is_large()) static_cast<void>(compact_all());
    for (const auto run : uncompacted.long_runs())
        static_cast<void>(compact(run));
}

Result<> History::log_points(const RunId& id, std::span<const MetricPoint> points)
{
    const auto tail = encode_tail(PointsByKey(points));
    std::optional<TailRow> row;
    auto written =
        impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            row = TRY(append_tail(writer, impl_->uncompacted, TRY(get_run_row(writer, id)), tail));
            return {};
        });
    if (!written) {
        forget_tail(impl_->uncompacted, row);
        return written;
    }
    impl_->compact_when_large();
    return {};
}

Result<> History::compact_all()
{
    TRY(impl_->compact_all());
    TRY(make_missing_ranges(*impl_->database));
    return make_missing_summaries(*impl_->database);
}

void History::compact_later(std::chrono::milliseconds after)
{
    impl_->sweeper.emplace(
        "ponk-sweeper", [impl = impl_.get()] { static_cast<void>(impl->compact_all()); }, after);
    if (impl_->uncompacted.any()) impl_->sweeper->call();
}

Result<MetricPage> History::metric_history(const RunId& id,
                                           const std::string& key,
                                           const std::string& after,
                                           std::size_t limit) const
{
    return impl_->read([&](db::Connection& reader, const TailReader& tail) -> Result<MetricPage> {
        const auto found = TRY(find_key_of(reader, tail, id, key));
        if (!found) return MetricPage();
        return read_page(reader, *found, after, limit);
    });
}

Result<std::vector<MetricPoint>> History::sampled_history(const RunId& id,
                                                          const std::string& key,
                                                          const std::optional<StepRange>& range,
                                                          std::size_t most) const
{
    constexpr std::size_t all = std::size_t{1} << 40;
    return impl_->read([&](db::Connection& reader,
                           const TailReader& tail) -> Result<std::vector<MetricPoint>> {
        const auto found = TRY(find_key_of(reader, tail, id, key));
        if (!found) return std::vector<MetricPoint>();
        return sample_points(reader, *found, range, static_cast<std::int64_t>(std::min(most, all)));
    });
}

}  // namespace ponk::store
