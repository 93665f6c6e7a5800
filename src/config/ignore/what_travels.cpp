// SPDX-License-Identifier: Apache-2.0
#include "config/ignore/what_travels.hpp"

#include "base/text.hpp"
#include "os/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>

namespace ponk::config {

namespace {

constexpr std::size_t parts_named = 3;

struct Waiting {
    std::string path;
    std::size_t part;  // the entry of the project's folder that it belongs to
};

}  // namespace

Result<WhatTravels>
what_travels(const os::Path& project,
             const TravelRules& rules,
             const std::function<bool(std::string_view path, bool is_directory)>& ignored,
             std::stop_token stop)
{
    const auto root = TRY(os::open_file(project, O_RDONLY | O_DIRECTORY));
    WhatTravels out;
    std::vector<WhatTravels::Part> parts;
    std::vector<Waiting> waiting{{"", 0}};
    os::NameList list;
    while (!waiting.empty()) {
        const auto next = std::move(waiting.back());
        waiting.pop_back();
        const os::Fd fd(os::open_folder_beneath(root.get(), next.path));
        if (fd.get() < 0 || list.read(fd.get()) != 0) {
            return fail(
                ErrorKind::unavailable, "cannot list {}", os::in_quotes(project / next.path));
        }
        const auto here = TRY(rules.folder(next.path));
        for (const auto& name : list.names()) {
            if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
            const auto path = (next.path.empty() ? "" : next.path + "/") + std::string(name.text);
            const bool is_folder = name.type == DT_DIR;
            const auto shown = path + (is_folder ? "/" : "");
            const auto decision = TRY(rules.decide(*here, path, is_folder));
            if (decision.fate == TravelRules::Fate::left_out) {
                if (!decision.own) out.left_out.push_back({shown, decision.rule});
                continue;
            }
            if (ignored && ignored(path, is_folder)) continue;
            const auto part = next.path.empty() ? parts.size() : next.part;
            if (next.path.empty()) parts.push_back({shown, 0});
            if (is_folder) {
                waiting.push_back({path, part});
                continue;
            }
            os::FileStatus status;
            if (os::status_at(fd.get(), name.text.data(), status) != 0 || !status.is_file())
                continue;
            if (!decision.rule.empty() && TravelRules::may_hold_secrets(name.text))
                out.tracked_secrets.push_back(path);
            ++out.files;
            out.bytes += status.size;
            parts[part].bytes += status.size;
        }
    }
    std::sort(parts.begin(), parts.end(), [](const auto& left, const auto& right) {
        return left.bytes != right.bytes ? left.bytes > right.bytes : left.name < right.name;
    });
    parts.resize(std::min(parts.size(), parts_named));
    out.largest = std::move(parts);
    std::sort(out.left_out.begin(), out.left_out.end(), [](const auto& left, const auto& right) {
        return left.path < right.path;
    });
    std::sort(out.tracked_secrets.begin(), out.tracked_secrets.end());
    return out;
}

std::string secrets_notice(const std::vector<std::string>& paths)
{
    constexpr std::size_t most_named = 3;
    std::vector<std::string> shown;
    for (const auto& path : paths) {
        if (shown.size() == most_named) break;
        shown.push_back("'" + printable(path) + "'");
    }
    auto text = join(shown, ", ");
    if (paths.size() > most_named) text += fmt::format(" and {} more", paths.size() - most_named);
    return text + (paths.size() == 1
                       ? " may hold secrets, and travels with the run because git tracks it; a "
                         "line of .amlignore with its path keeps it out"
                       : " may hold secrets, and travel with the run because git tracks them; "
                         "lines of .amlignore with their paths keep them out");
}

}  // namespace ponk::config
