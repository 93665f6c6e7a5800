// SPDX-License-Identifier: Apache-2.0
#include "snapshot/stat_cache.hpp"

#include <cstdint>
#include <cstring>
#include <string>

// The checksum is made right, so that what is behind it is tried too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (size >= 32) {
        const auto content = size - 32;
        const auto sum = ponk::sha256(std::string_view(bytes).substr(0, content));
        std::memcpy(bytes.data() + content, sum.bytes.data(), 32);
    }
    const auto cache = ponk::snapshot::StatCache::parse(std::move(bytes));
    if (!cache) return 0;
    std::size_t seen = 0;
    for (std::uint32_t i = 0; i < cache->folder_count(); ++i) {
        const auto folder = cache->folder(i);
        seen += folder.path.size();
        for (std::uint32_t k = 0; k < folder.file_count && seen < 1'000'000; ++k) {
            const auto file = cache->file(folder.first_file + k);
            seen += std::strlen(file.name.data()) + file.target.size();
            seen += cache->chunks(file).size();
        }
    }
    return seen == SIZE_MAX ? 1 : 0;
}
