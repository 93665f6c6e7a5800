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

// The document as text that ends with a newline (an empty list as table or tsv is no text at all).
// `columns` only matters to table and tsv.
std::string
render(const Json& document, Format format, const Terminal& terminal, const Columns& columns = {});

std::string render_yaml(const Json& document);
std::string render_tsv(const Json& document, const Columns& columns = {});

}  // namespace ponk::output
