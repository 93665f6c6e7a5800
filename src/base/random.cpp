// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <sys/random.h>

namespace ponk {

std::string random_bytes(std::size_t count)
{
    std::string out(count, '\0');
    std::size_t filled = 0;
    while (filled < count) {
        const auto got = ::getrandom(out.data() + filled, count - filled, 0);
        if (got > 0) filled += static_cast<std::size_t>(got);
    }
    return out;
}

}  // namespace ponk
