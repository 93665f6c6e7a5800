// SPDX-License-Identifier: Apache-2.0
#include "store/tail_codec.hpp"

#include "store/packed_bytes.hpp"

#include <bit>

namespace ponk::store {

using model::MetricPoint;

namespace {

constexpr char version = 1;

struct Point {
    std::uint64_t key = 0;
    MetricPoint point;
};

std::optional<Point> read_point(PackedReader& in)
{
    const auto key = in.number();
    const auto kind = in.byte();
    const auto step = in.signed_number();
    const auto time = in.signed_number();
    const auto value = in.fixed();
    if (!key || !kind || !step || !time || !value ||
        *kind > (PointColumns::list | PointColumns::text))
        return std::nullopt;
    Point read{*key, {}};
    read.point.step = *step;
    read.point.time = *time;
    read.point.value = std::bit_cast<double>(*value);
    if ((*kind & PointColumns::list) != 0) read.point.form = MetricPoint::Form::list;
    if ((*kind & PointColumns::text) != 0) {
        const auto text = in.text();
        if (!text) return std::nullopt;
        read.point.text = *text;
    }
    return read;
}

}  // namespace

std::string encode_tail(std::span<const MetricPoint> points)
{
    std::unordered_map<std::string_view, std::uint64_t> places;
    std::string keys;
    std::string rest;
    for (const auto& point : points) {
        const auto [place, is_new] = places.emplace(point.key, places.size());
        if (is_new) put_text(keys, point.key);
        put_number(rest, place->second);
        const bool list = point.form == MetricPoint::Form::list;
        rest.push_back(static_cast<char>((list ? PointColumns::list : 0) |
                                         (point.text ? PointColumns::text : 0)));
        put_signed(rest, point.step);
        put_signed(rest, point.time);
        put_fixed(rest, bits_of(point.value));
        if (point.text) put_text(rest, *point.text);
    }
    std::string out(1, version);
    put_number(out, places.size());
    return out + keys + rest;
}

std::size_t PointsByKey::place_of(std::string_view key)
{
    const auto [place, is_new] = places_.emplace(key, keys_.size());
    if (is_new) keys_.push_back({std::string(key), {}});
    return place->second;
}

void PointsByKey::add(const MetricPoint& point)
{
    keys_[place_of(point.key)].points.add(point);
    ++count_;
}

void PointsByKey::add(std::string_view key, const PointColumns& points)
{
    keys_[place_of(key)].points.append(points);
    count_ += points.size();
}

Result<> PointsByKey::add_tail(std::string_view bytes)
{
    const auto damaged = [] { return fail(ErrorKind::damaged, "points of a request are damaged"); };
    PackedReader in(bytes);
    const auto first = in.byte();
    const auto count = in.number();
    // Each key has at least the byte of its length.
    if (first != version || !count || *count > in.left()) return damaged();
    std::vector<std::size_t> places;
    for (std::uint64_t i = 0; i < *count; ++i) {
        const auto key = in.text();
        if (!key) return damaged();
        places.push_back(place_of(*key));
    }
    while (!in.at_end()) {
        const auto read = read_point(in);
        if (!read || read->key >= places.size()) return damaged();
        keys_[places[read->key]].points.add(read->point);
        ++count_;
    }
    return {};
}

}  // namespace ponk::store
