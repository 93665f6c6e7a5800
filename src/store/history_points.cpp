// SPDX-License-Identifier: Apache-2.0
#include "store/history.hpp"
#include "store/history_impl.hpp"
#include "store/metric_pages.hpp"
#include "store/point_tail.hpp"
#include "store/run_row.hpp"
#include "store/sampling.hpp"

#include <algorithm>

namespace ponk::store {

using model::MetricPoint;

namespace {

constexpr std::uint64_t largest_tail = std::uint64_t{4} << 20;  // bytes, about 200,000 points

// Nullopt when the run or the key is not there.
Result<std::optional<OpenMetric>>
find_key(db::Connection& reader, const RunId& id, const std::string& key)
{
    const auto run = get_run_row(reader, id);
    if (!run && run.error().kind() == ErrorKind::not_found) return std::optional<OpenMetric>();
    return find_open_metric(reader, TRY(run), key);
}

}  // namespace

Result<> History::Impl::settle(const RunId& id)
{
    if (!unsettled.any()) return {};
    const auto row =
        database->read([&id](db::Connection& reader) { return get_run_row(reader, id); });
    if (!row && row.error().kind() == ErrorKind::not_found) return {};
    return store::settle(*database, unsettled, TRY(row));
}

Result<> History::Impl::settle_all()
{
    return store::settle_all(*database, unsettled);
}

void History::Impl::settle_when_large()
{
    if (unsettled.bytes() > largest_tail) static_cast<void>(settle_all());
}

Result<> History::log_points(const RunId& id, std::span<const MetricPoint> points)
{
    TRY(impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        return append_tail(writer, impl_->unsettled, TRY(get_run_row(writer, id)), points);
    }));
    impl_->settle_when_large();
    return {};
}

Result<> History::settle_all()
{
    return impl_->settle_all();
}

Result<MetricPage> History::metric_history(const RunId& id,
                                           const std::string& key,
                                           const std::string& after,
                                           std::size_t limit) const
{
    TRY(impl_->settle(id));
    return impl_->database->read([&](db::Connection& reader) -> Result<MetricPage> {
        const auto metric = TRY(find_key(reader, id, key));
        if (!metric) return MetricPage();
        return read_page(reader, *metric, after, limit);
    });
}

Result<std::vector<MetricPoint>> History::sampled_history(const RunId& id,
                                                          const std::string& key,
                                                          const std::optional<StepRange>& range,
                                                          std::size_t most) const
{
    constexpr std::size_t all = std::size_t{1} << 40;
    TRY(impl_->settle(id));
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<MetricPoint>> {
        const auto metric = TRY(find_key(reader, id, key));
        if (!metric) return std::vector<MetricPoint>();
        return sample_points(
            reader, *metric, range, static_cast<std::int64_t>(std::min(most, all)));
    });
}

}  // namespace ponk::store
