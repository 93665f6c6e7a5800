// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/smi_report.hpp"

#include "base/text.hpp"
#include "gpu/probe/xml.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::gpu {

namespace {

// The number before the unit: "45 C", "81559 MiB", "70.45 W"; nullopt for "N/A" and the like.
std::optional<double> figure(const std::string& text)
{
    const auto end = text.find(' ');
    const auto value = parse_real(std::string_view(text).substr(0, end));
    if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e15) return std::nullopt;
    return value;
}

std::optional<double> first_figure(const XmlElement& element,
                                   std::initializer_list<const char*> paths)
{
    for (const auto* path : paths)
        if (const auto value = figure(element.text_at(path))) return value;
    return std::nullopt;
}

std::optional<std::uint64_t> byte_count(const std::string& text)
{
    const auto value = figure(text);
    if (!value) return std::nullopt;
    double unit = 1;
    if (text.ends_with("KiB")) unit = 1024;
    if (text.ends_with("MiB")) unit = 1024.0 * 1024;
    if (text.ends_with("GiB")) unit = 1024.0 * 1024 * 1024;
    return static_cast<std::uint64_t>(std::min(*value * unit, 1e18));
}

std::optional<unsigned> number(const std::string& text)
{
    const auto value = figure(text);
    return value && *value < 4e9 ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

// "00000000:0B:00.0" has a domain of eight digits; everybody else writes four.
std::string short_bus_id(std::string id)
{
    if (id.size() == 16 && id.starts_with("0000")) id.erase(0, 4);
    return id;
}

std::optional<std::uint64_t> uncorrected_errors(const XmlElement& gpu)
{
    const auto* const counts = gpu.find("ecc_errors/volatile");
    std::optional<std::uint64_t> sum;
    if (!counts) return sum;
    for (const auto& count : counts->children) {
        if (count.name.find("uncorrectable") == std::string::npos) continue;
        if (const auto value = figure(count.text))
            sum = sum.value_or(0) + static_cast<std::uint64_t>(*value);
    }
    if (const auto value = figure(gpu.text_at("ecc_errors/volatile/double_bit/total"));
        !sum && value)
        sum = static_cast<std::uint64_t>(*value);
    return sum;
}

// Those of one instance, or of the whole card when `instance` is null.
std::vector<DeviceProcess> processes_of(const XmlElement& gpu, const XmlElement* instance)
{
    std::vector<DeviceProcess> found;
    const auto* const list = gpu.find("processes");
    if (!list) return found;
    for (const auto& process : list->children) {
        if (process.name != "process_info") continue;
        if (instance && process.text_at("gpu_instance_id") != instance->text_at("gpu_instance_id"))
            continue;
        if (instance && process.text_at("compute_instance_id") != "N/A" &&
            process.text_at("compute_instance_id") != instance->text_at("compute_instance_id"))
            continue;
        const auto pid = number(process.text_at("pid"));
        if (!pid || *pid == 0 || *pid > 1U << 30U) continue;
        const auto memory = byte_count(process.text_at("used_memory")).value_or(0);
        const bool draws_only = process.text_at("type") == "G";  // beside "C" and "C+G"
        const auto same = std::find_if(found.begin(), found.end(), [&](const auto& other) {
            return other.pid == static_cast<pid_t>(*pid);
        });
        if (same != found.end()) {
            same->memory = std::max(same->memory, memory);
            same->draws_only = same->draws_only && draws_only;
        } else {
            found.push_back({.pid = static_cast<pid_t>(*pid),
                             .memory = memory,
                             .sm_utilisation = {},
                             .draws_only = draws_only});
        }
    }
    return found;
}

void add_card(const XmlElement& gpu, const Device& device, SmiReport& report)
{
    DeviceSample sample;
    sample.uuid = device.uuid;
    if (const auto percent = figure(gpu.text_at("utilization/gpu_util"));
        percent && *percent <= 100)
        sample.utilisation = *percent / 100;
    sample.memory_used = byte_count(gpu.text_at("fb_memory_usage/used"));
    sample.power_watts = first_figure(gpu,
                                      {"gpu_power_readings/power_draw",
                                       "gpu_power_readings/average_power_draw",
                                       "gpu_power_readings/instant_power_draw",
                                       "power_readings/power_draw"});
    sample.temperature = figure(gpu.text_at("temperature/gpu_temp"));
    sample.clock_mhz = number(gpu.text_at("clocks/sm_clock"));
    sample.ecc_errors = uncorrected_errors(gpu);
    sample.processes = processes_of(gpu, nullptr);
    report.sample.devices.push_back(std::move(sample));
    report.inventory.devices.push_back(device);
}

void add_instances(const XmlElement& gpu,
                   const Device& card,
                   const std::vector<SmiInstance>& named,
                   SmiReport& report)
{
    report.has_mig = true;
    const auto before = report.inventory.devices.size();
    const auto* const list = gpu.find("mig_devices");
    for (const auto& instance : list ? list->children : std::vector<XmlElement>()) {
        if (instance.name != "mig_device") continue;
        const auto index = number(instance.text_at("index"));
        const auto name = std::find_if(named.begin(), named.end(), [&](const auto& candidate) {
            return candidate.card == card.uuid && candidate.index == index;
        });
        if (name == named.end()) continue;
        auto device = card;
        device.uuid = name->uuid;
        device.card = card.uuid;
        device.power_limit = 0;  // it has a share of the card's
        device.index = static_cast<unsigned>(report.inventory.devices.size());
        device.name = card.name + " MIG " + name->profile;
        device.memory_total = byte_count(instance.text_at("fb_memory_usage/total")).value_or(0);
        device.memory_free = byte_count(instance.text_at("fb_memory_usage/free")).value_or(0);
        DeviceSample sample;
        sample.uuid = device.uuid;
        sample.memory_used = byte_count(instance.text_at("fb_memory_usage/used"));
        sample.temperature = figure(gpu.text_at("temperature/gpu_temp"));
        sample.processes = processes_of(gpu, &instance);
        report.sample.devices.push_back(std::move(sample));
        report.inventory.devices.push_back(std::move(device));
    }
    // With instances that nobody named yet, the caller asks for their names.
    if (report.inventory.devices.size() != before || gpu.find("mig_devices/mig_device")) return;
    report.inventory.problem =
        Error(ErrorKind::unavailable,
              fmt::format("the GPU '{}' ({}) is in MIG mode and has no instances",
                          printable(card.name),
                          printable(card.uuid)),
              "Create instances with 'sudo nvidia-smi mig -cgi PROFILE -C', or disable MIG with "
              "'sudo nvidia-smi -mig 0'.");
}

}  // namespace

