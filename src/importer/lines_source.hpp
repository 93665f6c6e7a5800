// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/source.hpp"
#include "os/file.hpp"

#include <memory>

namespace ponk::importer {

// Lines as `ponk history export` writes them: docs/design/history-lines.md. Memory is needed for
// the longest of them.
Result<std::unique_ptr<Source>> open_lines(const os::Path& file);

}  // namespace ponk::importer
