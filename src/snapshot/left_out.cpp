// SPDX-License-Identifier: Apache-2.0
#include "snapshot/left_out.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::snapshot {

namespace {

constexpr std::uint32_t names_of_folder = 4;
constexpr std::size_t names_in_summary = 4;
constexpr std::size_t most_names = 1000;

std::string count_text(std::uint64_t count, std::string_view what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

void LeftOutNames::add(std::string_view name, bool is_folder)
{
    // Few, and folders before files: a folder stands for more.
    const auto shown = is_folder ? folders : files;
    if (shown < names_of_folder) {
        text += is_folder ? 'd' : 'f';
        text.append(name).push_back('/');
    }
    ++(is_folder ? folders : files);
}

void LeftOutNames::add_to(LeftOut& all, std::string_view folder) const
{
    all.files += files;
    all.folders += folders;
    for (const auto& entry : split(text, '/')) {
        if (entry.size() < 2 || all.names.size() == most_names) continue;
        auto name = folder.empty() ? std::string() : std::string(folder) + "/";
        name.append(entry, 1);
        if (entry[0] == 'd') name += '/';
        all.names.push_back(std::move(name));
    }
}

void LeftOut::forget(const std::string& path)
{
    if (std::erase(names, path + "/") > 0) --folders;
    if (std::erase(names, path) > 0) --files;
}

std::string LeftOut::summary() const
{
    std::vector<std::string> shown;
    std::uint64_t more_files = files;
    std::uint64_t more_folders = folders;
    for (const auto& name : names) {
        if (shown.size() == names_in_summary) break;
        shown.push_back(printable(name));
        --(name.ends_with('/') ? more_folders : more_files);
    }
    std::vector<std::string> more;
    if (more_folders > 0) more.push_back(count_text(more_folders, "folder"));
    if (more_files > 0) more.push_back(count_text(more_files, "file"));
    auto text = "left out: " + join(shown, ", ");
    if (!more.empty()) text += fmt::format(" and {} more", join(more, " and "));
    return text;
}

}  // namespace ponk::snapshot
