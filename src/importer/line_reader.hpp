// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <string>

namespace ponk::importer {

// The lines of a file of any size, one after the other. One thread at a time.
class LineReader {
public:
    // `longest`: a longer line is `invalid_argument`.
    static Result<LineReader> open(const os::Path& file, std::size_t longest);

    // The next line without its end; false when there is none.
    Result<bool> next(std::string& line);

    // "runs.jsonl:3": the line that was read last.
    [[nodiscard]] std::string where() const;
    // How much of the file was read, 0 to 1.
    [[nodiscard]] double fraction() const;

private:
    LineReader(os::Path file, os::Fd fd, std::uint64_t size, std::size_t longest);

    os::Path file_;
    os::Fd fd_;
    std::uint64_t size_;
    std::size_t longest_;
    std::uint64_t at_ = 0;
    std::string held_;
    std::size_t begin_ = 0;     // of the next line in `held_`
    std::size_t searched_ = 0;  // up to here there is no end of it
    std::size_t number_ = 0;
};

}  // namespace ponk::importer
