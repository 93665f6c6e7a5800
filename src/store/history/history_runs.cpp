// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/event_row.hpp"
#include "store/rows/project_row.hpp"
#include "store/rows/run_row.hpp"

#include <algorithm>

namespace ponk::store {

using model::Run;

namespace {

Result<bool> number_is_free(db::Connection& writer, std::int64_t project, std::int64_t number)
{
    auto statement = TRY(writer.prepare("SELECT 1 FROM run WHERE project = ? AND number = ?"));
    statement.bind(project, number);
    return !TRY(statement.step());
}

// Keeps the number a run had before, as long as nobody else got it.
Result<std::int64_t> number_again(db::Connection& writer, std::int64_t project, std::int64_t number)
{
    if (number <= 0 || !TRY(number_is_free(writer, project, number)))
        return next_run_number(writer, project);
    auto raise =
        TRY(writer.prepare("UPDATE project SET last_number = max(last_number, ?) WHERE row = ?"));
    TRY(raise.bind(number, project).run());
    return number;
}

// A folder that is used is not gone, whatever a client said of its experiment. Runs that were
// deleted with it stay so.
Result<> bring_back(db::Connection& writer, std::int64_t project)
{
    auto update = TRY(writer.prepare(
        "UPDATE project SET deleted = 0, updated = ? WHERE row = ? AND deleted <> 0"));
    return update.bind(wall_milliseconds(), project).run();
}

}  // namespace

Result<Created> History::create_run(const Run& run)
{
    if (run.id.empty()) return fail(ErrorKind::invalid_argument, "a run without an id");
    if (run.project.empty())
        return fail(ErrorKind::invalid_argument, "run '{}' has no project", run.id.text());
    return impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<Created> {
            if (auto known = TRY(find_stored_run(writer, run.id)))
                return Created{std::move(known->run), false};
            const auto project = TRY(ensure_project(writer, run.project, run.project_path));
            TRY(bring_back(writer, project));
            Run made = run;
            if (made.created == 0) made.created = wall_milliseconds();
            made.number = TRY(next_run_number(writer, project));
            const auto row = TRY(insert_run(writer, project, made));
            constexpr auto first = model::RunState::not_started;
            TRY(insert_event(writer, row, "state", model::to_string(first)));
            if (made.state != first)
                TRY(insert_event(writer, row, "state", model::to_string(made.state)));
            return Created{std::move(made), true};
        });
}

Result<std::size_t> History::import_runs(std::vector<Run> runs)
{
    // Rows count up in the order of birth, which ids have.
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.id < b.id; });
    return impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<std::size_t> {
            std::size_t added = 0;
            for (auto& run : runs) {
                if (TRY(find_stored_run(writer, run.id))) continue;
                const auto project = TRY(ensure_project(writer, run.project, run.project_path));
                run.number = TRY(number_again(writer, project, run.number));
                const auto row = TRY(insert_run(writer, project, run));
                TRY(insert_event(writer, row, "notice", "read back from its run directory"));
                ++added;
            }
            return added;
        });
}

Result<std::optional<Run>> History::find_run(const RunId& id) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::optional<Run>> {
        auto found = TRY(find_stored_run(reader, id));
        if (!found) return std::optional<Run>();
        return std::optional(std::move(found->run));
    });
}

Result<std::optional<model::RunState>> History::find_state(const RunId& id) const
{
    return impl_->database->read(
        [&](db::Connection& reader) -> Result<std::optional<model::RunState>> {
            auto statement = TRY(reader.prepare("SELECT state FROM run WHERE id = ?"));
            statement.bind(id.text());
            if (!TRY(statement.step())) return std::optional<model::RunState>();
            return model::parse_run_state(statement.text(0));
        });
}

Result<Run> History::get_run(const RunId& id) const
{
    return impl_->database->read(
        [&](db::Connection& reader) -> Result<Run> { return TRY(get_stored_run(reader, id)).run; });
}

Result<>
History::set_tag(const RunId& id, const std::string& key, const std::optional<std::string>& value)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_run_row(writer, id));
        if (!value) {
            auto remove = TRY(writer.prepare("DELETE FROM tag WHERE run = ? AND key = ?"));
            return remove.bind(row, key).run();
        }
        auto put =
            TRY(writer.prepare("INSERT OR REPLACE INTO tag(run, key, value) VALUES(?, ?, ?)"));
        return put.bind(row, key, *value).run();
    });
}

Result<> History::delete_run(const RunId& id)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto stored = TRY(get_stored_run(writer, id));
        // Nobody can tell whether the client of a run is still there.
        if (!model::is_terminal(stored.run.state) && !TRY(is_client_run(writer, stored.row))) {
            return tl::unexpected(Error(ErrorKind::conflict,
                                        fmt::format("run '{}' is {} and cannot be deleted",
                                                    id.text(),
                                                    model::to_string(stored.run.state)),
                                        "Cancel it first: ponk experiment cancel " + id.brief()));
        }
        auto promoted =
            TRY(writer.prepare("SELECT name, version FROM asset WHERE run = ? LIMIT 1"));
        promoted.bind(id.text());
        if (TRY(promoted.step())) {
            return tl::unexpected(Error(ErrorKind::conflict,
                                        fmt::format("run '{}' holds version {} of the asset '{}'",
                                                    id.text(),
                                                    promoted.integer(1),
                                                    promoted.text(0)),
                                        "The asset uses the files of this run: keep the run."));
        }
        auto opinions = TRY(writer.prepare("DELETE FROM assessment WHERE run = ?"));
        TRY(opinions.bind(id.text()).run());
        auto remove = TRY(writer.prepare("DELETE FROM run WHERE row = ?"));
        return remove.bind(stored.row).run();
    });
}

Result<std::int64_t>
History::append_event(const RunId& id, const std::string& kind, const std::string& text)
{
    return impl_->database->write(
        db::Durability::process, [&](db::Connection& writer) -> Result<std::int64_t> {
            return insert_event(writer, TRY(get_run_row(writer, id)), kind, text);
        });
}

Result<std::vector<Event>>
History::events(const RunId& id, std::int64_t after, std::size_t limit) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<Event>> {
        return read_events(reader, TRY(get_run_row(reader, id)), after, limit);
    });
}

}  // namespace ponk::store
