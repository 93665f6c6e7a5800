// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/travel_note.hpp"

#include "base/text.hpp"
#include "config/ignore/travel_rules.hpp"

namespace ponk::cli {

void note_what_travels(const Context& context, const os::Path& project, const os::Path& folder)
{
    std::error_code problem;
    const auto real = std::filesystem::canonical(folder, problem);
    if (problem || !project.is_absolute()) return;
    const auto home = std::filesystem::canonical(project, problem);
    if (problem) return;
    const auto place = real.lexically_relative(home);
    if (place.empty() || place == "." || *place.begin() == "..") return;
    const auto rules = config::TravelRules::load(home);
    if (!rules) return;
    const auto decision = rules->explain(place.native(), true);
    if (!decision || decision->fate != config::TravelRules::Fate::travels) return;
    context.note(
        "'{0}' lies in the project: its files travel with every further run. The line '/{0}/' in "
        ".amlignore leaves them out",
        printable(place.native()));
}

}  // namespace ponk::cli
