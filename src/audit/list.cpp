// SPDX-License-Identifier: Apache-2.0
#include "audit/list.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <deque>

namespace ponk::audit {

namespace {

bool is_chosen(const Json& record, const Selection& selection, std::int64_t time)
{
    if (selection.since && time < *selection.since) return false;
    if (!selection.who.empty() && record.text("who") != selection.who) return false;
    return selection.outcome == Selection::Outcome::any || record.text("outcome") == "refused";
}

}  // namespace

Result<JsonArray> list(const Path& home, const Selection& selection)
{
    const auto most = selection.limit == 0 ? SIZE_MAX : selection.limit;
    std::deque<Json> chosen;
    const auto files = TRY(list_files(home));
    for (auto file = files.rbegin(); file != files.rend() && chosen.size() < most; ++file) {
        std::deque<Json> here;
        bool reaches_back = false;  // behind the time that was asked for
        const auto room = most - chosen.size();
        TRY(for_each_line(file->path, [&](std::string_view text, std::int64_t) -> Result<> {
            auto record = parse_json(text);
            if (!record || !record->is_object()) return {};
            const auto time = parse_utc(record->text("time")).value_or(0);
            if (selection.since && time < *selection.since) reaches_back = true;
            if (!is_chosen(*record, selection, time)) return {};
            here.push_back(std::move(*record));
            if (here.size() > room) here.pop_front();
            return {};
        }));
        chosen.insert(chosen.begin(),
                      std::make_move_iterator(here.begin()),
                      std::make_move_iterator(here.end()));
        if (reaches_back) break;
    }
    return JsonArray(std::make_move_iterator(chosen.begin()),
                     std::make_move_iterator(chosen.end()));
}

}  // namespace ponk::audit
