// SPDX-License-Identifier: Apache-2.0
// What a page's socket sends: the same messages come of it however its bytes are cut, none is
// longer than it may be, and nothing is read behind what is not allowed.
#include "net/frames.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

constexpr std::size_t longest = 300;

std::string read_in_pieces(std::string_view bytes, std::size_t size)
{
    using Step = ponk::net::FrameReader::Step;
    ponk::net::FrameReader reader(longest);
    std::string seen;
    while (!bytes.empty()) {
        auto piece = bytes.substr(0, size);
        bytes.remove_prefix(piece.size());
        for (auto step = reader.read(piece); step != Step::more; step = reader.read(piece)) {
            if (step == Step::bad) return seen + std::to_string(reader.problem().code);
            const auto content = reader.take();
            if (content.size() > longest) std::abort();
            seen += static_cast<char>('0' + static_cast<int>(step)) + content + "|";
        }
        if (!piece.empty()) std::abort();
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto whole = read_in_pieces(bytes, std::max<std::size_t>(size, 1));
    if (read_in_pieces(bytes, 1) != whole || read_in_pieces(bytes, 7) != whole) std::abort();
    return 0;
}
