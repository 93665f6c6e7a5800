// SPDX-License-Identifier: Apache-2.0
#include "base/advice.hpp"

#include <string>

namespace ponk {

Error fill_in_advice(const Error& error, std::string_view blank, std::string_view words)
{
    auto hint = error.hint();
    const auto at = hint.find(blank);
    if (at == std::string::npos) return error;
    hint.replace(at, blank.size(), words);
    return error.with_hint(std::move(hint));
}

}  // namespace ponk
