// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/amd_probe.hpp"

#include "base/text.hpp"
#include "gpu/probe/child_probe.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/utsname.h>

namespace ponk::gpu {

namespace {

// The files are a line or a page long; one that cannot be read says nothing.
std::string word_in(const Path& file)
{
    return std::string(trim(os::read_file(file, 1 << 16).value_or("")));
}

std::optional<std::uint64_t> number_in(const Path& file)
{
    const auto value = parse_integer(word_in(file));
    if (!value || *value < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

std::vector<std::string> names_in(const Path& folder)
{
    std::vector<std::string> names;
    for (auto& entry : os::list_directory(folder).value_or(std::vector<os::Entry>()))
        names.push_back(std::move(entry.name));
    return names;
}

// "key value" lines.
std::string property(const std::string& text, std::string_view key)
{
    for (const auto& line : split(text, '\n')) {
        const auto space = line.find(' ');
        if (space != std::string::npos && std::string_view(line).substr(0, space) == key)
            return std::string(trim(line.substr(space + 1)));
    }
    return {};
}

// 90402 is gfx942, 90010 is gfx90a: two decimal digits each, shown as one hexadecimal.
std::string architecture(const std::string& version)
{
    const auto number = parse_integer(version);
    if (!number || *number <= 0 || *number > 999'999) return {};
    return fmt::format("gfx{}{:x}{:x}", *number / 10'000, *number / 100 % 100, *number % 100);
}

// "0: 500Mhz", "1: 2100Mhz *": the highest and the one in use.
struct Clocks {
    unsigned highest = 0;
    std::optional<unsigned> current;
};
Clocks clocks_in(const Path& file)
{
    Clocks clocks;
    for (const auto& line : split(word_in(file), '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string rest(trim(line.substr(colon + 1)));
        const auto digits = rest.find_first_not_of("0123456789");
        const auto value = parse_integer(rest.substr(0, digits));
        if (!value || *value < 0 || *value > 100'000) continue;
        clocks.highest = std::max(clocks.highest, static_cast<unsigned>(*value));
        if (rest.ends_with('*')) clocks.current = static_cast<unsigned>(*value);
    }
    return clocks;
}

// The sensors' folder has a number in its name.
std::optional<std::uint64_t> sensor(const Path& device, std::initializer_list<const char*> names)
{
    for (const auto& monitor : names_in(device / "hwmon")) {
        for (const auto* name : names)
            if (const auto value = number_in(device / "hwmon" / monitor / name)) return value;
    }
    return std::nullopt;
}

}  // namespace

AmdProbe::AmdProbe(Path root) : root_(std::move(root)) {}

bool AmdProbe::is_present(const Path& root)
{
    struct stat info {};
    return ::stat((root / "sys/class/kfd/kfd/topology").c_str(), &info) == 0 &&
           ::stat((root / "sys/module/amdgpu").c_str(), &info) == 0;
}

std::vector<AmdProbe::Card> AmdProbe::find_cards() const
{
    std::vector<Card> cards;
    const auto drm = root_ / "sys/class/drm";
    for (const auto& name : names_in(drm)) {
        // "card0", not "card0-DP-1".
        if (!name.starts_with("card") || !parse_integer(name.substr(4))) continue;
        const auto folder = drm / name / "device";
        const auto id = word_in(folder / "unique_id");
        if (word_in(folder / "vendor") != "0x1002" || id.empty() || !from_hex(id)) continue;
        Card card{.device = {}, .folder = folder, .kfd_id = ""};
        auto& device = card.device;
        device.uuid = "GPU-" + id;
        device.vendor = "amd";
        device.name = word_in(folder / "product_name");
        if (device.name.empty()) device.name = "AMD GPU " + word_in(folder / "device");
        device.clock_mhz = clocks_in(folder / "pp_dpm_sclk").highest;
        device.memory_total = number_in(folder / "mem_info_vram_total").value_or(0);
        if (const auto microwatts = sensor(folder, {"power1_cap"}))
            device.power_limit = static_cast<double>(*microwatts) / 1e6;
        const auto used = number_in(folder / "mem_info_vram_used").value_or(0);
        device.memory_free = device.memory_total - std::min(used, device.memory_total);
        for (const auto& line : split(word_in(folder / "uevent"), '\n'))
            if (line.starts_with("PCI_SLOT_NAME=")) device.pci_bus_id = trim(line.substr(14));
        for (auto& letter : device.pci_bus_id)
            if (letter >= 'a' && letter <= 'f') letter = static_cast<char>(letter - 'a' + 'A');
        for (const auto& node : names_in(folder / "drm"))
            if (node.starts_with("renderD")) device.nodes.push_back("/dev/dri/" + node);
        cards.push_back(std::move(card));
    }
    const auto nodes = root_ / "sys/class/kfd/kfd/topology/nodes";
    for (const auto& node : names_in(nodes)) {
        const auto properties = word_in(nodes / node / "properties");
        const auto minor = property(properties, "drm_render_minor");
        for (auto& card : cards) {
            if (card.device.nodes != std::vector<std::string>{"/dev/dri/renderD" + minor}) continue;
            card.kfd_id = word_in(nodes / node / "gpu_id");
            card.device.compute_capability =
                architecture(property(properties, "gfx_target_version"));
        }
    }
    std::erase_if(cards, [](const Card& card) { return card.kfd_id.empty(); });
    std::sort(cards.begin(), cards.end(), [](const Card& left, const Card& right) {
        return left.device.pci_bus_id < right.device.pci_bus_id;
    });
    for (std::size_t i = 0; i < cards.size(); ++i)
        cards[i].device.index = static_cast<unsigned>(i);
    return cards;
}

Result<Inventory> AmdProbe::inventory(Deadline /*deadline*/, std::stop_token /*stop*/)
{
    cards_ = find_cards();
    looked_ = true;
    Inventory found;
    found.way = "amd";
    found.driver_version = word_in(root_ / "sys/module/amdgpu/version");
    if (found.driver_version.empty()) {
        utsname name{};
        ::uname(&name);
        found.driver_version = fmt::format("of Linux {}", name.release);
    }
    for (const auto& card : cards_)
        found.devices.push_back(card.device);
    return found;
}

DeviceSample AmdProbe::measure(const Card& card) const
{
    DeviceSample sample;
    sample.uuid = card.device.uuid;
    if (const auto busy = number_in(card.folder / "gpu_busy_percent"); busy && *busy <= 100)
        sample.utilisation = static_cast<double>(*busy) / 100;
    sample.memory_used = number_in(card.folder / "mem_info_vram_used");
    if (const auto microwatts = sensor(card.folder, {"power1_average", "power1_input"}))
        sample.power_watts = static_cast<double>(*microwatts) / 1e6;
    if (const auto microjoules = sensor(card.folder, {"energy1_input"}))
        sample.energy_joules = static_cast<double>(*microjoules) / 1e6;
    if (const auto millidegrees = sensor(card.folder, {"temp1_input", "temp2_input"}))
        sample.temperature = static_cast<double>(*millidegrees) / 1e3;
    sample.clock_mhz = clocks_in(card.folder / "pp_dpm_sclk").current;
    const auto list = root_ / "sys/class/kfd/kfd/proc";
    for (const auto& name : names_in(list)) {
        const auto pid = parse_integer(name);
        const auto memory = number_in(list / name / ("vram_" + card.kfd_id));
        // The kernel has this file for every card of a process that opened the driver; memory
        // tells which cards it uses.
        if (pid && memory && *memory > 0)
            sample.processes.push_back({.pid = static_cast<pid_t>(*pid), .memory = *memory});
    }
    if (word_in(card.folder / "vendor").empty()) sample.lost = "the kernel no longer shows it";
    return sample;
}

Result<Sample> AmdProbe::sample(Deadline deadline, std::stop_token stop)
{
    if (!looked_) TRY(inventory(deadline, stop));
    Sample sample{.time = wall_milliseconds(), .devices = {}};
    for (const auto& card : cards_)
        sample.devices.push_back(measure(card));
    return sample;
}

}  // namespace ponk::gpu
