// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ponk::mlflow {

// Whether a code point is a letter, a number or `_`, in any script.
bool is_word_character(std::uint32_t code);

}  // namespace ponk::mlflow
