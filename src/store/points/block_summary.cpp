// SPDX-License-Identifier: Apache-2.0
#include "store/points/block_summary.hpp"

#include "store/points/chunk_codec.hpp"
#include "store/points/packed_bytes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace ponk::store {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr char version = 1;
constexpr std::uint8_t values_float = 0;
constexpr std::uint8_t values_double = 1;
// With fewer points, or more blocks, the points themselves are read as fast.
constexpr std::size_t fewest_points = 256;
constexpr std::uint64_t most_blocks = 40;
constexpr std::uint16_t no_point = 0xFFFF;

std::uint64_t place_of(std::int64_t x)
{
    return static_cast<std::uint64_t>(x) + sign_bit;
}

// The least with which numbers from `first` to `last` meet few enough columns.
unsigned shift_of(std::int64_t first, std::int64_t last)
{
    unsigned shift = 0;
    while (shift < 63 && (place_of(last) - place_of(first)) >> shift > most_blocks - 2)
        ++shift;
    return shift;
}

void add_point(PointBlock& block, std::int64_t x, double y)
{
    const PointBlock::Point point{block.count++, x, y};
    if (point.at == 0) block.first = point;
    block.last = point;
    if (std::isfinite(y)) {
        if (!block.low || y < block.low->y) block.low = point;
        if (!block.high || y > block.high->y) block.high = point;
        return;
    }
    for (const auto& odd : block.odd) {
        if (odd_kind(odd.y) == odd_kind(y)) return;
    }
    block.odd.push_back(point);
}

