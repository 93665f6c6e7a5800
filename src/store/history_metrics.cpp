// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/history.hpp"
#include "store/history_impl.hpp"
#include "store/metric_row.hpp"
#include "store/run_row.hpp"

namespace ponk::store {

Result<> History::record_metrics(const RunId& id, const JournalBatch& batch)
{
    if (batch.to < batch.from) {
        return fail(ErrorKind::invalid_argument,
                    "journal '{}' cannot go back from {} to {}",
                    printable(batch.journal),
                    batch.from,
                    batch.to);
    }
    return impl_->database->write(db::Durability::process, [&](db::Connection& writer) -> Result<> {
        const auto run = TRY(get_run_row(writer, id));
        const auto stored = TRY(stored_offset(writer, run, batch.journal));
        if (stored != batch.from) {
            return fail(ErrorKind::conflict,
                        "journal '{}' of run '{}' is stored up to byte {}, not {}",
                        printable(batch.journal),
                        id.text(),
                        stored,
                        batch.from);
        }
        return store_batch(writer, run, batch);
    });
}

Result<std::uint64_t> History::journal_offset(const RunId& id, const std::string& journal) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::uint64_t> {
        return stored_offset(reader, TRY(get_run_row(reader, id)), journal);
    });
}

Result<std::vector<LatestMetric>> History::latest_metrics(const RunId& id) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<LatestMetric>> {
        return read_latest(reader, TRY(get_run_row(reader, id)));
    });
}

Result<std::vector<model::MetricPoint>> History::metric_series(const RunId& id,
                                                               const std::string& key) const
{
    return impl_->database->read(
        [&](db::Connection& reader) -> Result<std::vector<model::MetricPoint>> {
            return read_series(reader, TRY(get_run_row(reader, id)), key);
        });
}

}  // namespace ponk::store
