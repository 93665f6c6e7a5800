// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace {

constexpr Positional positionals[] = {common::environment};
constexpr Option options[] = {common::machine};
constexpr Example examples[] = {
    {"ponk environment remove 4f1e", "Free its space; a run that needs it builds it again."},
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
                     "NAME' any other; the last one to go frees the space");
        return context.done(
            fmt::format("environment '{}' is removed; its space is not free yet: {} made of it, "
                        "such as '{}'",
                        id,
                        names.size() == 1
                            ? "a container that ended is"
                            : fmt::format("{} containers that ended are", names.size()),
                        printable(first)),
            answer.as_object());
    }
    const auto freed = std::max<std::int64_t>(answer.integer("freed_bytes"), 0);
    return context.done(fmt::format("environment '{}' is removed, {} are free again",
                                    id,
                                    byte_size_text(static_cast<std::uint64_t>(freed))),
                        answer.as_object());
}

}  // namespace

constinit const Command cmd_environment_remove = {
    .path = "environment remove",
    .summary = "Remove an environment that was built",
    .description = "One that a run uses is not removed. Records of runs keep their list of "
                   "packages: 'rerun' builds exactly that again.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .exits = "73: a run uses it.",
    .run = run,
};

}  // namespace ponk::cli
