// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease_note.hpp"

#include <cstdlib>

// Notes in lock files, which every user of a machine can write, and the words that ask for GPUs.
// What is accepted survives a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::gpu;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto note = parse_lease_note(text)) {
        const auto written = to_text(*note);
        const auto again = parse_lease_note(written);
        if (!again || to_text(*again) != written) std::abort();
    }
    if (const auto selection = parse_gpu_selection(text)) {
        const auto written = to_text(*selection);
        const auto again = parse_gpu_selection(written);
        if (!again || to_text(*again) != written) std::abort();
    }
    return 0;
}
