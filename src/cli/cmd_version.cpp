// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"

namespace ponk::cli {
namespace {

Outcome run(Context& context, const Invocation& /*words*/)
{
    if (context.asked_format() || context.has_query()) {
        return context.print(JsonObject{{"name", "ponk"}, {"version", PONK_VERSION}});
    }
    TRY(Context::print_text("ponk " PONK_VERSION "\n"));
    return exit_code::success;
}

}  // namespace

constinit const Command cmd_version = {
    .path = "version",
    .summary = "Print the version",
    .run = run,
};

}  // namespace ponk::cli
