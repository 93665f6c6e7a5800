// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/asset/asset_link.hpp"
#include "cli/commands/asset/asset_versions.hpp"
#include "cli/commands/commands.hpp"
#include "os/directory.hpp"

namespace ponk::cli {
namespace asset_list_command {

constexpr Option options[] = {
    {.name = "name", .brief = "n", .value = "NAME", .help = "List all versions of this asset."},
};
constexpr Example examples[] = {
    {"ponk asset list", "List the newest version of each asset."},
    {"ponk asset list --name model.pkl", "List every version and the run that it came from."},
};

Outcome run(Context& context, const Invocation& words)
{
    if (const auto name = words.value("name")) {
        return context.print(Json(TRY(asset_versions(context, *name))));
    }
    // Links are files of a project's folder, which a server has not.
    if (context.asks_server()) return context.print(Json(TRY(newest_assets(context))));
    const os::Path folder = TRY(context.project()) / "assets";
    const auto entries = os::list_directory(folder);
    JsonArray assets;
    if (!entries && entries.error().kind() != ErrorKind::not_found) {
        return tl::unexpected(Failure(entries.error()));
    }
    if (entries) {
        for (const os::Entry& entry : *entries) {
            if (!entry.name.ends_with(".link")) continue;
            const auto link = read_asset_link(folder / entry.name);
            if (!link) {
                context.note("{}", link.error().message());
                continue;
            }
            assets.push_back(JsonObject{{"name", link->name},
                                        {"version", link->version},
                                        {"run_id", link->run_id},
                                        {"artifact", link->artifact},
                                        {"link", "assets/" + entry.name}});
        }
    }
    if (assets.empty() && context.format() == output::Format::table) {
        context.note("no assets yet: ponk history promote RUN --artifact-path FILE --name NAME");
    }
    return context.print(Json(std::move(assets)));
}

}  // namespace asset_list_command

constinit const Command cmd_asset_list = {
    .path = "asset list",
    .summary = "List the project's assets (promoted files of runs)",
    .options = asset_list_command::options,
    .examples = asset_list_command::examples,
    .history = Command::History::any,
    .run = asset_list_command::run,
};

}  // namespace ponk::cli
