// SPDX-License-Identifier: Apache-2.0
#include "store/points/chunk_codec.hpp"
#include "store/points/chunk_format.hpp"
#include "store/points/packed_bytes.hpp"

#include <zstd.h>

#include <algorithm>
#include <cmath>

namespace ponk::store {

namespace {

using namespace chunk_format;

constexpr int zstd_level = 1;
constexpr std::size_t smallest_compressed = 64;
constexpr std::size_t largest_compressed_texts = std::size_t{4} << 20;

// A sixteenth must be saved, for the time that reading costs.
bool pays(std::size_t plain, std::size_t packed)
{
    return packed < plain - plain / 16;
}

// The difference that neighbours have most often, near enough.
std::int64_t usual_difference(std::vector<std::int64_t> differences)
{
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    return *middle;
}

}  // namespace

struct ChunkEncoder::State {
    ZSTD_CCtx* context = nullptr;  // made when first needed: many chunks are too small
    std::string plane;
    std::string packed;

    ~State() { ZSTD_freeCCtx(context); }

    // The bytes in `packed`, or nothing where that does not pay.
    bool compress(std::string_view bytes)
    {
        if (bytes.size() < smallest_compressed) return false;
        if (!context) context = ZSTD_createCCtx();
        if (!context) return false;
        packed.resize(ZSTD_compressBound(bytes.size()));
        const auto size = ZSTD_compressCCtx(
            context, packed.data(), packed.size(), bytes.data(), bytes.size(), zstd_level);
        if (ZSTD_isError(size) || !pays(bytes.size(), size)) return false;
        packed.resize(size);
        return true;
    }

    void put_plane(std::string& out, std::string_view bytes)
    {
        if (bytes.find_first_not_of(bytes.front()) == std::string_view::npos) {
            out.push_back(plane_constant);
            out.push_back(bytes.front());
        } else if (compress(bytes)) {
            out.push_back(plane_zstd);
            put_text(out, packed);
        } else {
            out.push_back(plane_raw);
            out.append(bytes);
        }
    }

    // The lowest bytes of all numbers, then the next ones…
    template <class Number>
    void put_planes(std::string& out, const std::vector<Number>& numbers, unsigned width)
    {
        plane.resize(numbers.size());
        for (unsigned at = 0; at < width; ++at) {
            std::transform(numbers.begin(), numbers.end(), plane.begin(), [at](Number number) {
                return static_cast<char>(number >> (8 * at));
            });
            put_plane(out, plane);
        }
    }

    void put_integers(std::string& out, const std::vector<std::int64_t>& numbers)
    {
        put_signed(out, numbers.front());
        if (numbers.size() == 1) return;
        std::vector<std::int64_t> differences(numbers.size() - 1);
        // Differences wrap around, and so do the sums of the reader.
        for (std::size_t i = 1; i < numbers.size(); ++i)
            differences[i - 1] =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers[i]) -
                                          static_cast<std::uint64_t>(numbers[i - 1]));
        const auto usual = usual_difference(differences);
        put_signed(out, usual);
        std::vector<std::uint64_t> rest(differences.size());
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            rest[i] = to_zigzag(static_cast<std::int64_t>(
                static_cast<std::uint64_t>(differences[i]) - static_cast<std::uint64_t>(usual)));
            any |= rest[i];
        }
        const auto width = static_cast<unsigned>(std::bit_width(any) + 7) / 8;
        out.push_back(static_cast<char>(width));
        put_planes(out, rest, width);
    }

    void put_values(std::string& out, const std::vector<double>& values)
    {
        if (std::all_of(values.begin(), values.end(), is_float)) {
            std::vector<std::uint32_t> bits(values.size());
            std::transform(values.begin(), values.end(), bits.begin(), [](double value) {
                const auto one = std::isnan(value) ? std::numeric_limits<float>::quiet_NaN()
                                                   : static_cast<float>(value);
                return std::bit_cast<std::uint32_t>(one);
            });
            out.push_back(values_float);
            put_planes(out, bits, 4);
            return;
        }
        std::vector<std::uint64_t> bits(values.size());
        std::transform(values.begin(), values.end(), bits.begin(), bits_of);
        out.push_back(values_double);
        put_planes(out, bits, 8);
    }

    void put_texts(std::string& out, const PointColumns& points)
    {
        std::string all;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (points.is_text(i)) put_text(all, points.texts[i]);
        }
        const bool small = all.size() <= largest_compressed_texts && compress(all);
        out.push_back(small ? texts_zstd : texts_raw);
        if (small) put_number(out, all.size());
        put_text(out, small ? packed : all);
    }
};

ChunkEncoder::ChunkEncoder() : state_(std::make_unique<State>()) {}
ChunkEncoder::~ChunkEncoder() = default;

std::string ChunkEncoder::encode(const PointColumns& points)
{
    std::string out;
    out.push_back(version);
    put_number(out, points.size());
    state_->put_integers(out, points.steps);
    state_->put_integers(out, points.times);
    state_->put_plane(out,
                      {reinterpret_cast<const char*>(points.kinds.data()), points.kinds.size()});
    state_->put_values(out, points.values);
    if (!points.texts.empty()) state_->put_texts(out, points);
    return out;
}

}  // namespace ponk::store
