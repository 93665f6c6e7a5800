// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset/asset_link.hpp"

#include "base/id.hpp"

#include <fmt/format.h>

namespace ponk::cli {

Result<AssetLink> read_asset_link(const os::Path& file)
{
    const std::string text =
        TRY(os::read_file(file, std::uint64_t{1} << 20).map_error([&](const Error& error) {
            if (error.kind() != ErrorKind::not_found) return error;
            return Error(ErrorKind::not_found,
                         fmt::format("asset link {} does not exist", os::in_quotes(file)),
                         "'ponk asset list' shows the assets of the project and their links.");
        }));
    const Json link =
        TRY(parse_json(text).map_error(while_doing("asset link {}", os::in_quotes(file))));
    const Json& source = link["assetSource"];
    const std::string run = source.text("run");
    const std::string artifact = source.text("path");
    if (run.empty() || artifact.empty()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("asset link {} does not point to a file of a ponk run",
                              os::in_quotes(file)),
                  "Links of the service that was switched off in 2019 no longer work: promote the "
                  "file again from a run with 'ponk history promote'."));
    }
    TRY(RunId::parse(run).map_error(while_doing("asset link {}", os::in_quotes(file))));
    return AssetLink{
        link.text("name", file.stem().string()), link.integer("version"), run, artifact};
}

}  // namespace ponk::cli
