// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "base/time.hpp"
#include "gpu/verdict/attribution.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Whether a run used its GPUs, from what was seen of it. docs/design/gpu.md, "Verdict".
namespace ponk::gpu {

enum class Verdict { confirmed, idle, cpu_fallback, lost, unknown, not_requested };
const char* to_string(Verdict verdict);  // "cpu-fallback"
std::optional<Verdict> parse_verdict(std::string_view word);

// What was seen of one device while the run had it.
struct DeviceEvidence {
    std::string uuid;
    std::string name;
    std::int64_t samples = 0;
    std::uint64_t memory_peak = 0;   // by processes of the run, bytes
    double held_seconds = 0;         // a process of the run had a context
    double measured_seconds = 0;     // of these: those for which the driver told whose work it was
    double worked_seconds = 0;       // the integral of activity while one had
    double not_counted_seconds = 0;  // the same of activity that may not be the run's
    double activity_mean = 0;        // over the time measured, 0…1
    double utilisation_peak = 0;
    std::optional<double> sm_activity_mean;  // over the time measured, where the card reports it
    std::optional<double> energy_joules;     // from the first sample to the last
    std::vector<pid_t> pids;                 // of the run, the first few
    bool shared = false;                     // others computed there too, so the work may be theirs
    std::string activity_from;  // "process", "sm-activity" or "utilisation": what was measured
    // Of processes that are not seen here, or while the driver listed none at all: it may have been
    // the run.
    double unattributed_seconds = 0;
    std::uint64_t unattributed_memory = 0;  // bytes above what was in use at first
    std::vector<int> xids;
    std::string lost;
};

struct Evidence {
    std::vector<DeviceEvidence> devices;
    std::int64_t samples = 0;
    std::int64_t failures = 0;          // samples that the driver did not give
    double seconds = 0;                 // that were watched
    std::string unmeasured;             // not empty: why nothing could be measured
    std::vector<std::string> findings;  // sentences about the run's processes, for a fall-back
    std::string remains;                // not empty: processes that keep a GPU after the end
};

struct Judgement {
    Verdict verdict = Verdict::unknown;
    std::string reason;  // one sentence with the figures that decided
};
Judgement judge(const Evidence& evidence);

Json to_json(const Evidence& evidence);
Result<Evidence> evidence_from(const Json& json);

// Adds up samples, in the order of their moments. One thread.
class EvidenceCollector {
public:
    explicit EvidenceCollector(const std::vector<Device>& leased);

    using WhoseProcess = gpu::WhoseProcess;
    // What was in use before the run had the devices; no part of the evidence.
    void begin(const Sample& sample);
    // `moment` is of CLOCK_BOOTTIME, before the driver was asked: the wall clock of a sample jumps.
    // What a sample tells counts for the time since the one before; so the first one, best taken
    // when the run has the devices and its processes are not there yet, is where counting starts.
    void add(const Sample& sample,
             const WhoseProcess& whose,
             std::int64_t moment_ms = boot_milliseconds());
    // The driver could not be asked at this moment.
    void add_failure(const Error& error);
    [[nodiscard]] const Evidence& evidence() const noexcept { return evidence_; }

private:
    // What must be remembered of a device from one sample to the next.
    struct Track {
        std::optional<std::int64_t> moment_ms;  // of the last sample that told of it
        Attribution attribution;
        std::optional<double> energy;
        unsigned missing = 0;                  // samples in a row without it
        std::array<double, 3> seconds_from{};  // by what was measured
        double sm_worked = 0;
        double sm_seconds = 0;
    };
    static void
    add_unattributed(const Attribution::Work& work, double seconds, DeviceEvidence& device);
    static void
    add_device(const Attribution::Work& work, double seconds, Track& track, DeviceEvidence& device);

    Evidence evidence_;
    std::optional<std::int64_t> moment_ms_;  // of the last sample
    std::vector<Track> tracks_;
};

}  // namespace ponk::gpu
