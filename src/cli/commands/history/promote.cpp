// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

#include <algorithm>

namespace ponk::cli {
namespace history_promote_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "artifact-path",
     .brief = "ap",
     .value = "PATH",
     .help = "The file of the run to promote: 'outputs/model.pkl'."},
    {.name = "name", .brief = "n", .value = "NAME", .help = "Name of the asset."},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk history promote -r 4f1e -ap outputs/model.pkl -n model.pkl",
     "Write assets/model.pkl.link. Each promotion under the same name creates a new version."},
};

// "./outputs/F" and "outputs\\F", as scripts of 2017 name it.
std::string artifact_of(std::string path)
{
    if (path.find('/') == path.npos) std::replace(path.begin(), path.end(), '\\', '/');
    return os::Path(path).lexically_normal().native();
}

Outcome run(Context& context, const Invocation& words)
{
    for (const std::string_view needed : {"artifact-path", "name"}) {
        if (!words.has(needed)) return fail_usage("'history promote' needs '--{}'", needed);
    }
    const Json record = TRY(context.run(TRY(run_name(words))));
    const Json answer =
        TRY(TRY(context.daemon())
                ->send("POST",
                       "/runs/" + record.text("run_id") + "/promote",
                       JsonObject{{"artifact", artifact_of(words.text("artifact-path"))},
                                  {"name", words.text("name")}}));
    return context.print(answer);
}

}  // namespace history_promote_command

constinit const Command cmd_history_promote = {
    .path = "history promote",
    .summary = "Make a file of a run a named, versioned asset",
    .options = history_promote_command::options,
    .positionals = history_promote_command::positionals,
    .examples = history_promote_command::examples,
    .run = history_promote_command::run,
};

}  // namespace ponk::cli
