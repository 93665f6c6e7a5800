// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/source.hpp"
#include "os/file.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace ponk::importer {

enum class Format { lines, table, mlflow_database, mlflow_files };

const char* to_string(Format format);  // "jsonl", "csv", "mlflow-db", "mlflow-files"
std::optional<Format> parse_format(std::string_view word);

// By what it is: a folder, a database, a text. `invalid_argument` when it is none of ours.
Result<Format> recognise(const os::Path& path);
Result<std::unique_ptr<Source>>
open_source(const os::Path& path, Format format, const std::optional<os::Path>& artifacts);

}  // namespace ponk::importer
