// SPDX-License-Identifier: Apache-2.0
#include "audit/list.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <deque>

namespace ponk::audit {

namespace {

bool has_conditions(const Selection& selection)
{
    return selection.since || !selection.who.empty() ||
           selection.outcome != Selection::Outcome::any;
}

bool is_chosen(const Json& record, const Selection& selection)
{
    if (!record.is_object()) return false;
    if (selection.since && parse_utc(record.text("time")).value_or(0) < *selection.since)
        return false;
    if (!selection.who.empty() && record.text("who") != selection.who) return false;
    return selection.outcome == Selection::Outcome::any || record.text("outcome") == "refused";
}

Result<> visit_chosen(std::string_view line,
                      const Selection& selection,
                      const std::function<Result<>(Json record)>& visit)
{
    auto record = parse_json(line);
    if (!record || !is_chosen(*record, selection)) return {};
    return visit(std::move(*record));
}

// Those that may have records of the time that was asked for.
Result<std::vector<LogFile>> files_of(const Path& home, const Selection& selection)
{
    auto files = TRY(list_files(home));
    if (selection.since)
        std::erase_if(files, [&](const LogFile& file) {
            return file.modified + 1000 < *selection.since;  // it is known to the second
        });
    return files;
}

// The newest lines, as many as `selection` has room for. They are read as JSON only where a
// condition needs that.
Result<std::deque<std::string>> newest_lines(const Path& home, const Selection& selection)
{
    std::deque<std::string> newest;
    const auto files = TRY(files_of(home, selection));
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        if (newest.size() >= selection.limit) break;
        std::deque<std::string> here;
        const auto room = selection.limit - newest.size();
        TRY(for_each_line(file->path, [&](std::string_view line, std::int64_t) -> Result<> {
            if (has_conditions(selection)) {
                const auto record = parse_json(line);
                if (!record || !is_chosen(*record, selection)) return {};
            }
            here.emplace_back(line);
            if (here.size() > room) here.pop_front();
            return {};
        }));
        newest.insert(newest.begin(),
                      std::make_move_iterator(here.begin()),
                      std::make_move_iterator(here.end()));
    }
    return newest;
}

}  // namespace

Result<> for_each_record(const Path& home,
                         const Selection& selection,
                         const std::function<Result<>(Json record)>& visit)
{
    if (selection.limit > 0) {
        for (const auto& line : TRY(newest_lines(home, selection)))
            TRY(visit_chosen(line, selection, visit));
        return {};
    }
    for (const auto& file : TRY(files_of(home, selection))) {
        TRY(for_each_line(file.path, [&](std::string_view line, std::int64_t) {
            return visit_chosen(line, selection, visit);
        }));
    }
    return {};
}

Result<JsonArray> list(const Path& home, const Selection& selection)
{
    JsonArray records;
    TRY(for_each_record(home, selection, [&](Json record) -> Result<> {
        records.push_back(std::move(record));
        return {};
    }));
    return records;
}

}  // namespace ponk::audit
