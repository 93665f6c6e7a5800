// SPDX-License-Identifier: Apache-2.0
#include "gpu/banner.hpp"

#include "base/text.hpp"

namespace ponk::gpu {

namespace {

std::string or_unknown(std::string text)
{
    return text.empty() ? "not reported by the driver" : text;
}

std::string capability_text(const Device& device)
{
    const auto dot = device.compute_capability.find('.');
    if (dot == std::string::npos) return or_unknown(device.compute_capability);
    return fmt::format("{} (major {}, minor {})",
                       device.compute_capability,
                       device.compute_capability.substr(0, dot),
                       device.compute_capability.substr(dot + 1));
}

std::string clock_text(const Device& device)
{
    return device.clock_mhz == 0 ? or_unknown("")
                                 : fmt::format("{:.3f} GHz at most", device.clock_mhz / 1000.0);
}

std::string memory_text(const Device& device)
{
    if (device.memory_total == 0) return or_unknown("");
    return fmt::format("{} total, {} free",
                       byte_size_text(device.memory_total),
                       byte_size_text(device.memory_free));
}

void add_line(std::string& out, const char* what, const std::string& value)
{
    out += fmt::format("  {:<20}{}\n", what, printable(value));
}

}  // namespace

std::vector<std::string> banner(const std::vector<Device>& devices,
                                const std::string& driver_version,
                                const std::string& cuda_version)
{
    std::vector<std::string> blocks;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto& device = devices[i];
        auto& out = blocks.emplace_back(
            fmt::format("available: GPU {} ({} of {})\n", device.index, i + 1, devices.size()));
        add_line(out, "name", or_unknown(device.name));
        if (device.vendor != "amd") add_line(out, "compute capability", capability_text(device));
        add_line(out, "clock", clock_text(device));
        add_line(out, "PCI bus id", or_unknown(device.pci_bus_id));
        add_line(out, "memory", memory_text(device));
        add_line(out, "driver", or_unknown(driver_version));
        if (device.vendor != "amd") add_line(out, "CUDA of the driver", or_unknown(cuda_version));
        add_line(out, "id", device.uuid);
        if (!device.card.empty()) add_line(out, "part of", device.card);
    }
    return blocks;
}

}  // namespace ponk::gpu
