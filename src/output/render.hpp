// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "output/table.hpp"
#include "output/terminal.hpp"

#include <string>
#include <string_view>

namespace ponk::output {

enum class Format { table, json, jsonc, tsv, yaml };

// "table", "json", …; any other word is an error with a suggestion.
Result<Format> parse_format(std::string_view name);

// The document as text that ends with a newline; null and empty lists are empty text as table
// and tsv. `columns` only matters to those two. jsonc is json where the terminal has no colour.
std::string
render(const Json& document, Format format, const Terminal& terminal, const Columns& columns = {});

}  // namespace ponk::output
