// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string_view>

namespace ponk {

// The error with `words` in the place of `blank` in its hint, where that stands there: advice is
// often given by those who do not know the names that whoever asked used.
Error fill_in_advice(const Error& error, std::string_view blank, std::string_view words);

}  // namespace ponk
