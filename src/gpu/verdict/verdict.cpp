// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/verdict.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace ponk::gpu {

namespace {

// docs/design/gpu.md, "Verdict", gives the reasons for these figures.
constexpr double least_worked = 0.05;  // seconds
constexpr double least_share = 0.01;   // of the time held …
constexpr double worked_anyway = 5;    // … or seconds in all
constexpr double least_watched = 1;    // seconds, before "no process was there" is said
constexpr std::int64_t least_samples = 2;
constexpr std::uint64_t context_memory = std::uint64_t{64} << 20;  // no context needs less

constexpr std::array<std::pair<Verdict, const char*>, 6> words{{
    {Verdict::confirmed, "confirmed"},
    {Verdict::idle, "idle"},
    {Verdict::cpu_fallback, "cpu-fallback"},
    {Verdict::lost, "lost"},
    {Verdict::unknown, "unknown"},
    {Verdict::not_requested, "not-requested"},
}};

bool is_work(double worked, double seconds)
{
    return worked >= least_worked && (worked >= seconds * least_share || worked >= worked_anyway);
}

bool was_held(const DeviceEvidence& device)
{
    return device.held_seconds > 0 || !device.pids.empty();
}

bool worked(const DeviceEvidence& device)
{
    return was_held(device) && is_work(device.worked_seconds, device.measured_seconds);
}

// Too much of the time held is without a measure to say that nothing was done in it.
bool is_blind(const DeviceEvidence& device)
{
    return was_held(device) &&
           (device.measured_seconds <= 0 || device.measured_seconds < device.held_seconds / 2);
}

bool was_used_by_unseen(const DeviceEvidence& device, double seconds)
{
    return is_work(device.unattributed_seconds, seconds) ||
           device.unattributed_memory >= context_memory;
}

std::string seconds_text(double seconds)
{
    return seconds < 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.1f} s", seconds);
}

std::string share_text(double share)
{
    return share < 0.0995 ? fmt::format("{:.1f} %", share * 100)
                          : fmt::format("{:.0f} %", share * 100);
}

std::string name_of(const Evidence& evidence, std::size_t place)
{
    const auto& device = evidence.devices[place];
    const auto& name = device.name.empty() ? device.uuid : device.name;
    return evidence.devices.size() == 1 ? fmt::format("'{}'", name)
                                        : fmt::format("GPU {} '{}'", place, name);
}

// The names of those devices for which `which` holds.
template <class Which>
std::string names(const Evidence& evidence, const Which& which)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < evidence.devices.size(); ++i)
        if (which(evidence.devices[i])) out.push_back(name_of(evidence, i));
    return join(out, ", ");
}

struct Sum {
    std::size_t devices = 0;
    std::uint64_t memory = 0;  // the most on one
    double held = 0;
    double measured = 0;
    double worked = 0;
    double not_counted = 0;
    double sm_worked = 0;
    bool sm_told = true;
};

template <class Which>
Sum sum(const Evidence& evidence, const Which& which)
{
    Sum sum;
    for (const auto& device : evidence.devices) {
        if (!which(device)) continue;
        ++sum.devices;
        sum.memory = std::max(sum.memory, device.memory_peak);
        sum.held += device.held_seconds;
        sum.measured += device.measured_seconds;
        sum.worked += device.worked_seconds;
        sum.not_counted += device.not_counted_seconds;
        sum.sm_worked += device.sm_activity_mean.value_or(0) * device.measured_seconds;
        sum.sm_told = sum.sm_told && device.sm_activity_mean.has_value();
    }
    return sum;
}

std::string held_text(const Sum& sum)
{
    if (sum.memory == 0) return "had a context";
    return fmt::format(
        "held {}{}", byte_size_text(sum.memory), sum.devices > 1 ? " (the most on one GPU)" : "");
}

std::string worked_text(const Sum& sum)
{
    return fmt::format("busy {} of {} ({})",
                       seconds_text(sum.worked),
                       seconds_text(sum.measured),
                       share_text(sum.measured > 0 ? sum.worked / sum.measured : 0));
}

std::string shared_text(const Evidence& evidence)
{
    const auto shared = names(evidence, [](const auto& device) { return device.shared; });
    return shared.empty() ? "" : fmt::format("; other processes were on {} too", shared);
}

std::string not_counted_text(const Sum& sum)
{
    if (sum.not_counted < least_worked) return "";
    return fmt::format("; {} of activity were not counted: they may belong to another process",
                       seconds_text(sum.not_counted));
}

Judgement lost(const Evidence& evidence)
{
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < evidence.devices.size(); ++i) {
        const auto& device = evidence.devices[i];
        if (!device.lost.empty())
            sentences.push_back(
                fmt::format("{} was lost during the run: {}", name_of(evidence, i), device.lost));
    }
    const auto all = sum(evidence, was_held);
    auto reason = join(sentences, "; ");
    reason += all.devices == 0 ? "; no process of the run was seen on it"
                               : fmt::format("; until then processes of the run {}, {}",
                                             held_text(all),
                                             worked_text(all));
    return {Verdict::lost, std::move(reason)};
}

