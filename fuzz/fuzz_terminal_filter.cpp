// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal_filter.hpp"

#include <cstdlib>

// The first byte says how the rest is cut into pieces. However it is cut, the result is the same,
// and no control byte but those allowed comes out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const size_t step = size_t{1} + data[0] % 16;
    std::string whole;
    ponk::cli::TerminalFilter filter;
    filter.feed(bytes, whole);
    filter.finish(whole);
    std::string pieces;
    for (size_t at = 0; at < bytes.size(); at += step)
        filter.feed(bytes.substr(at, step), pieces);
    filter.finish(pieces);
    if (whole != pieces) std::abort();
    for (size_t at = 0; at < whole.size(); ++at) {
        const auto byte = static_cast<unsigned char>(whole[at]);
        const bool allowed = byte == '\n' || byte == '\r' || byte == '\b' || byte == '\t';
        const bool colour = byte == 0x1b && at + 1 < whole.size() && whole[at + 1] == '[';
        if ((byte < 0x20 && !allowed && !colour) || byte == 0x7f) std::abort();
    }
    return 0;
}
