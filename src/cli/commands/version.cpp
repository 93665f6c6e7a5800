// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace version_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    if (context.asked_format() || context.has_query()) {
        return context.print(JsonObject{{"name", "ponk"}, {"version", own_version()}});
    }
    TRY(Context::print_text(fmt::format("ponk {}\n", own_version())));
    return exit_code::success;
}

}  // namespace version_command

constinit const Command cmd_version = {
    .path = "version",
    .summary = "Print the version",
    .history = Command::History::none,
    .run = version_command::run,
};

}  // namespace ponk::cli