Judgement confirmed(const Evidence& evidence)
{
    const auto all = sum(evidence, was_held);
    const bool one = evidence.devices.size() == 1;
    std::string reason =
        fmt::format("processes of the run {} on {}, {}",
                    held_text(all),
                    one ? name_of(evidence, 0)
                        : fmt::format("{} of {} GPUs", all.devices, evidence.devices.size()),
                    worked_text(all));
    if (all.sm_told && all.measured > 0)
        reason += fmt::format("; SM activity {}", share_text(all.sm_worked / all.measured));
    if (const auto idle =
            names(evidence, [](const auto& device) { return was_held(device) && !worked(device); });
        !idle.empty() && !one)
        reason += fmt::format("; held but hardly used: {}", idle);
    if (const auto unused = names(evidence, [](const auto& device) { return !was_held(device); });
        !unused.empty())
        reason += fmt::format("; unused: {}", unused);
    return {Verdict::confirmed, std::move(reason)};
}

// Some process of the run was on a GPU, without work that could be told to be its own.
Judgement held(const Evidence& evidence)
{
    const auto blind = names(evidence, is_blind);
    const auto all = sum(evidence, was_held);
    if (blind.empty()) {
        auto reason = fmt::format("processes of the run {} on {}, but were hardly active: {}",
                                  held_text(all),
                                  names(evidence, was_held),
                                  worked_text(all));
        return {Verdict::idle, reason + shared_text(evidence) + not_counted_text(all)};
    }
    auto reason = fmt::format("processes of the run {} on {}, ", held_text(all), blind);
    const bool brief = std::none_of(evidence.devices.begin(),
                                    evidence.devices.end(),
                                    [](const auto& device) { return device.held_seconds > 0; });
    const bool shared =
        std::any_of(evidence.devices.begin(), evidence.devices.end(), [](const auto& device) {
            return is_blind(device) && device.shared;
        });
    if (brief)
        reason += "but were seen only once, too briefly to measure their work";
    else if (shared)
        reason +=
            "but so did other processes, and the driver does not report which of them was active";
    else
        reason += "but the driver does not report their activity";
    return {Verdict::unknown, reason + not_counted_text(all)};
}

std::optional<std::string> why_unseen(const Evidence& evidence)
{
    if (evidence.devices.empty()) return "no GPU was leased";
    if (!evidence.unmeasured.empty())
        return fmt::format("nothing could be measured: {}", evidence.unmeasured);
    for (std::size_t i = 0; i < evidence.devices.size(); ++i) {
        const auto& device = evidence.devices[i];
        if (was_used_by_unseen(device, evidence.seconds))
            return fmt::format("{} was busy {} and had {} more in use, but the driver did not "
                               "report which processes used it",
                               name_of(evidence, i),
                               seconds_text(device.unattributed_seconds),
                               byte_size_text(device.unattributed_memory));
    }
    if (evidence.failures > evidence.samples)
        return fmt::format("the driver answered only {} of {} times",
                           evidence.samples,
                           evidence.samples + evidence.failures);
    if (evidence.samples < least_samples || evidence.seconds < least_watched)
        return fmt::format("too few samples: {} sample{} over {}",
                           evidence.samples,
                           evidence.samples == 1 ? "" : "s",
                           seconds_text(evidence.seconds));
    if (const auto unseen =
            names(evidence, [](const auto& device) { return device.samples < least_samples; });
        !unseen.empty())
        return fmt::format("the driver reported nothing about {}", unseen);
    return std::nullopt;
}

Judgement not_held(const Evidence& evidence)
{
    auto why = why_unseen(evidence);
    // What speaks for a fall-back explains nothing where none was seen.
    if (why) return {Verdict::unknown, std::move(*why)};
    why = fmt::format("no process of the run was seen on {} in {} samples over {}",
                      names(evidence, [](const auto&) { return true; }),
                      evidence.samples,
                      seconds_text(evidence.seconds)) +
          shared_text(evidence);
    if (!evidence.findings.empty())
        *why += fmt::format("; probable reason: {}", join(evidence.findings, "; "));
    return {Verdict::cpu_fallback, std::move(*why)};
}

Judgement judge_use(const Evidence& evidence)
{
    const auto& devices = evidence.devices;
    if (std::any_of(devices.begin(), devices.end(), [](const auto& device) {
            return !device.lost.empty();
        }))
        return lost(evidence);
    const auto all = sum(evidence, was_held);
    if (std::any_of(devices.begin(), devices.end(), worked) || all.worked >= worked_anyway)
        return confirmed(evidence);
    return all.devices > 0 ? held(evidence) : not_held(evidence);
}

}  // namespace

const char* to_string(Verdict verdict)
{
    for (const auto& [value, word] : words)
        if (value == verdict) return word;
    return "unknown";
}

std::optional<Verdict> parse_verdict(std::string_view word)
{
    for (const auto& [value, text] : words)
        if (text == word) return value;
    return std::nullopt;
}

Judgement judge(const Evidence& evidence)
{
    auto judgement = judge_use(evidence);
    if (!evidence.remains.empty()) judgement.reason += fmt::format("; {}", evidence.remains);
    return judgement;
}

}  // namespace ponk::gpu
