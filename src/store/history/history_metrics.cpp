// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/points/curve.hpp"
#include "store/points/metric_row.hpp"
#include "store/points/point_tail.hpp"
#include "store/points/run_points.hpp"
#include "store/rows/run_row.hpp"

#include <limits>

namespace ponk::store {

using model::MetricPoint;

Result<std::size_t> History::record_metrics(const RunId& id, const JournalBatch& batch)
{
    if (batch.to < batch.from) {
        return fail(ErrorKind::invalid_argument,
                    "journal '{}' cannot go back from {} to {}",
                    printable(batch.journal),
                    batch.from,
                    batch.to);
    }
    std::int64_t run = 0;
    std::vector<std::int64_t> compacted;
    const auto left_out = TRY(impl_->database->write(
        db::Durability::process, [&](db::Connection& writer) -> Result<std::size_t> {
            run = TRY(get_run_row(writer, id));
            const auto stored = TRY(stored_offset(writer, run, batch.journal));
            if (stored != batch.from) {
                return fail(ErrorKind::conflict,
                            "journal '{}' of run '{}' is stored up to byte {}, not {}",
                            printable(batch.journal),
                            id.text(),
                            stored,
                            batch.from);
            }
            // So that points keep the places in which they were read.
            if (!batch.points.empty())
                compacted = TRY(compact_within(writer, impl_->uncompacted, run));
            return store_batch(writer, run, batch);
        }));
    if (!compacted.empty()) impl_->uncompacted.forget(run, compacted);
    return left_out;
}

Result<std::uint64_t> History::journal_offset(const RunId& id, const std::string& journal) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::uint64_t> {
        return stored_offset(reader, TRY(get_run_row(reader, id)), journal);
    });
}

Result<std::vector<LatestMetric>> History::latest_metrics(const RunId& id,
                                                          const MetricRange& range) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::vector<LatestMetric>> {
            return read_latest(reader, tail, TRY(get_run_row(reader, id)), range);
        });
}

Result<std::int64_t> History::count_metrics(const RunId& id) const
{
    return impl_->read([&](db::Connection& reader, const TailReader& tail) -> Result<std::int64_t> {
        return count_keys(reader, tail, TRY(get_run_row(reader, id)));
    });
}

Result<std::optional<LatestMetric>> History::find_metric(const RunId& id,
                                                         const std::string& key) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::optional<LatestMetric>> {
            auto found = TRY(find_key(reader, tail, TRY(get_run_row(reader, id)), key));
            if (!found) return std::optional<LatestMetric>();
            return std::optional(std::move(found->latest));
        });
}

Result<std::vector<MetricPoint>> History::metric_points(const RunId& id,
                                                        const std::string& key,
                                                        std::int64_t after,
                                                        std::size_t limit) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::vector<MetricPoint>> {
            std::vector<MetricPoint> points;
            const auto found = TRY(find_key(reader, tail, TRY(get_run_row(reader, id)), key));
            if (!found) return points;
            TRY(read_points(reader,
                            *found,
                            {after, static_cast<std::int64_t>(limit)},
                            [&points](MetricPoint point) { points.push_back(std::move(point)); }));
            return points;
        });
}

Result<std::vector<MetricPoint>> History::metric_series(const RunId& id,
                                                        const std::string& key) const
{
    return metric_points(id, key, 0, std::numeric_limits<std::int64_t>::max());
}

Result<std::vector<MetricPoint>>
History::metric_curve(const RunId& id, const std::string& key, std::size_t most) const
{
    return impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<std::vector<MetricPoint>> {
            const auto found = TRY(find_key(reader, tail, TRY(get_run_row(reader, id)), key));
            if (!found) return std::vector<MetricPoint>();
            Curve curve(static_cast<std::size_t>(found->latest.count), most);
            TRY(read_columns(reader,
                             *found,
                             {},
                             [&](const PointColumns& points, std::size_t first, std::size_t last) {
                                 curve.add(key, points, first, last);
                             }));
            return curve.finish();
        });
}

}  // namespace ponk::store
