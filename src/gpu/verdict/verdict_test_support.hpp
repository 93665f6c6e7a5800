// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Samples by hand, for tests of what is made of them.
namespace ponk::gpu::by_hand {

constexpr pid_t own_pid = 100;
constexpr pid_t other_pid = 200;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

constexpr pid_t unseen_pid = 300;

inline ProcessOwner whose(pid_t pid)
{
    return pid < other_pid ? Whose::own : pid < unseen_pid ? Whose::others : Whose::unseen;
}

inline Device device(const std::string& uuid)
{
    Device device;
    device.uuid = uuid;
    device.name = "NVIDIA H200";
    return device;
}

inline DeviceProcess process(pid_t pid, std::optional<double> activity = std::nullopt)
{
    return {.pid = pid, .memory = 2 * gib, .sm_utilisation = activity};
}

inline DeviceSample seen(std::optional<double> utilisation,
                         std::vector<DeviceProcess> processes = {})
{
    DeviceSample sample;
    sample.uuid = "GPU-1";
    sample.utilisation = utilisation;
    sample.processes = std::move(processes);
    return sample;
}

inline DeviceSample on(const std::string& uuid, DeviceSample sample)
{
    sample.uuid = uuid;
    return sample;
}

// A watch over one or more devices, a sample each second unless said otherwise.
class Watch {
public:
    explicit Watch(const std::vector<std::string>& uuids = {"GPU-1"})
        : collector_([&] {
              std::vector<Device> devices;
              for (const auto& uuid : uuids)
                  devices.push_back(device(uuid));
              return devices;
          }())
    {
    }

    Watch& sample(std::vector<DeviceSample> devices, std::int64_t after_ms = 1000)
    {
        moment_ += after_ms;
        collector_.add({.time = 0, .devices = std::move(devices)}, whose_, moment_);
        return *this;
    }
    // From now on.
    Watch& processes_are(WhoseProcess whose)
    {
        whose_ = std::move(whose);
        return *this;
    }
    [[nodiscard]] std::int64_t moment() const { return moment_; }
    Watch& samples(int times, const DeviceSample& device)
    {
        for (int i = 0; i < times; ++i)
            sample({device});
        return *this;
    }
    Watch& failures(int times)
    {
        for (int i = 0; i < times; ++i)
            collector_.add_failure(Error(ErrorKind::unavailable, "the driver hangs"));
        return *this;
    }

    [[nodiscard]] const Evidence& evidence() const { return collector_.evidence(); }
    [[nodiscard]] const DeviceEvidence& first() const { return evidence().devices.at(0); }
    [[nodiscard]] Judgement judged() const { return judge(evidence()); }

private:
    EvidenceCollector collector_;
    WhoseProcess whose_ = whose;
    std::int64_t moment_ = 1'000'000;
};

#define EXPECT_VERDICT(watch, expected, words)                                                     \
    do {                                                                                           \
        const auto judged = (watch).judged();                                                      \
        EXPECT_STREQ(to_string(judged.verdict), expected) << judged.reason;                        \
        EXPECT_THAT(judged.reason, testing::HasSubstr(words));                                     \
    } while (false)

}  // namespace ponk::gpu::by_hand
