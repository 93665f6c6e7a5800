// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset/asset_versions.hpp"

#include "base/text.hpp"
#include "cli/syntax/suggest.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace {

// `filter` is empty or "?name=…".
Result<JsonArray> fetch(Context& context, const std::string& filter)
{
    const std::string project = TRY(context.project_id());
    if (context.spans_projects()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  "assets belong to a project, and none of the server's is chosen",
                  "Use '--project NAME'; 'ponk project list' lists the server's projects."));
    }
    if (project.empty()) return JsonArray{};
    const Json answer =
        TRY(TRY(context.daemon())
                ->get("/projects/" + net::percent_encode(project) + "/assets" + filter));
    return answer["assets"].is_array() ? answer["assets"].as_array() : JsonArray{};
}

}  // namespace

Result<JsonArray> newest_assets(Context& context)
{
    return fetch(context, "");
}

Result<JsonArray> asset_versions(Context& context, const std::string& name)
{
    JsonArray versions = TRY(fetch(context, "?name=" + net::percent_encode(name)));
    if (versions.empty()) return tl::unexpected(no_such_asset(context, name));
    return versions;
}

Error no_such_asset(Context& context, const std::string& name)
{
    std::vector<std::string> names;
    if (const auto assets = fetch(context, "")) {
        for (const Json& asset : *assets)
            names.push_back(asset.text("name"));
    }
    return Error(ErrorKind::not_found,
                 fmt::format("this project has no asset '{}'", printable(name)),
                 suggest_name(name, names, "'ponk asset list' lists the assets."));
}

}  // namespace ponk::cli
