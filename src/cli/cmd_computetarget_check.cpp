// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/interpreter.hpp"
#include "cli/named.hpp"
#include "cli/served.hpp"
#include "config/project.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {named::target_option};
constexpr Positional positionals[] = {named::target};

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const config::ComputeTarget target =
        TRY(config::load_target(project, TRY(named::name_of(words))));
    TRY(require_served(target));
    const Interpreter python = TRY(find_interpreter(target));
    return context.done(
        fmt::format(
            "target '{}' works: {} ({})", target.name, python.program.string(), python.version),
        {{"name", target.name},
         {"works", true},
         {"interpreter", python.program.string()},
         {"version", python.version}});
}

}  // namespace

constinit const Command cmd_computetarget_check = {
    .path = "computetarget check",
    .summary = "Try whether a compute target works",
    .options = options,
    .positionals = positionals,
    .run = run,
};

}  // namespace ponk::cli
