// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "dockerapi/tar.hpp"

#include <algorithm>
#include <optional>

namespace ponk::dockerapi {

namespace {

constexpr std::size_t block = 512;
constexpr std::size_t longest_extra = std::size_t{1} << 20;

std::string_view text_at(std::string_view header, std::size_t offset, std::size_t length)
{
    const auto field = header.substr(offset, length);
    return field.substr(0, field.find('\0'));
}

// Octal digits, or GNU's form for large numbers: the top bit set, then a big-endian number.
std::optional<std::uint64_t>
number_at(std::string_view header, std::size_t offset, std::size_t length)
{
    const auto field = header.substr(offset, length);
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
        if (field[0] != '\x80') return std::nullopt;  // negative, or past 64 bits
        for (const char c : field.substr(1)) {
            if (value >> 56 != 0) return std::nullopt;
            value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    }
    for (const char c : trim(text_at(header, offset, length))) {
        if (c < '0' || c > '7') return std::nullopt;
        value = value << 3 | static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

bool has_its_checksum(std::string_view header)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block; ++i)
        sum += i >= 148 && i < 156 ? std::uint64_t{' '} : static_cast<unsigned char>(header[i]);
    return number_at(header, 148, 8) == sum;
}

// "LENGTH KEY=VALUE\n" again and again.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_pax(std::string_view text)
{
    std::vector<std::pair<std::string, std::string>> records;
    while (!text.empty()) {
        const auto space = text.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        const auto length = parse_integer(text.substr(0, space));
        if (!length || *length <= static_cast<std::int64_t>(space) + 1 ||
            static_cast<std::uint64_t>(*length) > text.size())
            return std::nullopt;
        auto record = text.substr(space + 1, static_cast<std::size_t>(*length) - space - 1);
        const auto equals = record.find('=');
        if (equals == std::string_view::npos || !record.ends_with('\n')) return std::nullopt;
        record.remove_suffix(1);
        records.emplace_back(record.substr(0, equals), record.substr(equals + 1));
        text.remove_prefix(static_cast<std::size_t>(*length));
    }
    return records;
}

TarEntry::Kind kind_of(char type)
{
    switch (type) {
    case '0':
    case '\0':
    case '7':
        return TarEntry::Kind::file;
    case '5':
        return TarEntry::Kind::folder;
    case '2':
        return TarEntry::Kind::link;
    default:
        return TarEntry::Kind::other;
    }
}

tl::unexpected<Error> damaged(std::string_view what)
{
    return fail(ErrorKind::damaged, "the engine's archive is damaged ({})", what);
}

}  // namespace

Result<> TarReader::take(std::string_view bytes)
{
    while (!bytes.empty() && !ended_) {
        if (data_ > 0) {
            const auto part = bytes.substr(0, std::min<std::uint64_t>(data_, bytes.size()));
            if (kind_ == Data::file)
                TRY(handler_.data(part));
            else if (kind_ != Data::skipped)
                extra_ += part;
            data_ -= part.size();
            bytes.remove_prefix(part.size());
            if (data_ == 0) TRY(end_of_data());
            continue;
        }
        if (skip_ > 0) {
            const auto part = std::min<std::uint64_t>(skip_, bytes.size());
            skip_ -= part;
            bytes.remove_prefix(part);
            continue;
        }
        const auto part = bytes.substr(0, block - block_.size());
        block_ += part;
        bytes.remove_prefix(part.size());
        if (block_.size() == block) TRY(read_header());
    }
    return {};
}

Result<> TarReader::read_header()
{
    const auto header = std::exchange(block_, {});
    if (header.find_first_not_of('\0') == std::string::npos) {
        ended_ = true;
        return {};
    }
    if (!has_its_checksum(header)) return damaged("a header without its checksum");
    auto size = number_at(header, 124, 12);
    if (!size) return damaged("a size that is not a number");
    const char type = header[156];
    if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
        if (*size > longest_extra) return damaged("a name past 1 MiB");
        kind_ = type == 'L'   ? Data::long_name
                : type == 'K' ? Data::long_link
                : type == 'x' ? Data::pax
                              : Data::skipped;
        extra_.clear();
    } else {
        TarEntry entry{.kind = kind_of(type),
                       .path = std::string(text_at(header, 0, 100)),
                       .link = std::string(text_at(header, 157, 100)),
                       .mode = static_cast<mode_t>(number_at(header, 100, 8).value_or(0644)),
                       .user = static_cast<uid_t>(number_at(header, 108, 8).value_or(0)),
                       .group = static_cast<gid_t>(number_at(header, 116, 8).value_or(0)),
                       .modified =
                           static_cast<std::int64_t>(number_at(header, 136, 12).value_or(0))};
        if (header.compare(257, 6, std::string("ustar\0", 6)) == 0) {
            const auto prefix = text_at(header, 345, 155);
            if (!prefix.empty()) entry.path = std::string(prefix) + "/" + entry.path;
        }
        for (auto& [key, value] : std::exchange(pax_, {})) {
            if (key == "path") entry.path = value;
            if (key == "linkpath") entry.link = value;
            if (key == "size") {
                const auto number = parse_integer(value);
                if (!number || *number < 0) return damaged("a size that is not a number");
                size = static_cast<std::uint64_t>(*number);
            }
        }
        kind_ = entry.kind == TarEntry::Kind::file ? Data::file : Data::skipped;
        entry.size = kind_ == Data::file ? *size : 0;
        TRY(handler_.begin(entry));
    }
    data_ = *size;
    skip_ = (block - *size % block) % block;
    return data_ == 0 ? end_of_data() : Result<>();
}

Result<> TarReader::end_of_data()
{
    const auto extra = std::exchange(extra_, {});
    if (kind_ == Data::pax) {
        auto records = parse_pax(extra);
        if (!records) return damaged("a pax record without its form");
        for (auto& record : *records)
            pax_.push_back(std::move(record));
    } else if (kind_ == Data::long_name || kind_ == Data::long_link) {
        pax_.emplace_back(kind_ == Data::long_name ? "path" : "linkpath",
                          extra.substr(0, extra.find('\0')));
    }
    return {};
}

Result<> TarReader::finish() const
{
    if (ended_ || (data_ == 0 && skip_ == 0 && block_.empty())) return {};
    return damaged("it ends in the middle");
}

}  // namespace ponk::dockerapi
