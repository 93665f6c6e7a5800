// SPDX-License-Identifier: Apache-2.0
// Texts about environments that come from elsewhere: locks that travel with runs, what an image's
// shell prints, addresses in tools' output.
#include "environment/address/address.hpp"
#include "environment/build/image_probe.hpp"
#include "environment/spec/lock.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::environment;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto hidden = without_secrets(text);
    if (without_secrets(hidden) != hidden) std::abort();
    static_cast<void>(address_identity(text));
    static_cast<void>(parse_probe(text));
    if (const auto lock = parse_lock(text)) {
        const auto again = parse_lock(to_text(*lock));
        if (!again || to_text(*again) != to_text(*lock)) std::abort();
        static_cast<void>(exact_lines(*lock, {}));
    }
    return 0;
}
