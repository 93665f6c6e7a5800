// SPDX-License-Identifier: Apache-2.0
#include "model/exit_record.hpp"

#include <cstdlib>

// What is accepted survives a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::model;
    const auto record = parse_exit_record({reinterpret_cast<const char*>(data), size});
    if (!record) return 0;
    const auto text = to_text(*record);
    const auto again = parse_exit_record(text);
    if (!again || to_text(*again) != text) std::abort();
    return 0;
}
