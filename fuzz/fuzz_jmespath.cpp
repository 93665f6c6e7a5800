// SPDX-License-Identifier: Apache-2.0
// The first line is the expression, the rest is the document (a built-in one when it is no JSON).
#include "query/jmespath.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

const ponk::Json& usual_document()
{
    static const auto document = ponk::parse_json(
        R"({"a":[{"b":1,"c":"x"},{"b":2.5},null,[1,2,[3]]],"b":{"c":{"d":true}},"c":"text","n":[3,1,2]})");
    return *document;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = text.substr(0, text.find('\n'));
    const auto rest = text.substr(std::min(text.size(), line.size() + 1));
    const auto expression = ponk::query::parse_jmespath(line, {.work = 50'000});
    if (!expression) return 0;
    const auto document = ponk::parse_json(rest);
    const auto found = expression->search(document ? *document : usual_document());
    // A result is a document like any other.
    if (found && !ponk::parse_json(ponk::to_json(*found), {.depth = 1000})) std::abort();
    return 0;
}