template <class Number>
void put(std::string& out, Number number)
{
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

double odd_value(std::uint8_t kind)
{
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    return kind == 0 ? std::numeric_limits<double>::quiet_NaN() : kind == 1 ? infinity : -infinity;
}

// Takes bytes whose size was looked at before.
class Taker {
public:
    explicit Taker(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    template <class Number>
    Number take()
    {
        Number number;
        std::memcpy(&number, at_, sizeof number);
        at_ += sizeof number;
        return number;
    }

private:
    const char* at_;
    const char* end_;
};

struct Form {
    std::uint8_t values = 0;
    std::uint8_t distance = 0;  // bytes of an x
    std::uint64_t base = 0;

    [[nodiscard]] std::size_t block_size() const
    {
        return 6 + 4 * std::size_t{distance} + (values == values_float ? 16 : 32);
    }
    [[nodiscard]] std::size_t odd_size() const { return 5 + std::size_t{distance}; }
};

void put_x(std::string& out, const Form& form, std::int64_t x)
{
    const auto distance = place_of(x) - form.base;
    out.append(reinterpret_cast<const char*>(&distance), form.distance);
}

std::int64_t take_x(Taker& in, const Form& form)
{
    const auto distance = [&]() -> std::uint64_t {
        switch (form.distance) {
        case 1:
            return in.take<std::uint8_t>();
        case 2:
            return in.take<std::uint16_t>();
        case 4:
            return in.take<std::uint32_t>();
        default:
            return in.take<std::uint64_t>();
        }
    }();
    return static_cast<std::int64_t>(form.base + distance - sign_bit);
}

void put_value(std::string& out, const Form& form, double y)
{
    if (form.values == values_float) {
        put(out, std::isnan(y) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(y));
    } else {
        put(out, std::isnan(y) ? std::numeric_limits<double>::quiet_NaN() : y);
    }
}

double take_value(Taker& in, const Form& form)
{
    return form.values == values_float ? double{in.take<float>()} : in.take<double>();
}

std::uint8_t bytes_of(std::uint64_t distance)
{
    return distance < 1U << 8U ? 1 : distance < 1U << 16U ? 2 : distance >> 32U == 0 ? 4 : 8;
}

bool is_inside(const PointBlock& block, const PointBlock::Point& point)
{
    return point.at < block.count && point.x >= block.first.x && point.x <= block.last.x;
}

bool is_block(const PointBlock& block)
{
    return block.count > 0 && block.count <= most_chunk_points && is_inside(block, block.first) &&
           (!block.low || (is_inside(block, *block.low) && is_inside(block, *block.high)));
}

}  // namespace

std::optional<BlockSummary> summarize(const PointColumns& points, SummaryAxis axis)
{
    if (points.size() < fewest_points) return std::nullopt;
    const auto& all = axis == SummaryAxis::step ? points.steps : points.times;
    std::optional<std::int64_t> first;
    std::int64_t last = 0;
    for (std::size_t at = 0; at < points.size(); ++at) {
        if (points.is_text(at)) continue;
        if (first && all[at] < last) return std::nullopt;
        if (!first) first = all[at];
        last = all[at];
    }
    if (!first) return std::nullopt;
    BlockSummary summary;
    summary.shift = shift_of(*first, last);
    std::uint64_t column = 0;
    for (std::size_t at = 0; at < points.size(); ++at) {
        if (points.is_text(at)) continue;
        const auto now = place_of(all[at]) >> summary.shift;
        if (summary.blocks.empty() || now != column) summary.blocks.emplace_back();
        column = now;
        if (!std::isfinite(points.values[at])) ++summary.nonfinite;
        add_point(summary.blocks.back(), all[at], points.values[at]);
    }
    return summary;
}

std::string encode_summary(const BlockSummary& summary)
{
    Form form;
    form.base = place_of(summary.blocks.front().first.x);
    form.distance = bytes_of(place_of(summary.blocks.back().last.x) - form.base);
    std::uint16_t odds = 0;
    for (const auto& block : summary.blocks) {
        for (const auto& point : {block.first,
                                  block.last,
                                  block.low.value_or(block.first),
                                  block.high.value_or(block.first)})
            if (!is_float(point.y)) form.values = values_double;
        odds = static_cast<std::uint16_t>(odds + block.odd.size());
    }
    std::string out;
    out.push_back(version);
    out.push_back(static_cast<char>(form.values));
    out.push_back(static_cast<char>(form.distance));
    out.push_back(static_cast<char>(summary.shift));
    put(out, static_cast<std::uint16_t>(summary.blocks.size()));
    put(out, odds);
    put(out, static_cast<std::uint16_t>(summary.nonfinite));
    put(out, form.base);
    for (const auto& block : summary.blocks) {
        const auto low = block.low.value_or(block.first);
        const auto high = block.high.value_or(block.first);
        put(out, static_cast<std::uint16_t>(block.count));
        put(out, block.low ? static_cast<std::uint16_t>(low.at) : no_point);
        put(out, block.low ? static_cast<std::uint16_t>(high.at) : no_point);
        for (const auto& point : {block.first, block.last, low, high})
            put_x(out, form, point.x);
        for (const auto& point : {block.first, block.last, low, high})
            put_value(out, form, point.y);
    }
    for (std::size_t at = 0; at < summary.blocks.size(); ++at) {
        for (const auto& point : summary.blocks[at].odd) {
            put(out, static_cast<std::uint16_t>(at));
            out.push_back(static_cast<char>(odd_kind(point.y)));
            put(out, static_cast<std::uint16_t>(point.at));
            put_x(out, form, point.x);
        }
    }
    return out;
}

Result<BlockSummary> decode_summary(std::string_view bytes)
{
    constexpr std::size_t head = 18;
    const auto damage = [] { return fail(ErrorKind::damaged, "a summary of points is damaged"); };
    if (bytes.size() < head) return damage();
    Taker in(bytes);
    BlockSummary summary;
    Form form;
    const auto read = in.take<char>();
    form.values = in.take<std::uint8_t>();
    form.distance = in.take<std::uint8_t>();
    summary.shift = in.take<std::uint8_t>();
    const std::size_t blocks = in.take<std::uint16_t>();
    const std::size_t odds = in.take<std::uint16_t>();
    summary.nonfinite = in.take<std::uint16_t>();
    form.base = in.take<std::uint64_t>();
    if (read != version || form.values > values_double || summary.shift > 63 || blocks == 0 ||
        (form.distance != 1 && form.distance != 2 && form.distance != 4 && form.distance != 8) ||
        in.left() != blocks * form.block_size() + odds * form.odd_size())
        return damage();
    summary.blocks.resize(blocks);
    auto before = static_cast<std::int64_t>(form.base - sign_bit);
    for (auto& block : summary.blocks) {
        block.count = in.take<std::uint16_t>();
        PointBlock::Point low;
        PointBlock::Point high;
        low.at = in.take<std::uint16_t>();
        high.at = in.take<std::uint16_t>();
        block.last.at = block.count - 1;
        for (auto* point : {&block.first, &block.last, &low, &high})
            point->x = take_x(in, form);
        for (auto* point : {&block.first, &block.last, &low, &high})
            point->y = take_value(in, form);
        if (low.at != no_point) {
            block.low = low;
            block.high = high;
        }
        if (!is_block(block) || block.first.x < before) return damage();
        before = block.last.x;
    }
    for (std::size_t i = 0; i < odds; ++i) {
        const std::size_t block = in.take<std::uint16_t>();
        const auto kind = in.take<std::uint8_t>();
        PointBlock::Point point;
        point.at = in.take<std::uint16_t>();
        point.x = take_x(in, form);
        point.y = odd_value(kind);
        if (block >= blocks || kind > 2 || !is_inside(summary.blocks[block], point))
            return damage();
        summary.blocks[block].odd.push_back(point);
    }
    return summary;
}

EncodedSummaries encode_summaries(const PointColumns& points)
{
    EncodedSummaries encoded;
    if (const auto steps = summarize(points, SummaryAxis::step))
        encoded.steps = encode_summary(*steps);
    if (const auto times = summarize(points, SummaryAxis::time))
        encoded.times = encode_summary(*times);
    return encoded;
}

}  // namespace ponk::store
