// SPDX-License-Identifier: Apache-2.0
// Archives that an engine sends. However they are cut into pieces, the same is read.
#include "dockerapi/tar.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace ponk::dockerapi;

struct Seen {
    std::string text;  // all entries and bytes in order
    bool whole = false;
};

Seen read(std::string_view bytes, std::size_t piece)
{
    Seen seen;
    TarReader reader({.begin = [&seen](const TarEntry& entry) -> ponk::Result<> {
                          seen.text += entry.path + '\0' + entry.link + '\0' +
                                       std::to_string(entry.size) + '\0';
                          return {};
                      },
                      .data = [&seen](std::string_view data) -> ponk::Result<> {
                          seen.text += data;
                          return {};
                      }});
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        if (!reader.take(bytes.substr(at, piece))) return seen;
    seen.whole = reader.finish().has_value();
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto all = read(bytes, std::max<std::size_t>(size, 1));
    const auto pieces = read(bytes, 97);
    if (all.text != pieces.text || all.whole != pieces.whole) std::abort();
    return 0;
}
