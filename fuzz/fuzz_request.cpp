// SPDX-License-Identifier: Apache-2.0
// What comes over the socket: an address line and a body. Whatever the address is decoded to must
// not be able to leave a folder.
#include "base/json.hpp"
#include "net/target.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = text.substr(0, text.find('\n'));
    if (const auto target = ponk::net::parse_target(line)) {
        std::string again;
        for (const auto& segment : target->path) {
            if (segment.empty() || segment == "." || segment == ".." ||
                segment.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
                std::abort();
            again += "/" + ponk::net::percent_encode(segment);
        }
        const auto back = ponk::net::parse_target(again.empty() ? "/" : again);
        if (!back || back->path != target->path) std::abort();
    }
    if (line.size() < text.size()) {
        if (const auto body = ponk::parse_json(text.substr(line.size() + 1))) {
            const auto back = ponk::parse_json(ponk::to_json(*body));
            if (!back) std::abort();
        }
    }
    return 0;
}
