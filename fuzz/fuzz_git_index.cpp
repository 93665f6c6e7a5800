// SPDX-License-Identifier: Apache-2.0
#include "config/git/git_index.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const std::size_t hash_size : {std::size_t{20}, std::size_t{32}})
        static_cast<void>(ponk::config::parse_git_index(bytes, hash_size));
    return 0;
}
