// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/named.hpp"
#include "config/write.hpp"

#include <cerrno>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {named::configuration_option};
constexpr Positional positionals[] = {named::configuration};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(config::check_name("run configuration", name));
    const os::Path file = TRY(context.project()) / "aml_config" / (name + ".runconfig");
    if (::unlink(file.c_str()) != 0) {
        return tl::unexpected(Failure(
            system_error(
                errno, fmt::format("run configuration '{}': remove {}", name, os::in_quotes(file)))
                .with_hint("'ponk runconfig list' lists the configurations.")));
    }
    return context.done(fmt::format("run configuration '{}' is deleted", name),
                        {{"deleted", name}});
}

}  // namespace

constinit const Command cmd_runconfiguration_delete = {
    .path = "runconfiguration delete",
    .summary = "Delete a run configuration",
    .options = options,
    .positionals = positionals,
    .run = run,
};

}  // namespace ponk::cli
