// SPDX-License-Identifier: Apache-2.0
#include "api/native/log_place.hpp"

#include "base/work_budget.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace ponk::api {

std::uint64_t size_of(int fd)
{
    struct stat info {};
    return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint64_t large_hole_from(int fd, std::uint64_t at, std::uint64_t end)
{
    while (at < end && !work_is_over()) {
        const auto hole = os::hole_from(fd, at, end);
        at = os::data_from(fd, hole, end);
        if (at - hole >= large_hole) return hole;
    }
    return end;
}

std::uint64_t place_of(int fd, std::uint64_t from, std::uint64_t served)
{
    const auto end = size_of(fd);
    for (std::uint64_t at = from;;) {
        const auto hole = large_hole_from(fd, at, end);
        if (hole >= end || served <= hole - at || work_is_over()) return at + served;
        served -= hole - at;
        at = os::data_from(fd, hole, end);
    }
}

Result<std::uint64_t> find_last_lines(int fd, std::uint64_t lines)
{
    constexpr std::uint64_t block = std::uint64_t{256} << 10;
    const auto end = size_of(fd);
    if (lines == 0) return end;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  // between large holes
    for (std::uint64_t at = os::data_from(fd, 0, end); at < end;) {
        TRY(check_work());
        const auto hole = large_hole_from(fd, at, end);
        parts.emplace_back(at, hole);
        at = os::data_from(fd, hole, end);
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        for (auto until = part->second; until > part->first;) {
            TRY(check_work());
            const auto begin = until - std::min(block, until - part->first);
            const auto bytes = TRY(os::read_at(fd, begin, static_cast<std::size_t>(until - begin)));
            for (auto i = bytes.size(); i > 0; --i) {
                // The newline that ends the log begins no line.
                if (bytes[i - 1] != '\n' || begin + i == end) continue;
                if (--lines == 0) return begin + i;
            }
            until = begin;
        }
    }
    return std::uint64_t{0};
}

}  // namespace ponk::api
