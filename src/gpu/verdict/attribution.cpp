// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/attribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ponk::gpu {

namespace {

// The longest time that a driver's utilisation is documented to be the mean of.
constexpr std::int64_t driver_window_ms = 1000;
// So late, its own window included, may a driver report what was done.
constexpr std::int64_t driver_lateness_ms = 2000;
// So long after its end a process may be reported on; its pid is somebody else's then.
constexpr std::int64_t end_lateness_ms = 5000;
// Less is nothing: drivers report whole percents.
constexpr double quiet = 0.005;
// A kernel that is resident keeps one processor of the card active at least. None has more.
constexpr double most_processors = 256;
// Memory in use that no listed process explains. Less is the driver's own, which needs some for
// what it gives to processes; a context of another needs more.
constexpr std::uint64_t hidden_memory = std::uint64_t{256} << 20;
constexpr std::uint64_t hidden_part = 50;  // of what they have

// The process that has the pid now, or had it, is the one that the driver meant.
bool is_meant(const ProcessOwner& owner, std::int64_t moment_ms)
{
    return owner.start_ms < moment_ms &&
           (owner.end_ms == std::numeric_limits<std::int64_t>::max() ||
            moment_ms - owner.end_ms <= end_lateness_ms);
}

}  // namespace

std::optional<double> share(const std::optional<double>& value)
{
    if (!value || std::isnan(*value)) return std::nullopt;
    return std::clamp(*value, 0.0, 1.0);
}

namespace {

void add_share(std::optional<double>& sum, double value)
{
    sum = std::min(1.0, sum.value_or(0) + value);
}

// `is_its_own`: what the driver reports of it cannot be of the one who was in its place before.
void add_own(const DeviceProcess& process, bool is_its_own, DeviceUsers& users)
{
    users.own = true;
    users.pids.push_back(process.pid);
    users.memory += process.memory;
    if (process.memory == 0 && !process.ended) users.memory_is_known = false;
    const auto activity = share(process.sm_utilisation);
    // Without a time it is not a report, but what follows from the silence of the driver.
    if (!activity || !is_its_own || !process.sm_span_ms) users.all_are_reported = false;
    if (activity) add_share(users.activity_reported, *activity);
    if (activity && is_its_own) add_share(users.activity, *activity);
}

}  // namespace

void Attribution::begin(const DeviceSample& sample)
{
    memory_at_first_ = sample.memory_used;
    for (const auto& process : sample.processes)
        if (memory_at_first_) *memory_at_first_ -= std::min(*memory_at_first_, process.memory);
}

DeviceUsers
Attribution::users_of(const DeviceSample& sample, const WhoseProcess& whose, std::int64_t moment_ms)
{
    DeviceUsers users;
    const auto before = std::exchange(listed_, {});
    std::vector<std::pair<const DeviceProcess*, bool>> servers;
    bool has_client = false;
    for (const auto& process : sample.processes) {
        auto owner = whose(process.pid);
        if (owner.whose != Whose::others && !is_meant(owner, moment_ms))
            owner.whose = Whose::unseen;
        const auto span = process.sm_span_ms.value_or(moment_ms - moment_ms_.value_or(moment_ms) +
                                                      driver_window_ms);
        auto since = moment_ms;
        if (const auto found = before.find(process.pid);
            found != before.end() && found->second.start_ms == owner.start_ms)
            since = found->second.since_ms;
        const bool in_its_life = moment_ms - span >= std::max(owner.start_ms, since);
        if (owner.whose == Whose::own || owner.whose == Whose::own_server)
            listed_[process.pid] = {owner.start_ms, since};
        users.listed_memory += process.memory;
        switch (owner.whose) {
        case Whose::own:
            has_client = true;
            add_own(process, in_its_life, users);
            break;
        case Whose::own_server:
            servers.emplace_back(&process, in_its_life);
            break;
        case Whose::others:
            users.others = true;
            break;
        case Whose::unseen:
            users.unseen = true;
            users.unseen_memory += process.memory;
            users.unseen_activity =
                std::min(1.0, users.unseen_activity + share(process.sm_utilisation).value_or(0));
        }
    }
    for (const auto& [server, in_its_life] : servers) {
        const bool for_own = has_client && !users.others && !users.unseen;
        add_own(*server, in_its_life && for_own, users);
        users.served = users.served || !for_own;
    }
    return users;
}

// Whether what each process of the run did is known, now or from the driver's last measurement.
bool Attribution::is_reported_by_process(DeviceUsers& users, std::int64_t moment_ms)
{
    if (!users.own) return false;
    if (users.all_are_reported) {
        reported_ = Reported{moment_ms, users.activity};
        return true;
    }
    const bool is_recent = reported_ && moment_ms - reported_->moment_ms <= driver_lateness_ms &&
                           std::ranges::all_of(listed_, [this](const auto& one) {
                               return one.second.since_ms <= reported_->moment_ms;
                           });
    if (!is_recent || users.activity_reported) return false;
    users.activity = reported_->activity;
    return true;
}

std::uint64_t Attribution::unlisted_memory(const DeviceSample& sample,
                                           const DeviceUsers& users) const
{
    const auto expected = memory_at_first_.value_or(0) + users.listed_memory;
    const auto used = memory_at_first_ ? sample.memory_used.value_or(0) : 0;
    return used > expected ? used - expected : 0;
}

