// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace ponk {

constexpr std::size_t seal_key_size = 32;

// Encrypts `plain` so that any change is noticed (AES-256-GCM, random nonce in front). The same
// `context` is needed to open it: it ties the bytes to the place they belong to.
std::string seal(std::string_view key, std::string_view plain, std::string_view context);
// `damaged` when key, context or a single bit differ.
Result<std::string>
open_sealed(std::string_view key, std::string_view sealed, std::string_view context);

// Overwrites bytes that must not stay in memory.
void wipe(std::string& bytes);

}  // namespace ponk
