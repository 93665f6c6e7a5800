// SPDX-License-Identifier: Apache-2.0
#include "cli/asset_link.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "os/directory.hpp"

namespace ponk::cli {
namespace {

Outcome run(Context& context, const Invocation& /*words*/)
{
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
    return context.print(Json(std::move(assets)));
}

}  // namespace

constinit const Command cmd_asset_list = {
    .path = "asset list",
    .summary = "List the project's assets: promoted files of runs",
    .run = run,
};

}  // namespace ponk::cli
