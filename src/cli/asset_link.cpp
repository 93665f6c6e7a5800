// SPDX-License-Identifier: Apache-2.0
#include "cli/asset_link.hpp"

#include "base/id.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::cli {

Result<AssetLink> read_asset_link(const os::Path& file)
{
    const std::string text = TRY(os::read_file(file, std::uint64_t{1} << 20));
    const Json link = TRY(parse_json(text).map_error(while_doing("asset link {}", os::in_quotes(file))));
    const std::string source = link.text("assetSource");
    constexpr std::string_view head = "ponk://runs/";
    constexpr std::string_view middle = "/artifacts/";
    const std::size_t at = source.find(middle);
    if (!source.starts_with(head) || at == source.npos) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("asset link {} points to '{}', which is no run of ponk",
                              os::in_quotes(file),
                              printable(source)),
                  "Links of the service that was switched off in 2019 cannot be followed; promote "
                  "the file again from a run."));
    }
    const std::string run = source.substr(head.size(), at - head.size());
    TRY(RunId::parse(run).map_error(while_doing("asset link {}", os::in_quotes(file))));
    return AssetLink{link.text("name", file.stem().string()),
                     link.integer("version"),
                     run,
                     source.substr(at + middle.size())};
}

}  // namespace ponk::cli
