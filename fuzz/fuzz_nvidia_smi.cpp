// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/smi_report.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto instances = ponk::gpu::parse_smi_list(text);
    const auto report = ponk::gpu::parse_smi_report(text, instances);
    if (!report) return 0;
    // What was understood can be passed on.
    auto inventory = report->inventory;
    ponk::gpu::add_capabilities(text, inventory);
    if (!ponk::gpu::inventory_from(to_json(inventory))) std::abort();
    if (!ponk::gpu::sample_from(to_json(report->sample))) std::abort();
    return 0;
}
