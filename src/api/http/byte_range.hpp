// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::api {

// What a request's Range asks for of a file.
struct ByteRange {
    // whole: there is no Range, or one that may be ignored (several, another unit, no range);
    // outside: nothing of it is in the file.
    enum class Kind { whole, part, outside } kind = Kind::whole;
    std::uint64_t from = 0;
    std::uint64_t size = 0;

    // "bytes=5-9", "bytes=5-", "bytes=-5".
    static ByteRange of(std::string_view header, std::uint64_t file_size);
    // For Content-Range: "bytes 5-9/100", "bytes */100".
    [[nodiscard]] std::string text(std::uint64_t file_size) const;
};

}  // namespace ponk::api
