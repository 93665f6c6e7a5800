// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "model/changed_param.hpp"
#include "model/run_names.hpp"
#include "model/run_words.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/points/point_tail.hpp"
#include "store/points/tail_codec.hpp"
#include "store/rows/event_row.hpp"
#include "store/rows/run_row.hpp"
#include "store/rows/tag_room.hpp"
#include "store/search/run_search.hpp"
#include "store/tracking/experiment_row.hpp"
#include "store/tracking/tracked_run.hpp"
#include "store/tracking/tracking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::store {

namespace {

// Of a page, in memory; as JSON up to six times as much.
constexpr std::size_t read_together = 32;

Error no_run(std::string_view id)
{
    return {ErrorKind::not_found, fmt::format("Run with id={} not found", printable(id))};
}

struct Known {
    std::int64_t row = 0;
    bool deleted = false;
    Origin origin = Origin::engine;
};

Result<Known> find_known(db::Connection& connection, const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT row, deleted, origin FROM run WHERE id = ?"));
    statement.bind(id);
    if (!TRY(statement.step())) return tl::unexpected(no_run(id));
    return Known{statement.integer(0),
                 statement.integer(1) != 0,
                 statement.text(2) == to_string(Origin::client) ? Origin::client : Origin::engine};
}

Result<Known>
find_writable(db::Connection& connection, const std::string& id, Into into = Into::active)
{
    const auto known = TRY(find_known(connection, id));
    if (known.deleted && into == Into::active) {
        return fail(ErrorKind::invalid_argument,
                    "The run {} must be in the 'active' state. Current state is deleted.",
                    id);
    }
    return known;
}

Result<TrackedRun> read_one(db::Connection& connection, const TailReader& tail, std::int64_t row)
{
    auto runs = *TRY(read_tracked_runs(connection, tail, {row}, enough_text));
    if (runs.empty()) return fail(ErrorKind::internal, "row {} of a run is gone", row);
    return std::move(runs.front());
}

std::size_t text_size(const TrackedRun& run)
{
    std::size_t size = run.metrics.size() * sizeof(model::MetricPoint);
    for (const auto* pairs : {&run.tags, &run.params}) {
        for (const auto& [key, value] : *pairs)
            size += key.size() + value.size();
    }
    return size;
}

// Runs of a page are read together, fewer at once where they have very long texts: those that
// would be too much are read one by one.
Result<TrackedPage>
read_page(db::Connection& reader, const TailReader& tail, const FoundRunRows& found)
{
    TrackedPage page{{}, found.next};
    std::size_t bytes = 0;
    auto together = read_together;
    for (std::size_t at = 0; at < found.rows.size();) {
        const auto end = std::min(at + together, found.rows.size());
        const auto first = found.rows.begin();
        auto runs = TRY(read_tracked_runs(
            reader,
            tail,
            {first + static_cast<std::ptrdiff_t>(at), first + static_cast<std::ptrdiff_t>(end)},
            enough_text));
        if (!runs) {
            together = 1;
            continue;
        }
        at = end;
        for (auto& run : *runs) {
            const auto size = text_size(run);
            bytes += size;
            if (runs->size() > 1) TRY(charge_answer(size));
            page.runs.push_back(std::move(run));
        }
        if (bytes < enough_text || end == found.rows.size()) continue;
        page.next = found.place_behind(end - 1);
        break;
    }
    return page;
}

// An empty name is none: the run keeps the one it has.
Result<> rename(db::Connection& writer, std::int64_t row, const std::string& name)
{
    if (name.empty()) return {};
    auto statement = TRY(writer.prepare("UPDATE run SET name = ? WHERE row = ?"));
    return statement.bind(name, row).run();
}

Result<> put_tags(db::Connection& writer, std::int64_t row, const Pairs& tags)
{
    auto put = TRY(writer.prepare("INSERT OR REPLACE INTO tag(run, key, value) VALUES(?, ?, ?)"));
    for (const auto& [key, value] : tags) {
        if (key == run_name_tag) {
            TRY(rename(writer, row, value));
        } else {
            TRY(put.bind(row, model::stored_tag(key), value).run());
        }
    }
    return {};
}

Result<>
put_params(db::Connection& writer, std::int64_t row, const std::string& id, const Pairs& params)
{
    auto find = TRY(writer.prepare("SELECT value FROM tag WHERE run = ? AND key = ?"));
    auto put = TRY(writer.prepare("INSERT INTO tag(run, key, value) VALUES(?, ?, ?)"));
    for (const auto& [key, value] : params) {
        const auto stored = std::string(model::parameter_prefix) + key;
        find.bind(row, stored);
        if (!TRY(find.step())) {
            TRY(put.bind(row, stored, value).run());
        } else if (const auto before = find.text(0); before != value) {
            return tl::unexpected(
                model::changed_param(key, before, fmt::format("run ID='{}'", id), value));
        }
        find.reset();
    }
    return {};
}

std::string script_of(const Pairs& tags)
{
    for (const auto& [key, value] : tags) {
        if (key == "mlflow.source.name") return Path(value).filename().native();
    }
    return {};
}

// The state of a run of ours is what its supervisor saw.
Result<> put_state(db::Connection& writer, std::int64_t row, const TrackedChange& change)
{
    if (change.state) {
        auto put = TRY(writer.prepare("UPDATE run SET state = ?1 WHERE row = ?2 AND state <> ?1"));
        TRY(put.bind(model::to_string(*change.state), row).run());
        if (writer.changes() > 0)
            TRY(insert_event(writer, row, "state", model::to_string(*change.state)));
    }
    if (change.ended) {
        auto put = TRY(writer.prepare("UPDATE run SET ended = ? WHERE row = ?"));
        TRY(put.bind(*change.ended, row).run());
    }
    return {};
}

Result<> set_deleted(db::Connection& writer, const std::string& id, std::int64_t when)
{
    const auto known = TRY(find_known(writer, id));
    if (known.deleted == (when != 0)) return {};
    auto statement = TRY(writer.prepare("UPDATE run SET deleted = ? WHERE row = ?"));
    return statement.bind(when, known.row).run();
}

Result<> restore_experiment_of(db::Connection& writer, const std::string& id)
{
    auto mark = TRY(writer.prepare("UPDATE project SET deleted = 0, updated = ?"
                                   " WHERE row = (SELECT project FROM run WHERE row = ?)"
                                   " AND deleted <> 0"));
    return mark.bind(wall_milliseconds(), TRY(find_known(writer, id)).row).run();
}

}  // namespace

