// SPDX-License-Identifier: Apache-2.0
#include "cli/artifact.hpp"
#include "cli/asset_link.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "link-file",
     .brief = "l",
     .value = "FILE",
     .help = "The link: assets/NAME.link.",
     .complete = Complete::file},
    {.name = "output-directory",
     .brief = "d",
     .value = "FOLDER",
     .help = "Where to. Default: the current folder.",
     .complete = Complete::folder},
    {.name = "overwrite", .brief = "f", .help = "Replace a file that is there already."},
};
constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "Name of an asset of this project.",
     .count = Positional::Count::optional},
};
constexpr Example examples[] = {
    {"ponk asset download -l assets/model.pkl.link -d .", "As in 2017."},
    {"ponk asset download model.pkl", "By its name."},
};

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("link-file") == words.word(0).has_value()) {
        return fail_usage("'asset download' needs NAME or '--link-file'");
    }
    const os::Path link_file = words.has("link-file")
                                   ? os::Path(words.text("link-file"))
                                   : TRY(context.project()) / "assets" / (*words.word(0) + ".link");
    const AssetLink link = TRY(read_asset_link(link_file));
    const os::Path folder = words.value("output-directory").value_or(".");
    const Overwrite overwrite = words.has("overwrite") ? Overwrite::yes : Overwrite::no;
    const os::Path file = TRY(
        download_artifact(*TRY(context.daemon()), link.run_id, link.artifact, folder, overwrite));
    return context.done(fmt::format("written: {}", file.string()),
                        {{"file", file.string()}, {"name", link.name}, {"version", link.version}});
}

}  // namespace

constinit const Command cmd_asset_download = {
    .path = "asset download",
    .summary = "Download the file that an asset stands for",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli
