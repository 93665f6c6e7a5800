// SPDX-License-Identifier: Apache-2.0
#include "store/copy/copies.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "store/copy/copy_rows.hpp"
#include "store/history/history.hpp"
#include "store/history/history_access.hpp"
#include "store/rows/project_row.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

using Outcome = Copies::Outcome;
using Place = Copies::Place;

// Ids of experiments that are larger are not kept: the next ones would count on from there.
constexpr std::int64_t largest_kept_id = 1'000'000'000;

Result<std::optional<std::int64_t>>
find_row(db::Connection& connection, std::string_view column, const std::string& value)
{
    auto statement = TRY(connection.prepare(
        fmt::format("SELECT row FROM project WHERE {} = ? ORDER BY row", column)));
    statement.bind(value);
    if (!TRY(statement.step())) return std::optional<std::int64_t>();
    return std::optional(statement.integer(0));
}

// A folder is known by its id, an experiment of a client by its name, too.
Result<std::optional<std::int64_t>> find_place(db::Connection& connection,
                                               const ExperimentCopy& experiment)
{
    if (!experiment.project.empty()) {
        const auto row = TRY(find_row(connection, "id", experiment.project));
        if (row || experiment.kind == ExperimentCopy::Kind::folder) return row;
    }
    return find_row(connection, "experiment", experiment.name);
}

Result<std::int64_t> row_for(db::Connection& writer, std::int64_t wanted)
{
    const auto next = TRY(next_project_row(writer));
    if (wanted <= 0 || wanted > largest_kept_id) return next;
    if (wanted >= next) return wanted;
    // One that was deleted is not given again.
    return next;
}

Result<std::int64_t> insert_experiment(db::Connection& writer, const ExperimentCopy& experiment)
{
    const auto row = TRY(row_for(writer, experiment.id));
    const bool folder = experiment.kind == ExperimentCopy::Kind::folder;
    const auto now = wall_milliseconds();
    const auto created = experiment.created == 0 ? now : experiment.created;
    auto insert = TRY(writer.prepare(
        "INSERT INTO project(row, id, name, path, origin, experiment, location, deleted, created,"
        " updated) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(row,
                experiment.project.empty() ? "experiment:" + RunId::make().text()
                                           : experiment.project,
                folder ? experiment.project_name : experiment.name,
                folder ? experiment.path : std::string(),
                folder ? "folder" : "client",
                TRY(free_experiment_name(writer, experiment.name, row)),
                experiment.location,
                experiment.deleted,
                created,
                experiment.updated == 0 ? created : experiment.updated);
    TRY(insert.run());
    TRY(put_pairs(writer, {"experiment_tag", "project"}, row, experiment.tags));
    return row;
}

// Adds tags that are not there; says which ones have other values.
Result<> add_tags(db::Connection& connection,
                  const ExperimentCopy& known,
                  const ExperimentCopy& experiment,
                  Copies::Mode mode,
                  Place& place)
{
    Pairs missing;
    for (const auto& tag : experiment.tags) {
        const auto found = std::find_if(known.tags.begin(), known.tags.end(), [&](const auto& one) {
            return one.first == tag.first;
        });
        if (found == known.tags.end()) {
            missing.push_back(tag);
        } else if (found->second != tag.second) {
            place.notes.push_back(fmt::format("the tag '{}' of experiment '{}' is not changed",
                                              printable(tag.first),
                                              printable(known.name)));
        }
    }
    if (mode == Copies::Mode::look || missing.empty() || known.deleted != 0) return {};
    return put_pairs(connection, {"experiment_tag", "project"}, known.id, missing);
}

Result<Place>
put_experiment(db::Connection& connection, const ExperimentCopy& experiment, Copies::Mode mode)
{
    Place place;
    const auto row = TRY(find_place(connection, experiment));
    if (!row) {
        place.location = experiment.location;
        place.deleted = experiment.deleted != 0;
        place.id = mode == Copies::Mode::look ? -1 : TRY(insert_experiment(connection, experiment));
        return place;
    }
    const auto known = TRY(read_experiment_copy(connection, *row));
    if (known.deleted != 0 && experiment.deleted == 0) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("experiment '{}' is deleted here", printable(known.name)),
                  "Restore it, or choose another name: --experiment NAME=OTHER."));
    }
    place.outcome = Outcome::same;
    place.id = *row;
    place.location = known.location;
    place.deleted = known.deleted != 0;
    TRY(add_tags(connection, known, experiment, mode, place));
    return place;
}

