// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <string>

namespace ponk::output {

// One field as RFC 4180 quotes it; null is empty, nested values are JSON. A text that a spreadsheet
// would take for a formula (it begins with = + - @, a tab or a carriage return, and is not a
// number) gets an apostrophe in front.
std::string csv_field(const Json& value);

// Fields with commas between them and a newline at the end.
std::string csv_line(const JsonArray& values);

}  // namespace ponk::output
