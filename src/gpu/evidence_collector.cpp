// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict.hpp"

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

constexpr std::array<const char*, 3> sources{"process", "sm-activity", "utilisation"};

// A share as the driver should have told it; nullopt for what is no number.
std::optional<double> share(const std::optional<double>& value)
{
    if (!value || std::isnan(*value)) return std::nullopt;
    return std::clamp(*value, 0.0, 1.0);
}

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

// The counter begins anew when the driver is loaded again.
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

struct EvidenceCollector::Users {
    bool own = false;
    bool unseen = false;
    bool others = false;
    std::vector<pid_t> pids;
    std::uint64_t memory = 0;        // of the run's
    std::optional<double> activity;  // of the run's, where the driver tells it by process
    std::uint64_t unseen_memory = 0;
    double unseen_activity = 0;
};

EvidenceCollector::EvidenceCollector(const std::vector<Device>& leased) : tracks_(leased.size())
{
    for (const auto& device : leased) {
        DeviceEvidence evidence;
        evidence.uuid = device.uuid;
        evidence.name = device.name;
        evidence_.devices.push_back(std::move(evidence));
    }
}

EvidenceCollector::Users EvidenceCollector::users_of(const DeviceSample& sample,
                                                     const WhoseProcess& whose)
{
    Users users;
    for (const auto& process : sample.processes) {
        const auto who = whose(process.pid);
        if (who == Whose::others) {
            users.others = true;
            continue;
        }
        if (who == Whose::unseen) {
            users.unseen = true;
            users.unseen_memory += process.memory;
            users.unseen_activity =
                std::min(1.0, users.unseen_activity + share(process.sm_utilisation).value_or(0));
            continue;
        }
        users.own = true;
        users.pids.push_back(process.pid);
        users.memory += process.memory;
        if (const auto activity = share(process.sm_utilisation))
            users.activity = std::min(1.0, users.activity.value_or(0) + *activity);
    }
    return users;
}

// What may have been the run's, but cannot be told to be.
void EvidenceCollector::add_unattributed(const DeviceSample& sample,
                                         const Users& users,
                                         double seconds,
                                         const Track& track,
                                         DeviceEvidence& device)
{
    auto activity = users.unseen_activity;
    auto memory = users.unseen_memory;
    // While nobody else is there, what the device as a whole does and holds is theirs.
    if (!users.others &&
        (track.users == Track::Users::nobody || track.users == Track::Users::unseen)) {
        activity = std::max({activity,
                             share(sample.sm_activity).value_or(0),
                             share(sample.utilisation).value_or(0)});
        if (seconds > 0 && sample.memory_used && track.memory_at_first &&
            *sample.memory_used > *track.memory_at_first)
            memory = std::max(memory, *sample.memory_used - *track.memory_at_first);
    }
    device.unattributed_seconds += activity * seconds;
    device.unattributed_memory = std::max(device.unattributed_memory, memory);
}

// Work of the device as a whole is the run's only where nobody else was there, now and at the
// sample before: what is told covers the time in between.
void EvidenceCollector::add_device(const DeviceSample& sample,
                                   const Users& users,
                                   double seconds,
                                   Track& track,
                                   DeviceEvidence& device)
{
    const bool alone = users.own && !users.unseen && !users.others &&
                       (track.users == Track::Users::own || track.users == Track::Users::nobody);
    const auto sm_activity = share(sample.sm_activity);
    const auto utilisation = share(sample.utilisation);
    if (users.own) {
        const std::array<std::optional<double>, 3> told{
            users.activity, alone ? sm_activity : std::nullopt, alone ? utilisation : std::nullopt};
        // No kernel may be overlooked: a small one keeps a hundredth of the processors busy, and
        // what is told by process may come late.
        const auto most = std::max_element(told.begin(), told.end());
        device.held_seconds += seconds;
        device.memory_peak = std::max(device.memory_peak, users.memory);
        for (const pid_t pid : users.pids)
            note(device.pids, pid, most_pids);
        if (*most) {
            device.measured_seconds += seconds;
            device.worked_seconds += **most * seconds;
            track.seconds_from[static_cast<std::size_t>(most - told.begin())] += seconds;
            if (seconds > 0) device.utilisation_peak = std::max(device.utilisation_peak, **most);
        }
        if (alone && sm_activity) {
            track.sm_worked += *sm_activity * seconds;
            track.sm_seconds += seconds;
        }
    }
    if (!users.own) add_unattributed(sample, users, seconds, track, device);
    if (users.others) device.shared = true;
    if (device.measured_seconds > 0) {
        device.activity_mean = device.worked_seconds / device.measured_seconds;
        device.activity_from = sources[static_cast<std::size_t>(
            std::max_element(track.seconds_from.begin(), track.seconds_from.end()) -
            track.seconds_from.begin())];
    }
    if (track.sm_seconds > 0) device.sm_activity_mean = track.sm_worked / track.sm_seconds;
}

void EvidenceCollector::add(const Sample& sample, const IsOwn& own, std::int64_t moment_ms)
{
    const WhoseProcess whose = [&own](pid_t pid) { return own(pid) ? Whose::own : Whose::others; };
    add(sample, whose, moment_ms);
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
            if (device.samples > 0 && ++track.missing >= most_missing && device.lost.empty())
                device.lost = "the driver no longer lists it";
            continue;
        }
        note_loss(*found, device);
        if (!found->lost.empty()) continue;  // nothing else in it is true
        ++device.samples;
        track.missing = 0;
        const auto users = users_of(*found, whose);
        if (!track.memory_at_first) track.memory_at_first = found->memory_used;
        add_device(*found, users, step(track.moment_ms, moment_ms), track, device);
        add_energy(found->energy_joules, track.energy, device.energy_joules);
        track.moment_ms = moment_ms;
        track.users = users.others   ? Track::Users::others
                      : users.unseen ? Track::Users::unseen
                      : users.own    ? Track::Users::own
                                     : Track::Users::nobody;
    }
}

void EvidenceCollector::add_failure(const Error& error)
{
    ++evidence_.failures;
    if (evidence_.samples == 0) evidence_.unmeasured = error.message();
}

}  // namespace ponk::gpu
