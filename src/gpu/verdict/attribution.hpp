// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/device.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

// Which part of what a driver reports is work of the run. docs/design/gpu.md, "What counts as
// work".
namespace ponk::gpu {

// Who a process is that a driver names by its pid. `unseen`: there is none of that pid here: it has
// ended and was not known before, or lives where its pid is not reported (a container around us).
// `own_server`: a server of MPS that the run started. Its work is its clients', whoever they are.
enum class Whose { own, own_server, others, unseen };

// With the time in which the process of this pid was that one, by CLOCK_BOOTTIME: a pid is used
// again, and a driver reports late.
struct ProcessOwner {
    ProcessOwner(Whose who) : whose(who) {}  // NOLINT(google-explicit-constructor)
    ProcessOwner(Whose who, std::int64_t start, std::int64_t end)
        : whose(who), start_ms(start), end_ms(end)
    {
    }
    Whose whose;
    std::int64_t start_ms = std::numeric_limits<std::int64_t>::min();
    std::int64_t end_ms = std::numeric_limits<std::int64_t>::max();  // by then it had ended
};
using WhoseProcess = std::function<ProcessOwner(pid_t pid)>;

// Who was on a device at one sample, and what the driver reported on them by process.
struct DeviceUsers {
    bool own = false;
    bool others = false;
    bool unseen = false;
    bool served = false;  // the run's server of MPS was there, for clients that are not listed
    std::vector<pid_t> pids;
    std::uint64_t memory = 0;                 // of the run's
    bool memory_is_known = true;              // for each of them
    std::optional<double> activity;           // of the run's, since they are on the device
    std::optional<double> activity_reported;  // the same, whenever it was
    bool all_are_reported = true;             // of each one of the run it is known
    std::uint64_t unseen_memory = 0;
    double unseen_activity = 0;
    std::uint64_t listed_memory = 0;  // of all

    [[nodiscard]] bool only_own() const { return own && !others && !unseen && !served; }
    [[nodiscard]] bool nobody() const { return !own && !others && !unseen; }
};

// A share as the driver should have reported it; nullopt for what is not a number.
std::optional<double> share(const std::optional<double>& value);

// One device from sample to sample. One thread.
class Attribution {
public:
    // What is the run's of the time since the sample before.
    struct Work {
        DeviceUsers users;
        std::optional<double> activity;     // 0…1; absent: nobody knows
        std::size_t source = 0;             // of `activity`: a place in `sources`
        std::optional<double> sm_activity;  // 0…1, of the run alone
        double not_counted = 0;             // 0…1: activity that may be another's, or cannot be
        // Seconds of work that were counted before, and turn out to be perhaps another's.
        double taken_back = 0;
        // Nobody but processes that are not seen here, now and at the sample before; and what the
        // device as a whole did then.
        bool nobody_else = false;
        double device_activity = 0;
        // More in use than at first, by processes that are not listed.
        std::uint64_t unlisted_memory = 0;
    };
    static constexpr std::size_t by_process = 0;
    static constexpr const char* sources[] = {"process", "sm-activity", "utilisation"};

    // What was in use before the run had the device.
    void begin(const DeviceSample& sample);
    // A sample is missing: who was there then is not known.
    void miss() { missed_ = true; }
    // `seconds`: for how long what is reported is believed.
    Work add(const DeviceSample& sample,
             const WhoseProcess& whose,
             std::int64_t moment_ms,
             double seconds);

private:
    DeviceUsers
    users_of(const DeviceSample& sample, const WhoseProcess& whose, std::int64_t moment_ms);
    bool is_reported_by_process(DeviceUsers& users, std::int64_t moment_ms);
    bool note_hidden(const Work& work);
    [[nodiscard]] std::uint64_t unlisted_memory(const DeviceSample& sample,
                                                const DeviceUsers& users) const;
    void note_quiet(const std::optional<double>& utilisation,
                    const DeviceUsers& users,
                    std::int64_t moment_ms);
    [[nodiscard]] std::optional<double> most_by_sm(const std::optional<double>& sm_activity) const;
    void note_window(const Work& work,
                     const std::optional<double>& sm_activity,
                     std::int64_t moment_ms,
                     double seconds);
    double take_back();

    enum class Before { unknown, nobody, own, unseen, others } before_ = Before::unknown;
    std::optional<std::int64_t> moment_ms_;  // of the last sample
    // Processes of the run that were on the device at the last sample, and since when.
    struct Listed {
        std::int64_t start_ms;
        std::int64_t since_ms;
    };
    std::map<pid_t, Listed> listed_;
    // What was last reported on all of them: a driver measures less often than it may be asked.
    struct Reported {
        std::int64_t moment_ms;
        std::optional<double> activity;
    };
    std::optional<Reported> reported_;
    std::optional<std::uint64_t> memory_at_first_;
    bool missed_ = false;
    unsigned hidden_ = 0;  // samples in a row with memory that no process explains
    // The last moment at which what the device did may have been another's …
    std::int64_t foreign_ms_ = 0;
    std::int64_t others_ms_ = 0;  // the same, but for what nobody explains
    bool is_quiet_ = false;       // … and whether its utilisation was seen to be over since
    // The time between two samples, and what was found in it.
    struct Window {
        std::int64_t end_ms;
        std::optional<double> sm_activity;
        double worked;  // seconds that were counted by what the device as a whole did
    };
    std::deque<Window> windows_;  // the last ones
    bool reports_sm_ = false;
};

}  // namespace ponk::gpu
