// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

#include <string>

namespace ponk::cli {

// Of each asset of the project the newest version.
Result<JsonArray> newest_assets(Context& context);

// All versions of the project's asset `name`, as the daemon knows them: {name, version, run_id,
// path, size, created_utc}. Fails with `not_found` and the nearest name when there is none.
Result<JsonArray> asset_versions(Context& context, const std::string& name);

// That error, with the nearest name among the project's assets.
Error no_such_asset(Context& context, const std::string& name);

}  // namespace ponk::cli
