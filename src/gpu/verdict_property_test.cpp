// SPDX-License-Identifier: Apache-2.0
// Whatever a driver tells, and in whatever order: a run that did nothing on a GPU is not confirmed.
#include "gpu/verdict.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ponk::gpu {
namespace {

constexpr pid_t own_pid = 1;
constexpr pid_t other_pid = 2;
constexpr pid_t unseen_pid = 3;

Whose whose(pid_t pid)
{
    return pid == own_pid ? Whose::own : pid == other_pid ? Whose::others : Whose::unseen;
}

std::optional<double> activity()
{
    return *rc::gen::element<std::optional<double>>(std::nullopt, 0.0, 0.01, 0.3, 1.0, 40.0, -1.0);
}

DeviceProcess process(pid_t pid, std::optional<double> sm)
{
    return {.pid = pid,
            .memory = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 40),
            .sm_utilisation = sm};
}

void add_noise(DeviceSample& sample)
{
    if (*rc::gen::arbitrary<bool>())
        sample.memory_used = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 40);
    if (*rc::gen::arbitrary<bool>()) sample.energy_joules = *rc::gen::inRange(-5, 1'000'000);
    if (*rc::gen::inRange(0, 20) == 0) sample.xids = {*rc::gen::inRange(1, 140)};
    if (*rc::gen::inRange(0, 40) == 0) sample.lost = "gone";
}

// One device at one moment in which the run's processes did no work. `others_before`: those of
// others were there at the sample before, so that what is seen now may be theirs.
DeviceSample without_own_work(const std::string& uuid, bool& others_before)
{
    DeviceSample sample;
    sample.uuid = uuid;
    const bool own = *rc::gen::arbitrary<bool>();
    const bool others = *rc::gen::arbitrary<bool>();
    if (own)
        sample.processes.push_back(
            process(own_pid, *rc::gen::element<std::optional<double>>(std::nullopt, 0.0)));
    if (others)
        sample.processes.push_back(process(*rc::gen::element(other_pid, unseen_pid), activity()));
    if (!own || others || others_before) {
        sample.utilisation = activity();
        sample.sm_activity = activity();
    } else {
        sample.utilisation = *rc::gen::element<std::optional<double>>(std::nullopt, 0.0);
    }
    add_noise(sample);
    if (sample.lost.empty()) others_before = others;
    return sample;
}

std::vector<Device> two_devices()
{
    std::vector<Device> devices(2);
    devices[0].uuid = "GPU-1";
    devices[1].uuid = "GPU-2";
    return devices;
}

RC_GTEST_PROP(VerdictProperty, NothingIsConfirmedWithoutWorkOfTheRun, ())
{
    EvidenceCollector collector(two_devices());
    std::int64_t moment = 0;
    bool others[2] = {false, false};
    const int samples = *rc::gen::inRange(0, 60);
    for (int i = 0; i < samples; ++i) {
        moment += *rc::gen::inRange(-5'000, 100'000);
        if (*rc::gen::inRange(0, 8) == 0) {
            collector.add_failure(Error(ErrorKind::unavailable, "no answer"));
            continue;
        }
        Sample sample;
        for (int place = 0; place < 2; ++place) {
            if (*rc::gen::inRange(0, 10) == 0) continue;
            sample.devices.push_back(
                without_own_work(place == 0 ? "GPU-1" : "GPU-2", others[place]));
        }
        collector.add(sample, EvidenceCollector::WhoseProcess(whose), moment);
    }

    const auto judged = judge(collector.evidence());

    RC_ASSERT(judged.verdict != Verdict::confirmed);
    RC_ASSERT(judged.verdict != Verdict::not_requested);
    RC_ASSERT(!judged.reason.empty());
    for (const auto& device : collector.evidence().devices) {
        RC_ASSERT(device.worked_seconds == 0.0);
        RC_ASSERT(device.measured_seconds <= device.held_seconds);
    }
}

RC_GTEST_PROP(VerdictProperty, WorkIsNeverMoreThanTheTimeThatItWasSeenIn, ())
{
    EvidenceCollector collector(two_devices());
    std::int64_t moment = 0;
    const int samples = *rc::gen::inRange(0, 60);
    for (int i = 0; i < samples; ++i) {
        moment += *rc::gen::inRange(-5'000, 100'000);
        DeviceSample device;
        device.uuid = "GPU-1";
        device.utilisation = activity();
        device.sm_activity = activity();
        if (*rc::gen::arbitrary<bool>()) device.processes.push_back(process(own_pid, activity()));
        if (*rc::gen::arbitrary<bool>()) device.processes.push_back(process(other_pid, activity()));
        collector.add(
            {.time = 0, .devices = {device}}, EvidenceCollector::WhoseProcess(whose), moment);
    }

    const auto& device = collector.evidence().devices[0];

    RC_ASSERT(device.worked_seconds <= device.measured_seconds + 1e-9);
    RC_ASSERT(device.held_seconds <= collector.evidence().seconds + 1e-9);
    const auto judged = judge(collector.evidence());
    RC_ASSERT((judged.verdict != Verdict::confirmed || device.worked_seconds >= 0.05));
}

}  // namespace
}  // namespace ponk::gpu
