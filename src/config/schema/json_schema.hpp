// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "config/schema/schema.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace ponk::config {

// "runconfig", "compute", "conda", "spark", "project", "mlproject".
std::span<const std::string_view> json_schema_kinds();

// The keys of that kind of file as JSON Schema (draft 2020-12), for editors. It comes from the
// tables that `ponk check` goes by. Where check warns about a key that it does not know, it says
// that the key is not allowed.
std::optional<Json> find_json_schema(std::string_view kind);

}  // namespace ponk::config
