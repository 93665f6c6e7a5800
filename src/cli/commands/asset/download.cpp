// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/asset/asset_link.hpp"
#include "cli/commands/asset/asset_versions.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/artifact.hpp"

#include <algorithm>

namespace ponk::cli {
namespace asset_download_command {

constexpr Option options[] = {
    {.name = "link-file",
     .brief = "l",
     .value = "FILE",
     .help = "The asset's link file: assets/NAME.link.",
     .complete = Complete::file},
    {.name = "output-directory",
     .brief = "d",
     .value = "FOLDER",
     .help = "Folder to write to; created if missing. Default: the current folder.",
     .complete = Complete::folder},
    {.name = "version",
     .value = "N",
     .help = "Version of NAME to download. Default: the version of the link file."},
    {.name = "overwrite", .brief = "f", .help = "Replace an existing file."},
};
constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "Name of an asset of this project.",
     .count = Positional::Count::optional},
};
constexpr Example examples[] = {
    {"ponk asset download -l assets/model.pkl.link -d .", "Download the file of a link."},
    {"ponk asset download model.pkl", "Download the newest version by name."},
    {"ponk asset download model.pkl --version 2", "Download an earlier version."},
};

tl::expected<AssetLink, Failure>
version_of(Context& context, const std::string& name, const std::string& version)
{
    const auto wanted = parse_integer(version);
    if (!wanted || *wanted < 1)
        return fail_usage("'--version {}' is not a version number", version);
    std::vector<std::string> known;
    for (const Json& asset : TRY(asset_versions(context, name))) {
        if (asset.integer("version") == *wanted) {
            return AssetLink{name, *wanted, asset.text("run_id"), asset.text("path")};
        }
        known.push_back(std::to_string(asset.integer("version")));
    }
    return tl::unexpected(Failure(Error(ErrorKind::not_found,
                                        fmt::format("asset '{}' has no version {}", name, *wanted),
                                        "Existing versions: " + join(known, ", ") + ".")));
}

tl::expected<AssetLink, Failure> chosen_asset(Context& context, const Invocation& words)
{
    if (words.has("link-file")) return TRY(read_asset_link(words.text("link-file")));
    const std::string name = *words.word(0);
    if (const auto version = words.value("version")) return version_of(context, name, *version);
    if (context.asks_server()) {
        const JsonArray versions = TRY(asset_versions(context, name));
        const auto number = [](const Json& asset) { return asset.integer("version"); };
        const Json& newest = *std::ranges::max_element(versions, {}, number);
        return AssetLink{
            name, newest.integer("version"), newest.text("run_id"), newest.text("path")};
    }
    const auto link = read_asset_link(TRY(context.project()) / "assets" / (name + ".link"));
    if (!link && link.error().kind() == ErrorKind::not_found) {
        return tl::unexpected(Failure(no_such_asset(context, name)));
    }
    if (!link) return tl::unexpected(Failure(link.error()));
    return *link;
}

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("link-file") && words.has("version")) {
        return fail_usage("'--version' needs NAME: a link file already has a version");
    }
    if (words.has("link-file") == words.word(0).has_value()) {
        return fail_usage("'asset download' needs NAME or '--link-file FILE'");
    }
    const AssetLink link = TRY(chosen_asset(context, words));
    const os::Path folder = words.value("output-directory").value_or(".");
    const Overwrite overwrite = words.has("overwrite") ? Overwrite::yes : Overwrite::no;
    // The file under its own name: in which folder a run had put it, no longer matters.
    const os::Path name = TRY(safe_relative(link.artifact)).filename();
    const os::Path file = TRY(download_artifact(
        *TRY(context.daemon()), link.run_id, link.artifact, folder, name, overwrite));
    return context.done(
        fmt::format(
            "version {} of '{}' is in {}", link.version, printable(link.name), os::in_quotes(file)),
        {{"file", file.string()}, {"name", link.name}, {"version", link.version}});
}

}  // namespace asset_download_command

constinit const Command cmd_asset_download = {
    .path = "asset download",
    .summary = "Download the file of an asset",
    .description =
        "Writes the file under its own name, without the folders that contained it in the run.",
    .options = asset_download_command::options,
    .positionals = asset_download_command::positionals,
    .examples = asset_download_command::examples,
    .history = Command::History::any,
    .run = asset_download_command::run,
};

}  // namespace ponk::cli
