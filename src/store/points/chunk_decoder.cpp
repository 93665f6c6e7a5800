// SPDX-License-Identifier: Apache-2.0
#include "store/points/chunk_codec.hpp"
#include "store/points/chunk_format.hpp"
#include "store/points/packed_bytes.hpp"

#include <zstd.h>

#include <algorithm>

namespace ponk::store {

namespace {

using namespace chunk_format;

constexpr std::uint64_t largest_texts = std::uint64_t{4} << 20;  // of those that are compressed

}  // namespace

// Each function is false for bytes that cannot be.
struct ChunkDecoder::State {
    ZSTD_DCtx* context = nullptr;  // made when first needed
    std::string buffer;
    Numbers found;
    std::vector<std::uint64_t> rest;
    std::vector<std::uint32_t> float_bits;
    std::vector<std::uint64_t> double_bits;

    ~State() { ZSTD_freeDCtx(context); }

    // Exactly `size` bytes, in `buffer`.
    bool expand(std::string_view packed, std::size_t size)
    {
        if (!context) context = ZSTD_createDCtx();
        buffer.resize(size);
        return context && ZSTD_decompressDCtx(
                              context, buffer.data(), size, packed.data(), packed.size()) == size;
    }

    // A view into the chunk or into `buffer`.
    std::optional<std::string_view> plane(PackedReader& in, std::size_t size)
    {
        const auto form = in.byte();
        if (!form) return std::nullopt;
        switch (static_cast<char>(*form)) {
        case plane_raw:
            return in.bytes(size);
        case plane_zstd: {
            const auto packed = in.text();
            if (!packed || !expand(*packed, size)) return std::nullopt;
            return buffer;
        }
        case plane_constant: {
            const auto value = in.byte();
            if (!value) return std::nullopt;
            buffer.assign(size, static_cast<char>(*value));
            return buffer;
        }
        default:
            return std::nullopt;
        }
    }

    static bool skip_plane(PackedReader& in, std::size_t size)
    {
        const auto form = in.byte();
        if (!form) return false;
        switch (static_cast<char>(*form)) {
        case plane_raw:
            return in.bytes(size).has_value();
        case plane_zstd:
            return in.text().has_value();
        case plane_constant:
            return in.byte().has_value();
        default:
            return false;
        }
    }

    static bool skip_integers(PackedReader& in, std::size_t count)
    {
        if (!in.signed_number()) return false;
        if (count == 1) return true;
        const auto usual = in.signed_number();
        const auto width = in.byte();
        if (!usual || !width || *width > 8) return false;
        for (unsigned at = 0; at < *width; ++at) {
            if (!skip_plane(in, count - 1)) return false;
        }
        return true;
    }

    // `numbers` are 0 in the beginning.
    template <class Number>
    bool planes(PackedReader& in, unsigned width, std::vector<Number>& numbers)
    {
        for (unsigned at = 0; at < width; ++at) {
            const auto bytes = plane(in, numbers.size());
            if (!bytes) return false;
            const auto* from = reinterpret_cast<const std::uint8_t*>(bytes->data());
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] |= Number{from[i]} << (8 * at);
        }
        return true;
    }

    bool integers(PackedReader& in, std::size_t count, std::vector<std::int64_t>& numbers)
    {
        const auto first = in.signed_number();
        if (!first) return false;
        numbers.assign(count, *first);
        if (count == 1) return true;
        const auto usual = in.signed_number();
        const auto width = in.byte();
        if (!usual || !width || *width > 8) return false;
        auto now = static_cast<std::uint64_t>(*first);
        const auto difference = static_cast<std::uint64_t>(*usual);
        if (*width == 0) {
            for (std::size_t i = 1; i < count; ++i)
                numbers[i] = static_cast<std::int64_t>(now += difference);
            return true;
        }
        rest.assign(count - 1, 0);
        if (!planes(in, *width, rest)) return false;
        for (std::size_t i = 1; i < count; ++i) {
            now += difference + static_cast<std::uint64_t>(from_zigzag(rest[i - 1]));
            numbers[i] = static_cast<std::int64_t>(now);
        }
        return true;
    }

