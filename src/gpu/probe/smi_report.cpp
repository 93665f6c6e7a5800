// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/smi_report.hpp"

#include "base/text.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cmath>

namespace ponk::gpu {

namespace {

// An element costs some 64 bytes, as an attribute does: so many are far beyond any report.
constexpr std::ptrdiff_t most_tags_and_attributes = 1'000'000;

// Bytes stay as they are: names of processes are written without a look at their encoding.
Result<> read_xml(std::string_view text, pugi::xml_document& document)
{
    const auto parts = std::count_if(
        text.begin(), text.end(), [](char letter) { return letter == '<' || letter == '='; });
    if (parts > most_tags_and_attributes)
        return fail(ErrorKind::damaged, "the report of nvidia-smi has too many elements");
    const auto read = document.load_buffer(text.data(),
                                           text.size(),
                                           pugi::parse_default | pugi::parse_trim_pcdata,
                                           pugi::encoding_utf8);
    if (read) return {};
    return fail(ErrorKind::damaged,
                "the report of nvidia-smi is invalid XML at byte {}: {}",
                read.offset,
                read.description());
}

// Empty when there is no such element.
std::string text_at(pugi::xml_node element, const char* path)
{
    return element.first_element_by_path(path).child_value();
}

// The number before the unit: "45 C", "81559 MiB", "70.45 W"; nullopt for "N/A" and the like.
std::optional<double> figure(const std::string& text)
{
    const auto end = text.find(' ');
    const auto value = parse_real(std::string_view(text).substr(0, end));
    if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e15) return std::nullopt;
    return value;
}

std::optional<double> first_figure(pugi::xml_node element, std::initializer_list<const char*> paths)
{
    for (const auto* path : paths)
        if (const auto value = figure(text_at(element, path))) return value;
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

std::optional<std::uint64_t> uncorrected_errors(pugi::xml_node gpu)
{
    std::optional<std::uint64_t> sum;
    for (const auto count : gpu.first_element_by_path("ecc_errors/volatile")) {
        if (std::string_view(count.name()).find("uncorrectable") == std::string_view::npos)
            continue;
        if (const auto value = figure(count.child_value()))
            sum = sum.value_or(0) + static_cast<std::uint64_t>(*value);
    }
    if (const auto value = figure(text_at(gpu, "ecc_errors/volatile/double_bit/total"));
        !sum && value)
        sum = static_cast<std::uint64_t>(*value);
    return sum;
}

// Those of one instance, or of the whole card when `instance` is none.
std::vector<DeviceProcess> processes_of(pugi::xml_node gpu, pugi::xml_node instance)
{
    std::vector<DeviceProcess> found;
    for (const auto process : gpu.child("processes").children("process_info")) {
        if (instance && text_at(process, "gpu_instance_id") != text_at(instance, "gpu_instance_id"))
            continue;
        if (instance && text_at(process, "compute_instance_id") != "N/A" &&
            text_at(process, "compute_instance_id") != text_at(instance, "compute_instance_id"))
            continue;
        const auto pid = number(text_at(process, "pid"));
        if (!pid || *pid == 0 || *pid > 1U << 30U) continue;
        const auto memory = byte_count(text_at(process, "used_memory")).value_or(0);
        const bool draws_only = text_at(process, "type") == "G";  // beside "C" and "C+G"
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

void add_card(pugi::xml_node gpu, const Device& device, SmiReport& report)
{
    DeviceSample sample;
    sample.uuid = device.uuid;
    if (const auto percent = figure(text_at(gpu, "utilization/gpu_util"));
        percent && *percent <= 100)
        sample.utilisation = *percent / 100;
    sample.memory_used = byte_count(text_at(gpu, "fb_memory_usage/used"));
    sample.power_watts = first_figure(gpu,
                                      {"gpu_power_readings/power_draw",
                                       "gpu_power_readings/average_power_draw",
                                       "gpu_power_readings/instant_power_draw",
                                       "power_readings/power_draw"});
    sample.temperature = figure(text_at(gpu, "temperature/gpu_temp"));
    sample.clock_mhz = number(text_at(gpu, "clocks/sm_clock"));
    sample.ecc_errors = uncorrected_errors(gpu);
    sample.processes = processes_of(gpu, {});
    report.sample.devices.push_back(std::move(sample));
    report.inventory.devices.push_back(device);
}

void add_instances(pugi::xml_node gpu,
                   const Device& card,
                   const std::vector<SmiInstance>& named,
                   SmiReport& report)
{
    report.has_mig = true;
    const auto before = report.inventory.devices.size();
    for (const auto instance : gpu.child("mig_devices").children("mig_device")) {
        const auto index = number(text_at(instance, "index"));
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
        device.memory_total = byte_count(text_at(instance, "fb_memory_usage/total")).value_or(0);
        device.memory_free = byte_count(text_at(instance, "fb_memory_usage/free")).value_or(0);
        DeviceSample sample;
        sample.uuid = device.uuid;
        sample.memory_used = byte_count(text_at(instance, "fb_memory_usage/used"));
        sample.temperature = figure(text_at(gpu, "temperature/gpu_temp"));
        sample.processes = processes_of(gpu, instance);
        report.sample.devices.push_back(std::move(sample));
        report.inventory.devices.push_back(std::move(device));
    }
    // With instances that nobody named yet, the caller asks for their names.
    if (report.inventory.devices.size() != before ||
        gpu.first_element_by_path("mig_devices/mig_device"))
        return;
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
    pugi::xml_document document;
    TRY(read_xml(xml, document));
    const auto root = document.document_element();
    if (std::string_view(root.name()) != "nvidia_smi_log")
        return fail(
            ErrorKind::damaged, "'{}' is not a report of nvidia-smi", printable(root.name()));
    SmiReport report;
    report.inventory.way = "nvidia-smi";
    report.inventory.driver_version = text_at(root, "driver_version");
    if (const auto cuda = text_at(root, "cuda_version"); figure(cuda))
        report.inventory.cuda_version = cuda;
    for (const auto gpu : root.children("gpu")) {
        Device device;
        device.uuid = text_at(gpu, "uuid");
        device.index = static_cast<unsigned>(report.inventory.devices.size());
        device.name = text_at(gpu, "product_name");
        device.vendor = "nvidia";
        device.clock_mhz = number(text_at(gpu, "max_clocks/sm_clock")).value_or(0);
        device.pci_bus_id = short_bus_id(gpu.attribute("id").value());
        device.memory_total = byte_count(text_at(gpu, "fb_memory_usage/total")).value_or(0);
        device.memory_free = byte_count(text_at(gpu, "fb_memory_usage/free")).value_or(0);
        device.power_limit = first_figure(gpu,
                                          {"gpu_power_readings/current_power_limit",
                                           "gpu_power_readings/enforced_power_limit",
                                           "power_readings/enforced_power_limit"})
                                 .value_or(0);
        if (const auto minor = number(text_at(gpu, "minor_number")))
            device.nodes.push_back(fmt::format("/dev/nvidia{}", *minor));
        // Through the reader of the protocol, which refuses names that are unfit for files.
        TRY(device_from(to_json(device)));
        if (text_at(gpu, "mig_mode/current_mig") == "Enabled")
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
