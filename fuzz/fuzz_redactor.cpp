// SPDX-License-Identifier: Apache-2.0
// Input: a line with the value, a line whose bytes are sizes of pieces, then the text.
#include "base/text.hpp"
#include "secrets/redactor.hpp"
#include "secrets/secret_pieces.hpp"

#include <cstdint>
#include <cstdlib>

using namespace ponk::secrets;

namespace {

std::string_view line(std::string_view& rest)
{
    const auto end = rest.find('\n');
    const auto found = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    const std::string value(line(rest));
    const auto sizes = line(rest);
    const auto patterns = std::make_shared<const RedactionPatterns>(std::vector{value});
    Redactor at_once(patterns);
    std::string whole(at_once.feed(rest));
    whole += at_once.finish();

    Redactor redactor(patterns);
    std::string pieces;
    for (const char piece : sizes) {
        const auto bytes = rest.substr(0, static_cast<unsigned char>(piece));
        pieces += redactor.feed(bytes);
        rest.remove_prefix(bytes.size());
    }
    pieces += redactor.feed(rest);
    pieces += redactor.finish();

    if (pieces != whole) std::abort();
    if (value.find('*') != std::string::npos) return 0;
    for (const auto& piece : pieces_of(value)) {
        if (whole.find(piece) != std::string::npos) std::abort();
        if (whole.find(ponk::to_hex(piece)) != std::string::npos) std::abort();
    }
    return 0;
}