    bool values(PackedReader& in, std::size_t count, std::vector<double>& values)
    {
        const auto form = in.byte();
        values.resize(count);
        if (form == values_float) {
            float_bits.assign(count, 0);
            if (!planes(in, 4, float_bits)) return false;
            std::transform(float_bits.begin(),
                           float_bits.end(),
                           values.begin(),
                           [](std::uint32_t one) { return double{std::bit_cast<float>(one)}; });
            return true;
        }
        if (form != values_double) return false;
        double_bits.assign(count, 0);
        if (!planes(in, 8, double_bits)) return false;
        std::transform(double_bits.begin(),
                       double_bits.end(),
                       values.begin(),
                       [](std::uint64_t one) { return std::bit_cast<double>(one); });
        return true;
    }

    bool texts(PackedReader& in, PointColumns& points)
    {
        const auto form = in.byte();
        if (form != texts_raw && form != texts_zstd) return false;
        const auto size = form == texts_zstd ? in.number() : 0;
        auto bytes = in.text();
        if (!size || !bytes || *size > largest_texts) return false;
        if (form == texts_zstd) {
            if (!expand(*bytes, *size)) return false;
            bytes = buffer;
        }
        PackedReader all(*bytes);
        points.texts.resize(points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (!points.is_text(i)) continue;
            const auto text = all.text();
            if (!text) return false;
            points.texts[i] = *text;
        }
        return all.at_end();
    }

    bool chunk(PackedReader& in, PointColumns& points)
    {
        if (in.byte() != version) return false;
        const auto count = in.number();
        if (!count || *count == 0 || *count > most_chunk_points) return false;
        if (!integers(in, *count, points.steps) || !integers(in, *count, points.times))
            return false;
        const auto kinds = plane(in, *count);
        if (!kinds) return false;
        points.kinds.assign(kinds->begin(), kinds->end());
        std::uint8_t any = 0;
        for (const auto kind : points.kinds)
            any |= kind;
        if (any > (PointColumns::list | PointColumns::text)) return false;
        if (!values(in, *count, points.values)) return false;
        if ((any & PointColumns::text) != 0 && !texts(in, points)) return false;
        return in.at_end();
    }

    // Into `found`. What is not needed is skipped; texts at the end are not looked at.
    bool numbers_of(PackedReader& in, Axis axis)
    {
        if (in.byte() != version) return false;
        const auto count = in.number();
        if (!count || *count == 0 || *count > most_chunk_points) return false;
        const bool steps = axis == Axis::step;
        if (!(steps ? integers(in, *count, found.x) : skip_integers(in, *count))) return false;
        if (!(steps ? skip_integers(in, *count) : integers(in, *count, found.x))) return false;
        const auto kinds = plane(in, *count);
        if (!kinds) return false;
        std::uint8_t any = 0;
        for (const char kind : *kinds)
            any |= static_cast<std::uint8_t>(kind);
        if (any > (PointColumns::list | PointColumns::text)) return false;
        const bool has_texts = (any & PointColumns::text) != 0;
        const std::string kept = has_texts ? std::string(*kinds) : std::string();
        if (!values(in, *count, found.y)) return false;
        if (has_texts) drop_texts(kept);
        return has_texts || in.at_end();
    }

    void drop_texts(std::string_view kinds)
    {
        std::size_t to = 0;
        for (std::size_t at = 0; at < kinds.size(); ++at) {
            if ((static_cast<std::uint8_t>(kinds[at]) & PointColumns::text) != 0) continue;
            found.x[to] = found.x[at];
            found.y[to] = found.y[at];
            ++to;
        }
        found.x.resize(to);
        found.y.resize(to);
    }
};

ChunkDecoder::ChunkDecoder() : state_(std::make_unique<State>()) {}
ChunkDecoder::~ChunkDecoder() = default;

Result<PointColumns> ChunkDecoder::decode(std::string_view bytes)
{
    PackedReader in(bytes);
    PointColumns points;
    if (!state_->chunk(in, points)) return fail(ErrorKind::damaged, "a chunk of points is damaged");
    return points;
}

Result<const ChunkDecoder::Numbers*> ChunkDecoder::decode_numbers(std::string_view bytes, Axis axis)
{
    PackedReader in(bytes);
    if (!state_->numbers_of(in, axis))
        return fail(ErrorKind::damaged, "a chunk of points is damaged");
    return &state_->found;
}

}  // namespace ponk::store
