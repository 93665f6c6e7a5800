// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>

// Programs that travel inside ours.
namespace ponk::os {

// As uname says it: "x86_64".
std::string own_processor();

// The bytes that ponk_embed put between two symbols.
std::string_view carried_bytes(const unsigned char* begin, const unsigned char* end);

// True when the file has exactly these bytes.
bool holds(const Path& file, std::string_view bytes);

// Writes a program below `folder` once per version, and again when its file has other bytes by now,
// and returns where it is. The file's name holds the hash of its bytes, so that versions live side
// by side while old runs still use theirs.
Result<Path> install_program(const Path& folder, std::string_view name, std::string_view bytes);
// Whether it is there as it was written.
bool is_installed(const Path& folder, std::string_view name, std::string_view bytes);

}  // namespace ponk::os
