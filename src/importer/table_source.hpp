// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/source.hpp"
#include "os/file.hpp"

#include <memory>
#include <string_view>

namespace ponk::importer {

// A table of runs: what 'ponk history export --format csv' writes, or a spreadsheet whose heading
// has such columns.
Result<std::unique_ptr<Source>> open_table(const os::Path& file);

// Whether a text that begins so is one.
bool is_table(std::string_view begin);

}  // namespace ponk::importer
