// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace environment_remove_command {

constexpr Positional positionals[] = {common::environment};
constexpr Option options[] = {common::machine, common::needless_yes};
constexpr Example examples[] = {
    {"ponk environment remove 4f1e",
     "Free its disk space. The next run that needs it builds it again."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string path = "/environments/" + net::percent_encode(*words.word(0)) +
                             machine_parameter(words.value("machine"));
    const Json answer =
        TRY(TRY(context.daemon())
                ->send("DELETE", path, {}, Daemon::Repeat::never, std::chrono::minutes(5)));
    const auto id = answer.text("removed");
    if (const Json& held = answer["held_by"]; held.is_array() && !held.as_array().empty()) {
        const auto& names = held.as_array();
        const auto first = names.front().is_string() ? names.front().as_string() : "";
        context.note("hint: 'ponk experiment clean RUN' removes the container of a run, 'docker rm "
                     "NAME' any other container; the space is free when the last one is removed");
        return context.done(
            fmt::format("environment '{}' is removed, but its space is not free yet: {} it, for "
                        "example '{}'",
                        id,
                        names.size() == 1
                            ? "1 stopped container still uses"
                            : fmt::format("{} stopped containers still use", names.size()),
                        printable(first)),
            answer.as_object());
    }
    const auto freed = std::max<std::int64_t>(answer.integer("freed_bytes"), 0);
    return context.done(fmt::format("environment '{}' is removed; {} freed",
                                    id,
                                    byte_size_text(static_cast<std::uint64_t>(freed))),
                        answer.as_object());
}

}  // namespace environment_remove_command

constinit const Command cmd_environment_remove = {
    .path = "environment remove",
    .summary = "Remove an environment",
    .description =
        "An environment that a run is using is not removed. Each run's record keeps its list of "
        "packages: 'ponk experiment rerun' builds exactly the same environment again.",
    .options = environment_remove_command::options,
    .positionals = environment_remove_command::positionals,
    .examples = environment_remove_command::examples,
    .exits = "73 if a run is using it.",
    .run = environment_remove_command::run,
};

}  // namespace ponk::cli
