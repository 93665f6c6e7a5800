// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/sample.hpp"

#include "gpu/nvml/processes.hpp"

#include <cmath>
#include <cstdio>
#include <time.h>
#include <unistd.h>

namespace ponk::nvml {

namespace {

// Counters that are closer together say nothing.
constexpr std::int64_t gpm_span_ms = 100;

std::int64_t milliseconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

bool take_counters(const Machine& machine, const Device& device, GpmSample into)
{
    const auto& library = machine.library;
    const Handle card = machine.cards[device.card].handle;
    if (!device.is_instance) return library.gpm_sample && library.gpm_sample(card, into) == success;
    return library.gpm_mig_sample && device.gpu_instance != no_instance &&
           library.gpm_mig_sample(card, device.gpu_instance, into) == success;
}

// The counters are those of a GPU instance: where several compute instances share it, they would
// tell each one's work as that of all.
bool shares_counters(const Machine& machine, const Device& device)
{
    if (!device.is_instance) return false;
    for (unsigned i = 0; i < machine.device_count; ++i) {
        const auto& other = machine.devices[i];
        if (&other != &device && other.is_instance && other.card == device.card &&
            other.gpu_instance == device.gpu_instance)
            return true;
    }
    return false;
}

// An earlier moment for all devices that have none yet; then waits until it is early enough.
void begin_counters(Machine& machine)
{
    std::int64_t youngest = 0;
    for (unsigned i = 0; i < machine.device_count; ++i) {
        auto& device = machine.devices[i];
        if (!machine.cards[device.card].has_gpm || shares_counters(machine, device)) {
            device.gpm_time = 0;
            continue;
        }
        for (auto& sample : device.gpm)
            if (!sample && machine.library.gpm_alloc(&sample) != success) sample = nullptr;
        if (!device.gpm[0] || !device.gpm[1]) continue;
        if (device.gpm_time == 0 && take_counters(machine, device, device.gpm[0]))
            device.gpm_time = milliseconds(CLOCK_MONOTONIC);
        if (device.gpm_time > youngest) youngest = device.gpm_time;
    }
    const auto age = milliseconds(CLOCK_MONOTONIC) - youngest;
    if (youngest != 0 && age < gpm_span_ms)
        usleep(static_cast<useconds_t>((gpm_span_ms - age) * 1000));
}

void write_activity(Machine& machine, Device& device, Text& out)
{
    if (device.gpm_time == 0) return;
    if (!take_counters(machine, device, device.gpm[1])) {
        device.gpm_time = 0;
        return;
    }
    static GpmQuery query;
    query.version = gpm_version;
    query.count = 2;
    query.earlier = device.gpm[0];
    query.later = device.gpm[1];
    query.metrics[0] = {metric_sm_activity, not_supported, 0, {}};
    query.metrics[1] = {metric_tensor_activity, not_supported, 0, {}};
    if (machine.library.gpm_metrics(&query) == success) {
        constexpr const char* names[2] = {"sm_activity", "tensor_activity"};
        for (int i = 0; i < 2; ++i) {
            const auto& metric = query.metrics[i];
            if (metric.status != success || !std::isfinite(metric.value) || metric.value < 0)
                continue;
            out.member(names[i], metric.value > 100 ? 1.0 : metric.value / 100);
        }
    }
    device.gpm[0] = query.later;
    device.gpm[1] = query.earlier;
    device.gpm_time = milliseconds(CLOCK_MONOTONIC);
}

// Critical events since the last time, put where they belong.
void read_events(Machine& machine)
{
    if (!machine.events) return;
    for (unsigned tries = 0; tries < 64; ++tries) {
        EventData event{};
        event.gpu_instance = no_instance;
        if (machine.library.event_wait(machine.events, &event, 0) != success) return;
        if (event.type != xid_event) continue;
        for (unsigned i = 0; i < machine.card_count; ++i) {
            auto& card = machine.cards[i];
            if (card.handle != event.device || card.xid_count == most_xids) continue;
            card.xids[card.xid_count] = static_cast<unsigned>(event.data);
            card.xid_instances[card.xid_count++] = event.gpu_instance;
        }
    }
}

void write_events(const Machine& machine, const Device& device, Text& out)
{
    const auto& card = machine.cards[device.card];
    bool any = false;
    for (unsigned i = 0; i < card.xid_count; ++i) {
        if (device.is_instance && card.xid_instances[i] != no_instance &&
            card.xid_instances[i] != device.gpu_instance)
            continue;
        if (!any) {
            out.key("xids");
            out.open('[');
        }
        any = true;
        char number[16];
        std::snprintf(number, sizeof number, "%u", card.xids[i]);
        out.next();
        out.add(number);
    }
    if (any) out.close(']');
}

// The figures of one device, one call of the driver each; remembers whether it is lost.
class Figures {
public:
    Figures(Machine& machine, Device& device, Text& out)
        : library_(machine.library), machine_(machine), device_(device), out_(out)
    {
    }

