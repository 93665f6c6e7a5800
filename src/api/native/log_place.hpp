// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>

// Places in the file of a log. A script can give its log any length without writing anything: such
// holes are not served, for nobody can use gigabytes of zeros.
namespace ponk::api {

inline constexpr std::uint64_t large_hole = std::uint64_t{1} << 20;

std::uint64_t size_of(int fd);
// Where the next large hole begins, or `end`.
std::uint64_t large_hole_from(int fd, std::uint64_t at, std::uint64_t end);
// Where the byte is that comes so many served ones behind the place `from`.
std::uint64_t place_of(int fd, std::uint64_t from, std::uint64_t served);
// Where the last so many lines begin, read from the end. A last line without a newline counts.
Result<std::uint64_t> find_last_lines(int fd, std::uint64_t lines);

}  // namespace ponk::api
