// SPDX-License-Identifier: Apache-2.0
#include "snapshot/manifest.hpp"

#include <cstdint>
#include <cstdlib>

// What is accepted must be canonical: it prints as the very same text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto manifest = ponk::snapshot::Manifest::parse(text);
    if (manifest && manifest->text() != text) std::abort();
    return 0;
}
