// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/verdict.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::gpu {

namespace {

// What a sample tells is believed for the time since the one before, but no longer than this: a
// driver's utilisation covers a second at most, and a machine may have slept in between.
constexpr double longest_step = 15;
// So often in a row a device may be missing from what the driver lists before it counts as lost.
constexpr unsigned most_missing = 3;
constexpr std::size_t most_pids = 16;
constexpr std::size_t most_xids = 16;
constexpr int fallen_off_the_bus = 79;

double step(const std::optional<std::int64_t>& before, std::int64_t now)
{
    if (!before || now <= *before) return 0;
    return std::min(static_cast<double>(now - *before) / 1000, longest_step);
}

template <class T>
void note(std::vector<T>& list, T value, std::size_t most)
{
    if (list.size() < most && std::find(list.begin(), list.end(), value) == list.end())
        list.push_back(value);
}

// The counter begins again when the driver is loaded again.
void add_energy(const std::optional<double>& counter,
                std::optional<double>& before,
                std::optional<double>& total)
{
    if (!counter || !std::isfinite(*counter) || *counter < 0) return;
    if (!total) total = 0.0;
    if (before && *counter > *before) *total += *counter - *before;
    before = *counter;
}

void note_loss(const DeviceSample& sample, DeviceEvidence& device)
{
    for (const int xid : sample.xids) {
        note(device.xids, xid, most_xids);
        if (xid == fallen_off_the_bus && device.lost.empty())
            device.lost = "it has fallen off the bus (Xid 79)";
    }
    if (!sample.lost.empty() && device.lost.empty()) device.lost = sample.lost;
}

}  // namespace

EvidenceCollector::EvidenceCollector(const std::vector<Device>& leased) : tracks_(leased.size())
{
    for (const auto& device : leased) {
        DeviceEvidence evidence;
        evidence.uuid = device.uuid;
        evidence.name = device.name;
        evidence_.devices.push_back(std::move(evidence));
    }
}

// What may have been the run's, but cannot be told to be.
void EvidenceCollector::add_unattributed(const Attribution::Work& work,
                                         double seconds,
                                         DeviceEvidence& device)
{
    auto activity = work.users.unseen_activity;
    auto memory = work.users.unseen_memory;
    // While nobody else is there, what the device as a whole does and holds is theirs.
    if (work.nobody_else) {
        activity = std::max(activity, work.device_activity);
        if (seconds > 0) memory += work.unlisted_memory;
    }
    device.unattributed_seconds += activity * seconds;
    device.unattributed_memory = std::max(device.unattributed_memory, memory);
}

void EvidenceCollector::add_device(const Attribution::Work& work,
                                   double seconds,
                                   Track& track,
                                   DeviceEvidence& device)
{
    if (work.users.others) device.shared = true;
    device.worked_seconds = std::max(0.0, device.worked_seconds - work.taken_back);
    device.not_counted_seconds += work.taken_back;
    if (!work.users.own) return;
    device.held_seconds += seconds;
    device.not_counted_seconds += work.not_counted * seconds;
    device.memory_peak = std::max(device.memory_peak, work.users.memory);
    for (const pid_t pid : work.users.pids)
        note(device.pids, pid, most_pids);
    if (work.activity) {
        device.measured_seconds += seconds;
        device.worked_seconds += *work.activity * seconds;
        track.seconds_from[work.source] += seconds;
        if (seconds > 0)
            device.utilisation_peak = std::max(device.utilisation_peak, *work.activity);
    }
    if (work.sm_activity) {
        track.sm_worked += *work.sm_activity * seconds;
        track.sm_seconds += seconds;
    }
    if (device.measured_seconds > 0) {
        device.activity_mean = device.worked_seconds / device.measured_seconds;
        device.activity_from = Attribution::sources[static_cast<std::size_t>(
            std::max_element(track.seconds_from.begin(), track.seconds_from.end()) -
            track.seconds_from.begin())];
    }
    if (track.sm_seconds > 0) device.sm_activity_mean = track.sm_worked / track.sm_seconds;
}

void EvidenceCollector::begin(const Sample& sample)
{
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        for (const auto& device : sample.devices)
            if (device.uuid == evidence_.devices[i].uuid) tracks_[i].attribution.begin(device);
    }
}

void EvidenceCollector::add(const Sample& sample, const WhoseProcess& whose, std::int64_t moment_ms)
{
    ++evidence_.samples;
    evidence_.unmeasured.clear();
    evidence_.seconds += step(moment_ms_, moment_ms);
    moment_ms_ = moment_ms;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        auto& track = tracks_[i];
        auto& device = evidence_.devices[i];
        const auto found = std::find_if(sample.devices.begin(),
                                        sample.devices.end(),
                                        [&](const auto& one) { return one.uuid == device.uuid; });
        if (found == sample.devices.end()) {
            track.attribution.miss();
            if (device.samples > 0 && ++track.missing >= most_missing && device.lost.empty())
                device.lost = "the driver no longer lists it";
            continue;
        }
        note_loss(*found, device);
        if (!found->lost.empty()) continue;  // nothing else in it is true
        ++device.samples;
        track.missing = 0;
        const auto seconds = step(track.moment_ms, moment_ms);
        const auto work = track.attribution.add(*found, whose, moment_ms, seconds);
        add_device(work, seconds, track, device);
        if (!work.users.own) add_unattributed(work, seconds, device);
        add_energy(found->energy_joules, track.energy, device.energy_joules);
        track.moment_ms = moment_ms;
    }
}

void EvidenceCollector::add_failure(const Error& error)
{
    ++evidence_.failures;
    for (auto& track : tracks_)
        track.attribution.miss();
    if (evidence_.samples == 0) evidence_.unmeasured = error.message();
}

}  // namespace ponk::gpu
