// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/cards.hpp"

#include <cstdio>
#include <cstring>

namespace ponk::nvml {

namespace {

void describe_card(const Library& library, Card& card)
{
    if (!library.name || library.name(card.handle, card.name, sizeof card.name) != success)
        std::snprintf(card.name, sizeof card.name, "NVIDIA GPU");
    int major = 0;
    int minor = 0;
    if (library.compute_capability &&
        library.compute_capability(card.handle, &major, &minor) == success)
        std::snprintf(card.capability, sizeof card.capability, "%d.%d", major, minor);
    if (library.max_clock) library.max_clock(card.handle, clock_sm, &card.max_clock);
    if (library.power_limit) library.power_limit(card.handle, &card.power_limit);
    PciInfo pci{};
    if (library.pci_info && library.pci_info(card.handle, &pci) == success)
        std::snprintf(
            card.bus_id, sizeof card.bus_id, "%04X:%02X:%02X.0", pci.domain, pci.bus, pci.device);
    if (!library.minor_number || library.minor_number(card.handle, &card.minor) != success)
        card.minor = no_instance;
    GpmSupport support{gpm_version, 0};
    card.has_gpm = library.gpm_support && library.gpm_alloc && library.gpm_metrics &&
                   library.gpm_support(card.handle, &support) == success && support.supported != 0;
    unsigned current = 0;
    unsigned pending = 0;
    card.has_mig = library.mig_mode &&
                   library.mig_mode(card.handle, &current, &pending) == success && current == 1;
}

// The devices of one card: itself, or its instances.
void add_devices(Machine& machine, unsigned number)
{
    const auto& library = machine.library;
    const auto& card = machine.cards[number];
    const unsigned before = machine.device_count;
    const auto add = [&](Handle handle) {
        if (machine.device_count == most_devices) return;
        Device device;
        device.card = number;
        device.handle = handle;
        device.is_instance = card.has_mig;
        device.gpu_instance = no_instance;
        device.compute_instance = no_instance;
        if (library.uuid(handle, device.uuid, sizeof device.uuid) != success) return;
        if (!library.name || library.name(handle, device.name, sizeof device.name) != success)
            std::snprintf(device.name, sizeof device.name, "%s", card.name);
        if (card.has_mig) {
            if (library.gpu_instance) library.gpu_instance(handle, &device.gpu_instance);
            if (library.compute_instance)
                library.compute_instance(handle, &device.compute_instance);
        }
        machine.devices[machine.device_count++] = device;
    };
    if (!card.has_mig) return add(card.handle);
    unsigned most = 0;
    if (library.mig_most) library.mig_most(card.handle, &most);
    for (unsigned i = 0; library.mig_by_index && i < most; ++i) {
        Handle instance = nullptr;
        if (library.mig_by_index(card.handle, i, &instance) == success) add(instance);
    }
    if (machine.device_count != before) return;
    machine.problem.say("unavailable",
                        "GPU %u ('%s', %s) is in MIG mode and has no instances",
                        number,
                        card.name,
                        card.uuid);
    machine.problem.advise("Create instances with 'sudo nvidia-smi mig -i %u -cgi PROFILE -C', or "
                           "disable MIG with 'sudo nvidia-smi -i %u -mig 0'.",
                           number,
                           number);
}

// The devices of the last time, whose counters go on where they are listed again.
Device earlier[most_devices];
unsigned earlier_count = 0;

void set_devices_aside(Machine& machine)
{
    earlier_count = machine.device_count;
    for (unsigned i = 0; i < machine.device_count; ++i)
        earlier[i] = machine.devices[i];
    machine.device_count = 0;
}

void take_counters_over(Machine& machine)
{
    for (unsigned i = 0; i < earlier_count; ++i) {
        auto& old = earlier[i];
        for (unsigned k = 0; k < machine.device_count; ++k) {
            auto& device = machine.devices[k];
            if (device.gpm[0] || std::strcmp(old.uuid, device.uuid) != 0) continue;
            std::memcpy(device.gpm, old.gpm, sizeof device.gpm);
            device.gpm_time = old.gpm_time;
            old.gpm[0] = nullptr;
            old.gpm[1] = nullptr;
        }
        for (const GpmSample sample : old.gpm)
            if (sample && machine.library.gpm_free) machine.library.gpm_free(sample);
    }
    earlier_count = 0;
}

// Cards in `found` take over what was kept of them; events go on when they are the same as before.
void take_cards(Machine& machine, const Card* found, unsigned count)
{
    const auto& library = machine.library;
    bool same = count == machine.card_count;
    for (unsigned i = 0; same && i < count; ++i)
        same = std::strcmp(found[i].uuid, machine.cards[i].uuid) == 0;
    for (unsigned i = 0; i < count; ++i) {
        Card card = found[i];
        if (same) {
            const auto& old = machine.cards[i];
            card.utilisation_seen = old.utilisation_seen;
            card.reported_at = old.reported_at;
            card.clock_offset = old.clock_offset;
            card.xid_count = old.xid_count;
            std::memcpy(card.xids, old.xids, sizeof card.xids);
            std::memcpy(card.xid_instances, old.xid_instances, sizeof card.xid_instances);
        }
        machine.cards[i] = card;
    }
    machine.card_count = count;
    if (same && machine.events) return;
    if (machine.events && library.event_free) library.event_free(machine.events);
    machine.events = nullptr;
    if (!library.event_set || !library.register_events || !library.event_wait) return;
    if (library.event_set(&machine.events) != success) {
        machine.events = nullptr;
        return;
    }
    for (unsigned i = 0; i < count; ++i)
        library.register_events(machine.cards[i].handle, xid_event, machine.events);
}

void add_capability_node(Text& out, unsigned card, unsigned gpu_instance, unsigned compute_instance)
{
    char path[160];
    if (compute_instance == no_instance)
        std::snprintf(path,
                      sizeof path,
                      "/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/access",
                      card,
                      gpu_instance);
    else
        std::snprintf(path,
                      sizeof path,
                      "/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u/ci%u/access",
                      card,
                      gpu_instance,
                      compute_instance);
    std::FILE* file = std::fopen(path, "re");
    if (!file) return;
    char line[128];
    unsigned minor = 0;
    while (std::fgets(line, sizeof line, file)) {
        if (std::sscanf(line, "DeviceFileMinor: %u", &minor) != 1) continue;
        char node[64];
        std::snprintf(node, sizeof node, "/dev/nvidia-caps/nvidia-cap%u", minor);
        out.next();
        out.add_string(node);
        break;
    }
    std::fclose(file);
}

void write_device(const Machine& machine, unsigned index, Text& out)
{
    const auto& device = machine.devices[index];
    const auto& card = machine.cards[device.card];
    MemoryFigures memory;
    read_memory(machine.library, device.handle, memory);
    out.next();
    out.open('{');
    out.member("uuid", device.uuid);
    if (device.is_instance) out.member("card", card.uuid);
    out.member("index", std::uint64_t{index});
    out.member("name", device.name);
    out.member("vendor", "nvidia");
    out.member("compute_capability", card.capability);
    out.member("clock_mhz", std::uint64_t{card.max_clock});
    out.member("pci_bus_id", card.bus_id);
    out.member("memory_total", memory.total);
    out.member("memory_free", memory.free);
    out.key("nodes");
    out.open('[');
    if (card.minor != no_instance) {
        char node[32];
        std::snprintf(node, sizeof node, "/dev/nvidia%u", card.minor);
        out.next();
        out.add_string(node);
        if (device.is_instance) {
            add_capability_node(out, card.minor, device.gpu_instance, no_instance);
            add_capability_node(out, card.minor, device.gpu_instance, device.compute_instance);
        }
    }
    out.close(']');
    if (card.power_limit != 0 && !device.is_instance)
        out.member("power_limit_watts", card.power_limit / 1000.0);
    out.close('}');
}

}  // namespace

int read_memory(const Library& library, Handle handle, MemoryFigures& out)
{
    int status = not_supported;
    if (library.memory_v2) {
        MemoryV2 memory{};
        memory.version = versioned<MemoryV2>(2);
        status = library.memory_v2(handle, &memory);
        if (status == success) {
            out = {memory.total, memory.free, memory.used};
            return status;
        }
    }
    if (!library.memory) return status;
    Memory memory{};
    const int older = library.memory(handle, &memory);
    if (older == success) out = {memory.total, memory.free, memory.used};
    return older;
}

void enumerate(Machine& machine)
{
    machine.problem = Problem();
    if (!machine.loaded) {
        machine.loaded = load(machine.library, machine.problem);
        if (!machine.loaded) return;
    }
    const auto& library = machine.library;
    if (library.driver_version) library.driver_version(machine.driver, sizeof machine.driver);
    int cuda = 0;
    if (library.cuda_version && library.cuda_version(&cuda) == success)
        std::snprintf(machine.cuda, sizeof machine.cuda, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    set_devices_aside(machine);
    unsigned count = 0;
    const int counted = library.count(&count);
    static Card found[most_cards];
    unsigned usable = 0;
    for (unsigned i = 0; counted == success && i < count && usable < most_cards; ++i) {
        Card card;
        int status = library.by_index(i, &card.handle);
        if (status == success) status = library.uuid(card.handle, card.uuid, sizeof card.uuid);
        if (status == success) {
            describe_card(library, card);
            found[usable++] = card;
            continue;
        }
        machine.problem.say(
            "unavailable", "GPU %u cannot be used: %s", i, status_text(library, status));
        machine.problem.advise(
            status == no_permission
                ? "Check 'ls -l /dev/nvidia*': this user may not open the device file."
                : "'sudo dmesg | grep -i xid' shows what happened; restart the machine to use a "
                  "lost GPU again.");
    }
    take_cards(machine, found, usable);
    for (unsigned i = 0; i < machine.card_count; ++i)
        add_devices(machine, i);
    take_counters_over(machine);
    if (machine.device_count == 0 && !machine.problem.kind) {
        machine.problem.say("unavailable", "the NVIDIA driver %s finds no GPU", machine.driver);
        machine.problem.advise("'lspci | grep -i nvidia' shows whether the machine has one, 'sudo "
                               "dmesg | grep -i nvrm' why the driver does not use it.");
    }
}

void write_inventory(Machine& machine, Text& out)
{
    enumerate(machine);
    out.open('{');
    out.member("way", "nvml");
    out.member("driver_version", machine.driver);
    out.member("cuda_version", machine.cuda);
    out.key("devices");
    out.open('[');
    for (unsigned i = 0; i < machine.device_count; ++i)
        write_device(machine, i, out);
    out.close(']');
    if (machine.problem.kind) {
        out.key("problem");
        out.open('{');
        out.member("kind", machine.problem.kind);
        out.member("message", machine.problem.message);
        out.member("hint", machine.problem.hint);
        out.close('}');
    }
    out.close('}');
}

}  // namespace ponk::nvml
