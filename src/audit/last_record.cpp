// SPDX-License-Identifier: Apache-2.0
#include "audit/last_record.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::audit {

namespace {

// More than two of the longest lines.
constexpr std::uint64_t enough = std::uint64_t{256} << 10;

struct Tail {
    std::string bytes;
    std::uint64_t offset = 0;
};

Result<Tail> read_tail(const LogFile& file)
{
    Tail tail;
    tail.offset = file.size > enough ? file.size - enough : 0;
    const auto opened = TRY(os::open_regular(file.path, os::Links::refuse));
    tail.bytes = TRY(os::read_at(opened.get(), tail.offset, enough));
    return tail;
}

}  // namespace

Result<std::optional<LastRecord>> find_last_record(const LogFile& file)
{
    const auto tail = TRY(read_tail(file));
    std::string_view bytes = tail.bytes;
    bytes = bytes.substr(0, bytes.rfind('\n') == std::string_view::npos ? 0 : bytes.rfind('\n'));
    while (!bytes.empty()) {
        const auto feed = bytes.rfind('\n');
        const auto begin = feed == std::string_view::npos ? 0 : feed + 1;
        if (const auto line = parse_line(bytes.substr(begin)))
            return LastRecord{{line->number, line->hash}, line->members.text("time")};
        bytes = bytes.substr(0, feed == std::string_view::npos ? 0 : feed);
    }
    return std::nullopt;
}

Result<std::uint64_t> cut_torn_line(const LogFile& file)
{
    const auto tail = TRY(read_tail(file));
    const auto feed = tail.bytes.rfind('\n');
    if (feed == std::string::npos && tail.offset > 0)
        return fail(ErrorKind::damaged, "{} has no lines at its end", os::in_quotes(file.path));
    const auto length = feed == std::string::npos ? 0 : tail.offset + feed + 1;
    const auto cut = tail.offset + tail.bytes.size() - length;
    if (cut == 0) return 0;
    const auto opened = TRY(os::open_file(file.path, O_WRONLY | O_NOFOLLOW));
    if (::ftruncate(opened.get(), static_cast<off_t>(length)) != 0)
        return fail_errno(errno, "cut {}", os::in_quotes(file.path));
    return cut;
}

}  // namespace ponk::audit