std::vector<SmiInstance> parse_smi_list(std::string_view text)
{
    std::vector<SmiInstance> found;
    std::string card;
    const auto uuid_of = [](const std::string& line) -> std::string {
        const auto begin = line.find("(UUID: ");
        const auto end = line.rfind(')');
        if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
        return line.substr(begin + 7, end - begin - 7);
    };
    for (const auto& line : split(text, '\n')) {
        if (line.starts_with("GPU ")) card = uuid_of(line);
        const std::string words(trim(line));
        const auto device = words.find("Device");
        const auto colon = words.find(':');
        if (!words.starts_with("MIG ") || device == std::string::npos ||
            colon == std::string::npos || colon < device || card.empty())
            continue;
        const auto index = parse_integer(trim(words.substr(device + 6, colon - device - 6)));
        const auto uuid = uuid_of(words);
        if (!index || *index < 0 || *index > 1000) continue;
        // The name of a lock file is made of it.
        if (uuid.empty() || uuid.size() > 200 || uuid.find('/') != std::string::npos) continue;
        found.push_back({.card = card,
                         .index = static_cast<unsigned>(*index),
                         .profile = std::string(trim(words.substr(4, device - 4))),
                         .uuid = uuid});
    }
    return found;
}

Result<SmiReport> parse_smi_report(std::string_view xml, const std::vector<SmiInstance>& instances)
{
    const auto root = TRY(parse_xml(xml));
    if (root.name != "nvidia_smi_log")
        return fail(ErrorKind::damaged, "'{}' is not a report of nvidia-smi", printable(root.name));
    SmiReport report;
    report.inventory.way = "nvidia-smi";
    report.inventory.driver_version = root.text_at("driver_version");
    if (const auto cuda = root.text_at("cuda_version"); figure(cuda))
        report.inventory.cuda_version = cuda;
    for (const auto& gpu : root.children) {
        if (gpu.name != "gpu") continue;
        Device device;
        device.uuid = gpu.text_at("uuid");
        device.index = static_cast<unsigned>(report.inventory.devices.size());
        device.name = gpu.text_at("product_name");
        device.vendor = "nvidia";
        device.clock_mhz = number(gpu.text_at("max_clocks/sm_clock")).value_or(0);
        device.pci_bus_id = short_bus_id(gpu.attribute("id"));
        device.memory_total = byte_count(gpu.text_at("fb_memory_usage/total")).value_or(0);
        device.memory_free = byte_count(gpu.text_at("fb_memory_usage/free")).value_or(0);
        device.power_limit = first_figure(gpu,
                                          {"gpu_power_readings/current_power_limit",
                                           "gpu_power_readings/enforced_power_limit",
                                           "power_readings/enforced_power_limit"})
                                 .value_or(0);
        if (const auto minor = number(gpu.text_at("minor_number")))
            device.nodes.push_back(fmt::format("/dev/nvidia{}", *minor));
        // Through the reader of the protocol, which refuses names that are unfit for files.
        TRY(device_from(to_json(device)));
        if (gpu.text_at("mig_mode/current_mig") == "Enabled")
            add_instances(gpu, device, instances, report);
        else
            add_card(gpu, device, report);
    }
    return report;
}

void add_capabilities(std::string_view csv, Inventory& inventory)
{
    for (const auto& line : split(csv, '\n')) {
        const auto fields = split(line, ',');
        if (fields.size() != 2 || !parse_real(trim(fields[1]))) continue;
        const auto uuid = trim(fields[0]);
        for (auto& device : inventory.devices)
            if (device.uuid == uuid || device.card == uuid)
                device.compute_capability = std::string(trim(fields[1]));
    }
}

}  // namespace ponk::gpu
