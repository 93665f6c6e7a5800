// SPDX-License-Identifier: Apache-2.0
#include "mlflow/lone_surrogates.hpp"

#include <charconv>

namespace ponk::mlflow {

namespace {

constexpr std::size_t escape_length = 6;  // \udcff

// What the escape at `at` says; 0 when it is another one.
unsigned code_at(std::string_view json, std::size_t at)
{
    if (at + escape_length > json.size() || json[at] != '\\' || json[at + 1] != 'u') return 0;
    unsigned code = 0;
    const auto* const end = json.data() + at + escape_length;
    const auto [stop, problem] = std::from_chars(json.data() + at + 2, end, code, 16);
    return problem == std::errc() && stop == end ? code : 0;
}

// The next one from `at` on; npos when there is none.
std::size_t find_lone_surrogate(std::string_view json, std::size_t at)
{
    while ((at = json.find('\\', at)) != std::string_view::npos) {
        const auto code = code_at(json, at);
        if (code >= 0xdc80 && code <= 0xdcff) return at;
        const bool first_half = code >= 0xd800 && code < 0xdc00;
        // Behind a first half stands the second one, whatever else it could be.
        at += code == 0 ? 2 : first_half ? 2 * escape_length : escape_length;
    }
    return std::string_view::npos;
}

}  // namespace

bool has_lone_surrogate(std::string_view json)
{
    return find_lone_surrogate(json, 0) != std::string_view::npos;
}

net::Response without_lone_surrogates(net::Response response)
{
    auto& json = response.body;
    // Most answers have no escapes but those of quotes.
    if (response.type != "application/json" || json.find("\\udc") == std::string::npos)
        return response;
    for (auto at = find_lone_surrogate(json, 0); at != std::string::npos;
         at = find_lone_surrogate(json, at))
        json.replace(at, escape_length, "\\ufffd");
    return response;
}

}  // namespace ponk::mlflow