// Somebody computes there whom the driver does not list: one in another container, where drivers
// list the processes of the own namespace only. A list and a sum that were read while memory was
// given back may differ once.
bool Attribution::note_hidden(const Work& work)
{
    const bool hides = work.users.own && work.users.memory_is_known &&
                       work.unlisted_memory > hidden_memory &&
                       work.unlisted_memory > work.users.listed_memory / hidden_part;
    hidden_ = hides ? hidden_ + 1 : 0;
    return hides;
}

// Utilisation is a mean over a time that began before: when others were there, or before the run
// had the device, it may be theirs until it was seen to be over. Not at once: a driver may repeat
// what it measured before.
void Attribution::note_quiet(const std::optional<double>& utilisation,
                             const DeviceUsers& users,
                             std::int64_t moment_ms)
{
    const bool unexplained = users.nobody() && utilisation && *utilisation > quiet;
    if (before_ == Before::unknown || users.others) others_ms_ = moment_ms;
    if (before_ == Before::unknown || users.others || users.unseen || users.served || hidden_ > 1 ||
        missed_ || unexplained) {
        foreign_ms_ = moment_ms;
        is_quiet_ = false;
    } else if (utilisation && *utilisation <= quiet &&
               moment_ms - foreign_ms_ >= driver_lateness_ms) {
        is_quiet_ = true;
    }
}

// The most that anybody can have been at work, by what the counters of the card say of the time
// that the driver's other figures may be about. Absent where they say nothing.
std::optional<double> Attribution::most_by_sm(const std::optional<double>& sm_activity) const
{
    if (!sm_activity) return std::nullopt;
    double most = *sm_activity;
    for (const auto& window : windows_)
        most = std::max(most, window.sm_activity.value_or(0));
    return std::min(1.0, most * most_processors);
}

void Attribution::note_window(const Work& work,
                              const std::optional<double>& sm_activity,
                              std::int64_t moment_ms,
                              double seconds)
{
    const bool of_the_device = work.activity && work.source != by_process;
    windows_.push_back({moment_ms, sm_activity, of_the_device ? *work.activity * seconds : 0.0});
}

// Somebody else is there, or was: the driver reports it late, and what the device as a whole did in
// the meantime was perhaps theirs.
double Attribution::take_back()
{
    double seconds = 0;
    for (auto& window : windows_)
        seconds += std::exchange(window.worked, 0.0);
    return seconds;
}

Attribution::Work Attribution::add(const DeviceSample& sample,
                                   const WhoseProcess& whose,
                                   std::int64_t moment_ms,
                                   double seconds)
{
    while (!windows_.empty() && windows_.front().end_ms < moment_ms - driver_lateness_ms)
        windows_.pop_front();
    Work work{.users = users_of(sample, whose, moment_ms)};
    const bool by_process_alone = is_reported_by_process(work.users, moment_ms);
    const auto& users = work.users;
    if (!memory_at_first_) begin(sample);
    const auto sm_activity = share(sample.sm_activity);
    const auto utilisation = share(sample.utilisation);
    work.unlisted_memory = unlisted_memory(sample, users);
    work.nobody_else = !users.others && (before_ == Before::nobody || before_ == Before::unseen);
    const bool hides = note_hidden(work);
    const bool alone = users.only_own() && !hides && !missed_ &&
                       (before_ == Before::own || before_ == Before::nobody);
    note_quiet(utilisation, users, moment_ms);
    const auto limit = most_by_sm(sm_activity);
    if (alone) work.sm_activity = sm_activity;
    work.device_activity = sm_activity.value_or(0);
    if (moment_ms - others_ms_ >= driver_lateness_ms)
        work.device_activity =
            std::max(work.device_activity, std::min(utilisation.value_or(0), limit.value_or(1.0)));
    // Counters that were there before may fail for once: then nothing bounds what is left.
    const bool is_of_the_run = alone && is_quiet_ && (sm_activity || !reports_sm_);
    reports_sm_ = reports_sm_ || sm_activity;
    std::array<std::optional<double>, 3> reported{
        users.activity, work.sm_activity, is_of_the_run ? utilisation : std::nullopt};
    // Where each process of the run is reported on, the rest of what the device did was not theirs.
    if (by_process_alone) reported = {users.activity, std::nullopt, std::nullopt};
    // Else no kernel may be overlooked: a small one keeps a hundredth of the processors busy.
    const auto most = std::max_element(reported.begin(), reported.end());
    work.source = static_cast<std::size_t>(most - reported.begin());
    if (*most) work.activity = std::min(**most, limit.value_or(1.0));
    if (users.own && !users.others && moment_ms_) {
        const auto seen = std::max({users.activity_reported, sm_activity, utilisation});
        work.not_counted = std::max(0.0, seen.value_or(0) - work.activity.value_or(0));
    }
    if (users.others || users.unseen || users.served || hidden_ > 1) work.taken_back = take_back();
    // What came before the first sample was before the run had the device.
    if (moment_ms_) note_window(work, sm_activity, moment_ms, seconds);
    moment_ms_ = moment_ms;
    missed_ = false;
    before_ = users.others                            ? Before::others
              : users.unseen || users.served || hides ? Before::unseen
              : users.own                             ? Before::own
                                                      : Before::nobody;
    return work;
}

}  // namespace ponk::gpu
