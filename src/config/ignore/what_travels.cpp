// SPDX-License-Identifier: Apache-2.0
#include "config/ignore/what_travels.hpp"

#include "config/ignore/travel_rules.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>

namespace ponk::config {

Result<WhatTravels> what_travels(const os::Path& project)
{
    const auto rules = TRY(TravelRules::load(project));
    const auto root = TRY(os::open_file(project, O_RDONLY | O_DIRECTORY));
    WhatTravels out;
    std::vector<std::string> waiting{""};
    os::NameList list;
    while (!waiting.empty()) {
        const auto folder = std::move(waiting.back());
        waiting.pop_back();
        const os::Fd fd(os::open_folder_beneath(root.get(), folder));
        if (fd.get() < 0 || list.read(fd.get()) != 0)
            return fail(ErrorKind::unavailable, "cannot list {}", os::in_quotes(project / folder));
        const auto here = TRY(rules.folder(folder));
        for (const auto& name : list.names()) {
            const auto path = (folder.empty() ? "" : folder + "/") + std::string(name.text);
            const bool is_folder = name.type == DT_DIR;
            const auto decision = TRY(rules.decide(*here, path, is_folder));
            if (decision.fate == TravelRules::Fate::left_out) {
                if (!decision.own)
                    out.left_out.push_back({path + (is_folder ? "/" : ""), decision.rule});
                continue;
            }
            if (is_folder) {
                waiting.push_back(path);
                continue;
            }
            os::FileStatus status;
            if (os::status_at(fd.get(), name.text.data(), status) != 0 || !status.is_file())
                continue;
            ++out.files;
            out.bytes += status.size;
        }
    }
    std::sort(out.left_out.begin(), out.left_out.end(), [](const auto& left, const auto& right) {
        return left.path < right.path;
    });
    return out;
}

}  // namespace ponk::config
