// SPDX-License-Identifier: Apache-2.0
#include "store/history/saved_views.hpp"

#include "base/text.hpp"
#include "store/history/history.hpp"
#include "store/history/history_access.hpp"

#include <optional>

namespace ponk::store {

namespace {

// With all views of all projects: they are read as a whole.
constexpr std::int64_t most_views = 1000;

constexpr std::string_view all_begin = "view:";
constexpr std::string_view all_end = "view;";

std::string place_of(const std::string& project, const std::string& name)
{
    return SavedViews::first_place(project) + name;
}

std::optional<SavedView> view_at(std::string_view place)
{
    place.remove_prefix(all_begin.size());
    const auto colon = place.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return SavedView{std::string(place.substr(0, colon)), std::string(place.substr(colon + 1)), {}};
}

Error no_view(const std::string& name)
{
    return {ErrorKind::not_found, fmt::format("there is no view '{}'", printable(name)), ""};
}

Result<bool> has_view(db::Connection& reader, const std::string& place)
{
    auto statement = TRY(reader.prepare("SELECT 1 FROM setting WHERE name = ?"));
    statement.bind(place);
    return statement.step();
}

}  // namespace

std::string SavedViews::first_place(const std::string& project)
{
    return std::string(all_begin) + project + ":";
}

std::string SavedViews::end_place(const std::string& project)
{
    return std::string(all_begin) + project + ";";
}

Result<std::vector<SavedView>> SavedViews::list() const
{
    return HistoryAccess::database(*history_).read(
        [&](db::Connection& reader) -> Result<std::vector<SavedView>> {
            auto statement = TRY(reader.prepare(
                "SELECT name, value FROM setting WHERE name >= ? AND name < ? ORDER BY name"));
            statement.bind(std::string(all_begin), std::string(all_end));
            std::vector<SavedView> views;
            while (TRY(statement.step())) {
                if (auto view = view_at(statement.text(0))) {
                    view->text = statement.text(1);
                    views.push_back(std::move(*view));
                }
            }
            return views;
        });
}

Result<bool> SavedViews::put(const SavedView& view)
{
    return HistoryAccess::database(*history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<bool> {
            const auto place = place_of(view.project, view.name);
            const bool fresh = !TRY(has_view(writer, place));
            auto count =
                TRY(writer.prepare("SELECT count(*) FROM setting WHERE name >= ? AND name < ?"));
            count.bind(std::string(all_begin), std::string(all_end));
            if (fresh && TRY(count.step()) && count.integer(0) >= most_views)
                return fail(ErrorKind::conflict, "there are {} views already", most_views);
            auto put =
                TRY(writer.prepare("INSERT OR REPLACE INTO setting(name, value) VALUES(?, ?)"));
            TRY(put.bind(place, view.text).run());
            return fresh;
        });
}

Result<>
SavedViews::rename(const std::string& project, const std::string& name, const std::string& to)
{
    return HistoryAccess::database(*history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto from = place_of(project, name);
            const auto place = place_of(project, to);
            if (!TRY(has_view(writer, from))) return tl::unexpected(no_view(name));
            if (from != place && TRY(has_view(writer, place)))
                return fail(ErrorKind::conflict, "a view '{}' already exists", printable(to));
            auto rename = TRY(writer.prepare("UPDATE setting SET name = ? WHERE name = ?"));
            return rename.bind(place, from).run();
        });
}

Result<> SavedViews::remove(const std::string& project, const std::string& name)
{
    return HistoryAccess::database(*history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto place = place_of(project, name);
            if (!TRY(has_view(writer, place))) return tl::unexpected(no_view(name));
            auto remove = TRY(writer.prepare("DELETE FROM setting WHERE name = ?"));
            return remove.bind(place).run();
        });
}

}  // namespace ponk::store