tl::unexpected<Error> other_content(std::string_view thing, const std::string& difference)
{
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("{}, with other content: {}", thing, difference),
              "Nothing is overwritten: delete the existing one first, or keep it."));
}

Result<Outcome> check_run(db::Connection& connection,
                          const TailReader& tail,
                          const StoredCopy& stored,
                          const RunCopy& copy)
{
    const auto difference = TRY(find_difference(connection, tail, stored, copy));
    if (!difference) return Outcome::same;
    const auto experiment = TRY(read_experiment_copy(connection, stored.experiment));
    return other_content(fmt::format("run '{}' already exists, as '{}' of experiment '{}'",
                                     copy.run.id.text(),
                                     printable(stored.copy.run.name),
                                     printable(experiment.name)),
                         *difference);
}

// Runs `work` where it may write, or only look.
template <class Work>
auto run_work(const History& history, Copies::Mode mode, Work work)
{
    auto& database = HistoryAccess::database(history);
    return mode == Copies::Mode::look ? database.read(work)
                                      : database.write(db::Durability::process, work);
}

}  // namespace

Result<Place> Copies::put(const ExperimentCopy& experiment)
{
    return run_work(history_, mode_, [&](db::Connection& connection) {
        return put_experiment(connection, experiment, mode_);
    });
}

Result<Outcome> Copies::put(std::int64_t experiment, const RunCopy& copy)
{
    // Compared outside of the writer's turn: there may be millions of points.
    const auto tail = HistoryAccess::tail_reader(history_);
    auto& database = HistoryAccess::database(history_);
    const auto known =
        TRY(database.read([&](db::Connection& reader) -> Result<std::optional<Outcome>> {
            const auto stored = TRY(find_run_copy(reader, copy.run.id));
            if (!stored) return std::optional<Outcome>();
            return std::optional(TRY(check_run(reader, tail, *stored, copy)));
        }));
    if (known || mode_ == Mode::look) return known.value_or(Outcome::added);
    TRY(database.write(db::Durability::process, [&](db::Connection& writer) {
        return insert_run_copy(writer, experiment, copy);
    }));
    return Outcome::added;
}

Result<Outcome> Copies::put(const ModelCopy& copy, std::size_t& metrics_left_out)
{
    return run_work(history_, mode_, [&](db::Connection& connection) -> Result<Outcome> {
        if (const auto stored = TRY(find_model_copy(connection, copy.model.id))) {
            const auto difference = find_difference(*stored, copy);
            if (!difference) return Outcome::same;
            return other_content(fmt::format("model '{}' already exists", printable(copy.model.id)),
                                 *difference);
        }
        if (mode_ == Mode::store) TRY(insert_model_copy(connection, copy, metrics_left_out));
        return Outcome::added;
    });
}

Result<Outcome> Copies::put(const RegisteredCopy& copy)
{
    return run_work(history_, mode_, [&](db::Connection& connection) -> Result<Outcome> {
        if (const auto stored = TRY(find_registered_copy(connection, copy.model.name))) {
            const auto difference = find_difference(*stored, copy);
            if (!difference) return Outcome::same;
            return other_content(
                fmt::format("registered model '{}' already exists", printable(copy.model.name)),
                *difference);
        }
        if (mode_ == Mode::store) TRY(insert_registered_copy(connection, copy));
        return Outcome::added;
    });
}

Result<> Copies::finish()
{
    if (mode_ == Mode::look) return {};
    return history_.put_setting("imported", fmt::format("{}", wall_milliseconds()));
}

}  // namespace ponk::store
