// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/project/write.hpp"
#include "engine/files/artifacts.hpp"

namespace ponk::engine {

Result<Promoted> promote(const Context& context,
                         const model::Run& run,
                         const std::string& path,
                         const std::string& name)
{
    TRY(config::check_name("asset", name));
    const auto artifact = TRY(find_artifact(context, run, path));
    if (artifact.origin != Artifact::Origin::outputs)
        return fail(ErrorKind::invalid_argument, "only files below outputs/ can be promoted");
    TRY(require_made_here(run));
    store::Asset asset;
    asset.project = run.project;
    asset.name = name;
    asset.run = run.id;
    asset.path = artifact.path;
    asset.digest = artifact.digest;
    asset.size = artifact.size;
    asset.created = wall_milliseconds();
    Promoted promoted{TRY(context.history.add_asset(asset)), {}};
    const auto folder = Path(run.project_path) / "assets";
    TRY(os::make_directories(folder, 0777));
    promoted.link = folder / (name + ".link");
    const Json link = JsonObject{{"assetSource",
                                  JsonObject{{"run", run.id.text()},
                                             {"path", artifact.path},
                                             {"digest", artifact.digest},
                                             {"size", artifact.size}}},
                                 {"name", name},
                                 {"version", promoted.asset.version}};
    TRY(os::replace_file(promoted.link, ponk::to_json(link, JsonStyle::pretty) + "\n", 0644));
    return promoted;
}

}  // namespace ponk::engine
