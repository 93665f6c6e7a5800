// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/table.hpp"

#include <string>

// One function for each format beside the table; render() is the way in.
namespace ponk::output {

// Pretty JSON with colours for keys, texts, numbers and words.
std::string render_coloured_json(const Json& document);

// Block style that a reader of YAML 1.2 (and of 1.1) gives back with the same types: whatever
// could be taken for something else is in double quotes. NaN and infinities are .nan and .inf.
std::string render_yaml(const Json& document);

// For scripts: one line per element, values between tabs, no heading. Objects share the union of
// their keys (or `columns`), so that a value that is missing leaves its place empty; null is empty;
// nested values are JSON; a tab, a newline and a carriage return inside a text are \t, \n and \r.
std::string render_tsv(const Json& document, const Columns& columns);

}  // namespace ponk::output
