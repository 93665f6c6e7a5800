// SPDX-License-Identifier: Apache-2.0
#include "cli/client/named_project.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::cli {

Result<Json> find_named_project(Daemon& daemon, const std::string& wanted, const std::string& path)
{
    const Json answer = TRY(daemon.get("/projects"));
    std::vector<const Json*> found;
    std::vector<std::string> all;
    if (answer["projects"].is_array()) {
        for (const Json& project : answer["projects"].as_array()) {
            if (project.text("id") == wanted || project.text("path") == path) return project;
            if (project.text("name") == wanted) found.push_back(&project);
            all.push_back(project.text("name"));
        }
    }
    if (found.size() == 1) return *found[0];
    if (found.size() > 1) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("{} projects are called '{}'", found.size(), wanted),
                  "Use its folder or id instead; 'ponk project list' shows them."));
    }
    const auto near = nearest(wanted, all);
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("no project '{}' in the history", printable(wanted)),
                                near ? fmt::format("Did you mean '{}'?", *near)
                                     : "'ponk project list' lists the projects that have runs."));
}

}  // namespace ponk::cli
