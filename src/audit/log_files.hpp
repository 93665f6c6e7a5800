// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/record.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ponk::audit {

using os::Path;

// A file of the log: `audit/000001.jsonl`.
struct LogFile {
    Path path;
    std::int64_t number = 0;
    std::uint64_t size = 0;
    std::int64_t modified = 0;  // wall-clock milliseconds
};
Path folder_of(const Path& home);
Path head_file(const Path& home);
Path file_of(const Path& home, std::int64_t number);
// By number; none when there is no log.
Result<std::vector<LogFile>> list_files(const Path& home);

// Calls `visit` for each line, without its line feed, and its number from 1 on. The rest behind the
// last line feed is returned.
Result<std::string>
for_each_line(const Path& file,
              const std::function<Result<>(std::string_view line, std::int64_t number)>& visit);

}  // namespace ponk::audit
