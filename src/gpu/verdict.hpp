// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "gpu/device.hpp"

#include <cstdint>
#include <optional>
#include <string>
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
    std::uint64_t memory_peak = 0;  // by processes of the run, bytes
    double held_seconds = 0;        // a process of the run had a context
    double worked_seconds = 0;      // the integral of activity while one had
    double activity_mean = 0;       // over the time held, 0…1
    double utilisation_peak = 0;
    std::optional<double> energy_joules;  // from the first sample to the last
    std::vector<pid_t> pids;              // of the run, the first few
    bool shared = false;                  // others computed there too, so the work may be theirs
    std::string activity_from;  // "process", "sm-activity" or "utilisation": what was measured
    std::vector<int> xids;
    std::string lost;
};

struct Evidence {
    std::vector<DeviceEvidence> devices;
    std::int64_t samples = 0;
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

// Adds up samples. `own` tells whether a pid belongs to the run.
class EvidenceCollector {
public:
    explicit EvidenceCollector(const std::vector<Device>& leased);

    using IsOwn = std::function<bool(pid_t pid)>;
    void add(const Sample& sample, const IsOwn& own);
    // The driver could not be asked at this moment.
    void add_failure(const Error& error);
    [[nodiscard]] const Evidence& evidence() const noexcept { return evidence_; }

private:
    struct Before;
    Evidence evidence_;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    std::vector<std::optional<double>> first_energy_;
    unsigned failures_ = 0;
};

}  // namespace ponk::gpu
