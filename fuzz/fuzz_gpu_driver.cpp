// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/cdi.hpp"
#include "gpu/container/driver_libraries.hpp"
#include "gpu/container/toolkit.hpp"

#include <cstdlib>

// What programs and files of a machine say of its driver.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::gpu;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& file : parse_ldconfig(text))
        if (file.name.empty() || !file.source.is_absolute()) std::abort();
    static_cast<void>(parse_cdi(text));
    if (const auto toolkit = parse_toolkit(text)) static_cast<void>(holes_of(*toolkit));
    return 0;
}