    void write()
    {
        out_.open('{');
        out_.member("uuid", device_.uuid);
        MemoryFigures memory;
        if (good(read_memory(library_, device_.handle, memory)))
            out_.member("memory_used", memory.used);
        if (!device_.is_instance) write_card();
        write_heat();
        if (lost_ == success) write_activity(machine_, device_, out_);
        good(write_processes(machine_, device_, out_));
        write_events(machine_, device_, out_);
        if (lost_ != success) out_.member("lost", status_text(library_, lost_));
        out_.close('}');
    }

private:
    bool good(int status)
    {
        if (status == gpu_is_lost || status == reset_required) lost_ = status;
        return status == success;
    }

    // What cannot be told apart between the instances of a card.
    void write_card()
    {
        const auto handle = device_.handle;
        Utilisation busy{};
        if (library_.utilisation && good(library_.utilisation(handle, &busy)) && busy.gpu <= 100)
            out_.member("utilisation", busy.gpu / 100.0);
        unsigned milliwatts = 0;
        if (library_.power && good(library_.power(handle, &milliwatts)))
            out_.member("power_watts", milliwatts / 1000.0);
        std::uint64_t millijoules = 0;
        if (library_.energy && good(library_.energy(handle, &millijoules)))
            out_.member("energy_joules", static_cast<double>(millijoules) / 1000.0);
        unsigned clock = 0;
        if (library_.clock && good(library_.clock(handle, clock_sm, &clock)))
            out_.member("clock_mhz", std::uint64_t{clock});
        std::uint64_t errors = 0;
        if (library_.ecc_errors &&
            good(library_.ecc_errors(handle, uncorrected_errors, since_driver_start, &errors)))
            out_.member("ecc_errors", errors);
    }

    void write_heat()
    {
        const Handle card = machine_.cards[device_.card].handle;
        TemperatureV1 newer{versioned<TemperatureV1>(1), temperature_of_gpu, 0};
        unsigned degrees = 0;
        if (library_.temperature && good(library_.temperature(card, temperature_of_gpu, &degrees)))
            out_.member("temperature", double(degrees));
        else if (library_.temperature_v1 && good(library_.temperature_v1(card, &newer)))
            out_.member("temperature", double(newer.degrees));
    }

    const Library& library_;
    Machine& machine_;
    Device& device_;
    Text& out_;
    int lost_ = success;
};

}  // namespace

void write_sample(Machine& machine, Text& out)
{
    if (!machine.loaded || machine.card_count == 0) enumerate(machine);
    if (machine.loaded) {
        begin_counters(machine);
        read_events(machine);
    }
    out.open('{');
    out.member("time", static_cast<std::uint64_t>(milliseconds(CLOCK_REALTIME)));
    out.key("devices");
    out.open('[');
    for (unsigned i = 0; i < machine.device_count; ++i) {
        out.next();
        Figures(machine, machine.devices[i], out).write();
    }
    out.close(']');
    out.close('}');
    for (unsigned i = 0; i < machine.card_count; ++i)
        machine.cards[i].xid_count = 0;
}

}  // namespace ponk::nvml