Result<TrackedRun> Tracking::create_run(const NewRun& wanted)
{
    model::Run run;
    run.id = wanted.id.empty() ? RunId::make() : wanted.id;
    run.name = wanted.name.empty() ? model::make_run_name() : wanted.name;
    run.state = model::RunState::running;
    run.script_name = script_of(wanted.tags);
    run.target_type = model::client_target;
    run.user = wanted.user;
    run.created = wall_milliseconds();
    run.started = wanted.started;
    run.parent = wanted.parent;
    const TailReader tail(history_.impl_->uncompacted);
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<TrackedRun> {
            if (const auto known = find_known(writer, run.id.text()))
                return read_one(writer, tail, known->row);
            TRY(get_active_experiment(writer, wanted.experiment));
            run.number = TRY(next_run_number(writer, wanted.experiment));
            const auto row = TRY(insert_run(writer, wanted.experiment, run, Origin::client));
            TRY(put_tags(writer, row, wanted.tags));
            TRY(check_tag_room(writer, TagOwner::run, row));
            TRY(insert_event(writer, row, "state", model::to_string(run.state)));
            return read_one(writer, tail, row);
        });
}

Result<TrackedRun> Tracking::get_run(const std::string& id) const
{
    return history_.impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<TrackedRun> {
            return read_one(reader, tail, TRY(find_known(reader, id)).row);
        });
}

Result<TrackedPage> Tracking::search_runs(const RunSearch& search) const
{
    return history_.impl_->read(
        [&](db::Connection& reader, const TailReader& tail) -> Result<TrackedPage> {
            return read_page(reader, tail, TRY(find_run_rows(reader, tail, search)));
        });
}

Result<TrackedRun>
Tracking::update_run(const std::string& id, const TrackedChange& change, Into into)
{
    const TailReader tail(history_.impl_->uncompacted);
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<TrackedRun> {
            const auto known = TRY(find_writable(writer, id, into));
            if (known.origin == Origin::client) TRY(put_state(writer, known.row, change));
            if (change.name) TRY(rename(writer, known.row, *change.name));
            return read_one(writer, tail, known.row);
        });
}

Result<> Tracking::delete_run(const std::string& id)
{
    return history_.impl_->database->write(db::Durability::disk, [&](db::Connection& writer) {
        return set_deleted(writer, id, wall_milliseconds());
    });
}

Result<> Tracking::restore_run(const std::string& id, OfDeletedExperiment its)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            TRY(set_deleted(writer, id, 0));
            return its == OfDeletedExperiment::restore_both ? restore_experiment_of(writer, id)
                                                            : Result<>();
        });
}

Result<> Tracking::log(const std::string& id, const Logged& logged, Into into)
{
    auto& store = *history_.impl_;
    const auto tail = encode_tail(logged.points);
    std::optional<TailRow> row;
    auto written =
        store.database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto run = TRY(find_writable(writer, id, into)).row;
            TRY(put_params(writer, run, id, logged.params));
            if (!logged.points.empty())
                row = TRY(append_tail(writer, store.uncompacted, run, tail));
            TRY(store_model_metrics(writer, run, logged.model_metrics));
            TRY(put_tags(writer, run, logged.tags));
            if (logged.params.empty() && logged.tags.empty()) return {};
            return check_tag_room(writer, TagOwner::run, run);
        });
    if (!written) {
        forget_tail(store.uncompacted, row);
        return written;
    }
    if (!logged.points.empty()) store.compact_when_large();
    return {};
}

bool Tracking::log_later(const std::string& id,
                         const PointsByKey& points,
                         std::function<void(Result<>)> done)
{
    auto& store = *history_.impl_;
    if (store.is_overdue()) return false;
    auto row = std::make_shared<std::optional<TailRow>>();
    store.database->write_later(
        {.work = [&store, id, row, tail = encode_tail(points)](db::Connection& writer) -> Result<> {
             const auto run = TRY(find_writable(writer, id)).row;
             *row = TRY(append_tail(writer, store.uncompacted, run, tail));
             return {};
         },
         .one_change = true,
         .done =
             [&store, row, done = std::move(done)](Result<> outcome) {
                 if (!outcome) forget_tail(store.uncompacted, *row);
                 done(std::move(outcome));
             }});
    store.call_compactor();
    return true;
}

Result<> Tracking::delete_tag(const std::string& id, const std::string& key, Into into)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto run = TRY(find_writable(writer, id, into)).row;
            // It is the name itself, which a run always has: MLflow, too, keeps that.
            if (key == run_name_tag) return {};
            auto remove = TRY(writer.prepare("DELETE FROM tag WHERE run = ? AND key = ?"));
            TRY(remove.bind(run, model::stored_tag(key)).run());
            if (writer.changes() > 0) return {};
            return fail(
                ErrorKind::not_found, "No tag with name: {} in run with id {}", printable(key), id);
        });
}

}  // namespace ponk::store
