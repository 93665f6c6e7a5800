// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/document.hpp"

#include <optional>
#include <string_view>

namespace ponk::config {

// Reads TOML 1.0. Without a root the error is in `report`.
std::optional<Node> read_toml_document(std::string_view text, Report& report);

}  // namespace ponk::config
