// SPDX-License-Identifier: Apache-2.0
#include "relay/http.hpp"

#include <algorithm>
#include <cstdlib>

// A head that is accepted says how long its body is in one way only, and its parts hold no line
// breaks that a second reader could take for its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static_cast<void>(ponk::relay::parse_chunk_size(text));
    const auto head = ponk::relay::parse_head(text);
    if (!head) return 0;
    if (head->chunked && head->length != 0) std::abort();
    const auto has_break = [](const std::string& part) {
        return part.find_first_of("\r\n") != std::string::npos ||
               part.find('\0') != std::string::npos;
    };
    if (has_break(head->method) || has_break(head->target)) std::abort();
    const bool broken =
        std::any_of(head->headers.begin(), head->headers.end(), [&](const auto& header) {
            return has_break(header.first) || has_break(header.second);
        });
    if (broken || !text.ends_with("\r\n\r\n")) std::abort();
    return 0;
}
