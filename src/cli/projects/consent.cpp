// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/consent.hpp"

#include "cli/terminal/ask.hpp"
#include "config/consents/consents.hpp"

namespace ponk::cli {

Result<> ask_for_consents(Context& context,
                          const os::Path& project,
                          const config::ResolvedConfiguration& resolved)
{
    if (!has_terminal()) return {};
    config::Consents consents(TRY(context.home()));
    const auto asked = TRY(consents.missing(project, TRY(config::requests_of(resolved))));
    for (const auto& request : asked) {
        TRY(confirm(fmt::format("Project {} requests {}. Allow this from now on?",
                                os::in_quotes(project),
                                request.text())));
        TRY(consents.add({request.kind, config::project_name_in_consents(project), request.what}));
    }
    return {};
}

}  // namespace ponk::cli
