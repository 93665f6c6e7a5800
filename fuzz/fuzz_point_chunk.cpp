// SPDX-License-Identifier: Apache-2.0
#include "store/points/block_summary.hpp"
#include "store/points/chunk_codec.hpp"
#include "store/points/packed_bytes.hpp"
#include "store/points/tail_codec.hpp"

#include <cstdlib>

namespace {

bool same(const ponk::store::PointColumns& a, const ponk::store::PointColumns& b)
{
    if (a.steps != b.steps || a.times != b.times || a.kinds != b.kinds || a.texts != b.texts)
        return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (ponk::store::bits_of(a.values[i]) != ponk::store::bits_of(b.values[i])) return false;
    }
    return true;
}

}  // namespace

// Bytes are refused, or say points that can be stored again and say the same then.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::store;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const auto points = ChunkDecoder().decode(bytes)) {
        const auto again = ChunkDecoder().decode(ChunkEncoder().encode(*points));
        if (!again || !same(*again, *points)) std::abort();
    }
    if (const auto summary = decode_summary(bytes)) {
        const auto again = decode_summary(encode_summary(*summary));
        if (!again || again->blocks.size() != summary->blocks.size()) std::abort();
    }
    PointsByKey tail;
    if (decode_tail(bytes, tail)) {
        std::size_t count = 0;
        for (const auto& key : tail.keys())
            count += key.points.size();
        if (count != tail.size()) std::abort();
        PointsByKey again;
        if (!decode_tail(encode_tail(tail), again)) std::abort();
        for (std::size_t i = 0; i < tail.keys().size(); ++i) {
            if (again.keys().at(i).key != tail.keys()[i].key ||
                !same(again.keys()[i].points, tail.keys()[i].points))
                std::abort();
        }
    }
    return 0;
}
