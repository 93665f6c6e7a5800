// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/find_project.hpp"

#include "base/text.hpp"

#include <filesystem>

namespace ponk::cli {

Result<Json> find_project(Context& context, const std::string& wanted)
{
    const Json answer = TRY(TRY(context.daemon())->get("/projects"));
    std::vector<const Json*> found;
    std::vector<std::string> all;
    std::error_code problem;
    const std::string path = std::filesystem::weakly_canonical(wanted, problem).string();
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
