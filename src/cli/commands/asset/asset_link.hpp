// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "os/file.hpp"

#include <string>

namespace ponk::cli {

// What assets/NAME.link says: a promoted file of a run. The predecessor's keys (assetSource, name,
// version), with a source of our own form: {run, path, digest, size}.
struct AssetLink {
    std::string name;
    std::int64_t version = 0;
    std::string run_id;
    std::string artifact;
};

Result<AssetLink> read_asset_link(const os::Path& file);

}  // namespace ponk::cli
