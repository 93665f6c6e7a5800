// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/run_row.hpp"
#include "store/search/run_filter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::store {

using model::Run;

namespace {

constexpr std::size_t shortest_part = 4;
constexpr std::size_t whole_id = 32;
constexpr std::size_t longest_number = 9;
constexpr std::size_t candidates_named = 6;
constexpr std::size_t largest_page = 10'000;

Result<std::optional<RunId>> newest(db::Connection& reader, std::string_view project)
{
    // Runs that a script made are parts of the one that was submitted, which is meant.
    constexpr std::string_view select =
        "SELECT id FROM run WHERE hidden = 0 AND deleted = 0 AND parent = '' {}"
        " ORDER BY row DESC LIMIT 1";
    auto statement = TRY(reader.prepare(fmt::format(
        select, project.empty() ? "" : "AND project = (SELECT row FROM project WHERE id = ?)")));
    if (!project.empty()) statement.bind(project);
    if (!TRY(statement.step())) return std::optional<RunId>();
    return std::optional(TRY(RunId::parse(statement.text(0))));
}

struct Candidate {
    RunId id;
    std::string script;
    std::string state;
};

// 'g' follows every hex digit, so the two bounds enclose what begins with the text.
Result<std::vector<Candidate>> candidates(db::Connection& reader, const std::string& part)
{
    auto statement = TRY(reader.prepare(
        "SELECT id, script_name, state, row FROM run WHERE id >= ?1 AND id < ?1 || 'g'"
        " UNION SELECT id, script_name, state, row FROM run"
        " WHERE reversed_id >= ?2 AND reversed_id < ?2 || 'g' ORDER BY row DESC LIMIT ?3"));
    statement.bind(part, reversed(part), static_cast<std::int64_t>(candidates_named + 1));
    std::vector<Candidate> found;
    while (TRY(statement.step())) {
        found.push_back(
            {TRY(RunId::parse(statement.text(0))), statement.text(1), statement.text(2)});
    }
    return found;
}

Error ambiguous(std::string_view text, const std::vector<Candidate>& found, const char* hint)
{
    std::vector<std::string> named;
    for (const auto& candidate : found) {
        if (named.size() == candidates_named) {
            named.emplace_back("…");
            break;
        }
        named.push_back(fmt::format(
            "{} ({}, {})", candidate.id.text(), printable(candidate.script), candidate.state));
    }
    return {ErrorKind::conflict,
            fmt::format("'{}' matches several runs: {}", printable(text), join(named, ", ")),
            hint};
}

Error no_run(std::string_view text)
{
    return {ErrorKind::not_found,
            fmt::format("there is no run '{}'", printable(text)),
            "'ponk history list' lists the runs."};
}

Error too_short(const std::string& text, std::string_view project)
{
    if (!project.empty() && parse_integer(text)) {
        return {ErrorKind::not_found,
                fmt::format("this project has no run with number '{}'", text),
                "'ponk runs' shows the numbers and ids of the runs."};
    }
    return {ErrorKind::invalid_argument,
            fmt::format("'{}' is too short for a run: give {} digits or more of its beginning or "
                        "end, or its number",
                        text,
                        shortest_part),
            "'ponk runs' lists the runs."};
}

Result<bool> is_known(db::Connection& reader, const std::string& whole)
{
    auto statement = TRY(reader.prepare("SELECT 1 FROM run WHERE id = ?"));
    statement.bind(whole);
    return statement.step();
}

// The run of that number, as the column "no" of a project's runs shows it. A sign or a leading zero
// makes no number.
Result<std::optional<Candidate>>
numbered(db::Connection& reader, const std::string& text, std::string_view project)
{
    const auto number = text.size() > longest_number ? std::nullopt : parse_integer(text);
    if (project.empty() || !number || std::to_string(*number) != text)
        return std::optional<Candidate>();
    auto statement = TRY(reader.prepare("SELECT id, script_name, state FROM run WHERE number = ?"
                                        " AND project = (SELECT row FROM project WHERE id = ?)"));
    statement.bind(*number, project);
    if (!TRY(statement.step())) return std::optional<Candidate>();
    return std::optional(
        Candidate{TRY(RunId::parse(statement.text(0))), statement.text(1), statement.text(2)});
}

// The runs of that name, in the project or in all of them.
Result<std::vector<Candidate>>
called(db::Connection& reader, std::string_view name, std::string_view project)
{
    auto statement = TRY(reader.prepare(fmt::format(
        "SELECT id, script_name, state FROM run WHERE name = ? {} ORDER BY row DESC LIMIT {}",
        project.empty() ? "" : "AND project = (SELECT row FROM project WHERE id = ?)",
        candidates_named + 1)));
    if (project.empty()) {
        statement.bind(name);
    } else {
        statement.bind(name, project);
    }
    std::vector<Candidate> found;
    while (TRY(statement.step()))
        found.push_back(
            {TRY(RunId::parse(statement.text(0))), statement.text(1), statement.text(2)});
    return found;
}

Result<RunId>
resolve_part(db::Connection& reader, const std::string& text, std::string_view project)
{
    // What programs send: one look into one index.
    if (text.size() == whole_id && TRY(is_known(reader, text))) return RunId::parse(text);
    const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (text.size() > whole_id || !std::all_of(text.begin(), text.end(), hex))
        return tl::unexpected(no_run(text));
    const auto by_number = TRY(numbered(reader, text, project));
    if (text.size() < shortest_part && !by_number) return tl::unexpected(too_short(text, project));
    auto found =
        text.size() < shortest_part ? std::vector<Candidate>() : TRY(candidates(reader, text));
    const auto same = [&](const Candidate& other) { return other.id == by_number->id; };
    if (by_number && std::none_of(found.begin(), found.end(), same)) found.push_back(*by_number);
    if (found.empty()) return tl::unexpected(no_run(text));
    if (found.size() > 1)
        return tl::unexpected(ambiguous(text, found, "Give more digits of the run id."));
    return found.front().id;
}

}  // namespace

