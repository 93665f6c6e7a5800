// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/files.hpp"

// Proof that a file of the run directory is ours: the script can write there, but does not know the
// run's key. docs/design/run-directory.md describes it.
namespace ponk::stub {

// Ends a text with its seal, if there is a key, and with "end".
template <std::size_t Size>
void add_seal(Line<Size>& text, const char* key, const char* name);

// Reads the file `name`, which has its seal if there is a key. Returns the length of the text
// before the seal, or -1.
long read_sealed(const char* key, const char* name, char* out, std::size_t room);

}  // namespace ponk::stub
