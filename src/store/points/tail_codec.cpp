// SPDX-License-Identifier: Apache-2.0
#include "store/points/tail_codec.hpp"

#include "store/points/packed_bytes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ponk::store {

using model::MetricPoint;

namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

constexpr char version = 2;
constexpr char row_version = 1;
constexpr std::uint8_t all_kinds = PointColumns::list | PointColumns::text;

// Each as what it is more than the one before; sums and differences wrap around.
void put_steady(std::string& out, const std::vector<std::int64_t>& numbers)
{
    std::uint64_t before = 0;
    for (const auto number : numbers) {
        const auto now = static_cast<std::uint64_t>(number);
        put_signed(out, static_cast<std::int64_t>(now - before));
        before = now;
    }
}

bool read_steady(PackedReader& in, std::uint64_t count, std::vector<std::int64_t>& out)
{
    out.resize(count);
    std::uint64_t before = 0;
    for (auto& number : out) {
        const auto more = in.signed_number();
        if (!more) return false;
        before += static_cast<std::uint64_t>(*more);
        number = static_cast<std::int64_t>(before);
    }
    return true;
}

void put_values(std::string& out, const std::vector<double>& values)
{
    const auto from = out.size();
    out.resize(from + values.size() * sizeof(double));
    auto* to = out.data() + from;
    for (const auto value : values) {
        const auto bits = bits_of(value);
        std::memcpy(to, &bits, sizeof bits);
        to += sizeof bits;
    }
}

void put_kinds(std::string& out, const PointColumns& points)
{
    const bool plain = std::all_of(
        points.kinds.begin(), points.kinds.end(), [](std::uint8_t kind) { return kind == 0; });
    out.push_back(plain ? 0 : 1);
    if (plain) return;
    out.append(points.kinds.begin(), points.kinds.end());
    for (std::size_t at = 0; at < points.size(); ++at) {
        if (points.is_text(at)) put_text(out, points.texts[at]);
    }
}

bool read_kinds(PackedReader& in, std::uint64_t count, PointColumns& points)
{
    points.kinds.assign(count, 0);
    const auto form = in.byte();
    if (!form || *form > 1) return false;
    if (*form == 0) return true;
    const auto kinds = in.bytes(count);
    if (!kinds) return false;
    std::memcpy(points.kinds.data(), kinds->data(), count);
    for (std::size_t at = 0; at < count; ++at) {
        if (points.kinds[at] > all_kinds) return false;
        if (!points.is_text(at)) continue;
        const auto text = in.text();
        if (!text) return false;
        points.texts.resize(count);
        points.texts[at] = *text;
    }
    return true;
}

bool read_columns(PackedReader& in, PointColumns& points)
{
    const auto count = in.number();
    // A point has at least the byte of its step.
    if (!count || *count == 0 || *count > in.left()) return false;
    if (!read_steady(in, *count, points.steps) || !read_steady(in, *count, points.times))
        return false;
    const auto values = in.bytes(*count * sizeof(double));
    if (!values) return false;
    points.values.resize(*count);
    std::memcpy(points.values.data(), values->data(), values->size());
    return read_kinds(in, *count, points);
}

using Keys = std::span<const std::string>;

bool is_wanted(Keys keys, std::string_view key)
{
    return keys.empty() || std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool read_keys(PackedReader& in, Keys keys, PointsByKey& points)
{
    PointColumns columns;
    while (!in.at_end()) {
        const auto key = in.text();
        columns = {};
        if (!key || !read_columns(in, columns)) return false;
        if (is_wanted(keys, *key)) points.append(*key, columns);
    }
    return true;
}

// Version 1 ------------------------------------------------------------------------------------

bool read_row(PackedReader& in, MetricPoint& point)
{
    const auto kind = in.byte();
    const auto step = in.signed_number();
    const auto time = in.signed_number();
    const auto value = in.fixed();
    if (!kind || !step || !time || !value || *kind > all_kinds) return false;
    point.step = *step;
    point.time = *time;
    point.value = std::bit_cast<double>(*value);
    if ((*kind & PointColumns::list) != 0) point.form = MetricPoint::Form::list;
    if ((*kind & PointColumns::text) == 0) return true;
    const auto text = in.text();
    if (text) point.text = *text;
    return text.has_value();
}

bool read_rows(PackedReader& in, Keys wanted, PointsByKey& points)
{
    const auto count = in.number();
    // Each key has at least the byte of its length.
    if (!count || *count > in.left()) return false;
    std::vector<std::string_view> keys;
    for (std::uint64_t i = 0; i < *count; ++i) {
        const auto key = in.text();
        if (!key) return false;
        keys.push_back(*key);
    }
    while (!in.at_end()) {
        const auto place = in.number();
        if (!place || *place >= keys.size()) return false;
        MetricPoint point;
        point.key = keys[*place];
        if (!read_row(in, point)) return false;
        if (is_wanted(wanted, point.key)) points.add(point);
    }
    return true;
}

}  // namespace

std::string encode_tail(const PointsByKey& points)
{
    constexpr std::size_t usual = 16;  // bytes of a point and its part of the key
    std::string out;
    out.reserve(64 + points.size() * usual);
    out.push_back(version);
    for (const auto& [key, columns] : points.keys()) {
        put_text(out, key);
        put_number(out, columns.size());
        put_steady(out, columns.steps);
        put_steady(out, columns.times);
        put_values(out, columns.values);
        put_kinds(out, columns);
    }
    return out;
}

Result<> decode_tail(std::string_view bytes, PointsByKey& points)
{
    return decode_tail(bytes, {}, points);
}

Result<> decode_tail(std::string_view bytes, Keys keys, PointsByKey& points)
{
    PackedReader in(bytes);
    const auto first = in.byte();
    const bool read = first == version       ? read_keys(in, keys, points)
                      : first == row_version ? read_rows(in, keys, points)
                                             : false;
    if (!read) return fail(ErrorKind::damaged, "points of a request are damaged");
    return {};
}

}  // namespace ponk::store