Result<RunId> History::resolve_run(std::string_view text, std::string_view project) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<RunId> {
        if (text != "last") {
            auto by_id = resolve_part(reader, lower(text), project);
            // A name hides no id.
            if (by_id || by_id.error().kind() == ErrorKind::conflict || text.empty()) return by_id;
            const auto found = TRY(called(reader, text, project));
            if (found.empty()) return by_id;
            if (found.size() == 1) return found.front().id;
            return tl::unexpected(ambiguous(text, found, "Give the id of one of them."));
        }
        const auto found = TRY(newest(reader, project));
        if (found) return *found;
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  project.empty() ? "there are no runs yet" : "this project has no runs yet",
                  "Start one: ponk experiment submit SCRIPT"));
    });
}

Result<RunPage> History::list_runs(const RunFilter& filter) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<RunPage> {
        const auto limit = std::clamp<std::size_t>(filter.limit, 1, largest_page);
        auto statement = TRY(select_filtered(reader, filter, Order::newest_first, limit + 1));
        RunPage page;
        std::size_t bytes = 0;
        while (TRY(statement.step())) {
            if (page.runs.size() == limit || bytes >= enough_text) {
                page.next = page.runs.back().id;
                break;
            }
            auto stored = TRY(read_run(reader, statement));
            bytes += stored.bytes;
            page.runs.push_back(std::move(stored.run));
        }
        return page;
    });
}

Result<std::vector<Run>> History::active_runs() const
{
    return impl_->database->read([](db::Connection& reader) -> Result<std::vector<Run>> {
        std::vector<std::string> words;
        for (int i = 0; i <= static_cast<int>(model::RunState::lost); ++i) {
            const auto state = static_cast<model::RunState>(i);
            if (!model::is_terminal(state))
                words.push_back(fmt::format("'{}'", model::to_string(state)));
        }
        auto statement = TRY(reader.prepare(
            fmt::format("{} WHERE state IN ({}) AND run.origin = 'engine' ORDER BY run.row",
                        select_runs,
                        join(words, ", "))));
        std::vector<Run> runs;
        while (TRY(statement.step()))
            runs.push_back(TRY(read_run(reader, statement)).run);
        return runs;
    });
}

}  // namespace ponk::store
