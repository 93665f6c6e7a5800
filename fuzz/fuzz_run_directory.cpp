// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/control_directory.hpp"

#include <cstdlib>

// The texts of a run directory: whatever is in them is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::executor;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    [[maybe_unused]] const auto processes = parse_processes(text);
    [[maybe_unused]] const auto early = parse_early_end(text);
    if (const auto spec = parse_stub_spec(text)) {
        const auto again = parse_stub_spec(to_text(*spec));
        if (!again || again->argv != spec->argv) std::abort();
    }
    return 0;
}
