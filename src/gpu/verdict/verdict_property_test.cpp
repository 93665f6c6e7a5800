// SPDX-License-Identifier: Apache-2.0
// A card with processes that work at times of a test's choice, reported as drivers report it:
// whatever others did, and whenever, a run that did nothing on a GPU is not confirmed.
#include "gpu/verdict/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ponk::gpu {
namespace {

// The same cases each time. RC_PARAMS="seed=N max_success=100000" tries others.
[[maybe_unused]] const int seeded = ::setenv("RC_PARAMS", "seed=20261117 max_success=1000", 0);

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

struct Span {
    std::int64_t from = 0;
    std::int64_t to = 0;

    [[nodiscard]] std::int64_t within(std::int64_t begin, std::int64_t end) const
    {
        return std::max<std::int64_t>(0, std::min(to, end) - std::max(from, begin));
    }
};

// A process as it was; `work` is within its life.
struct Life {
    pid_t pid = 0;
    Whose whose = Whose::own;
    Span life;
    std::vector<Span> work;
    std::uint64_t memory = 0;

    [[nodiscard]] bool lives_at(std::int64_t moment) const
    {
        return life.from <= moment && moment < life.to;
    }
    [[nodiscard]] double share(std::int64_t begin, std::int64_t end) const
    {
        std::int64_t sum = 0;
        for (const auto& span : work)
            sum += span.within(begin, end);
        return end > begin ? static_cast<double>(sum) / static_cast<double>(end - begin) : 0;
    }
};

// What a driver reports, and how.
struct Driver {
    bool reports_sm = false;
    bool reports_processes = false;  // how much each worked
    bool reports_ended = false;      // also when they are gone
    bool reports_memory = true;      // of each
    std::int64_t window = 1000;      // of a mean
    std::int64_t refresh = 250;      // in between it repeats itself
    std::int64_t late = 0;
};

Driver any_driver()
{
    return {.reports_sm = *rc::gen::arbitrary<bool>(),
            .reports_processes = *rc::gen::arbitrary<bool>(),
            .reports_ended = *rc::gen::arbitrary<bool>(),
            .reports_memory = *rc::gen::arbitrary<bool>(),
            .window = *rc::gen::element(166, 500, 1000),
            .refresh = *rc::gen::element(100, 166, 500, 1000),
            .late = *rc::gen::inRange(0, 300)};
}

double whole_percents(double share)
{
    return std::round(std::min(share, 1.0) * 100) / 100;
}

class Card {
public:
    Card(Driver driver, std::vector<Life> lives) : driver_(driver), lives_(std::move(lives)) {}

    DeviceSample at(std::int64_t moment)
    {
        DeviceSample sample;
        sample.uuid = "GPU-1";
        const auto newest = last_refresh(moment);
        double busy = 0;
        double sm = 0;
        std::uint64_t used = 500 * mib;
        for (const auto& one : lives_) {
            busy += one.share(newest - driver_.window, newest);
            sm += one.share(before_, moment);
            if (one.lives_at(moment)) used += one.memory;
            add_process(one, moment, sample);
        }
        sample.utilisation = whole_percents(busy);
        if (driver_.reports_sm) sample.sm_activity = std::min(1.0, sm);
        sample.memory_used = used;
        before_ = moment;
        reported_ = std::max(reported_, newest);
        return sample;
    }

    ProcessOwner owner(pid_t pid, std::int64_t moment) const
    {
        const Life* last = nullptr;
        for (const auto& one : lives_)
            if (one.pid == pid && one.life.from <= moment) last = &one;
        if (!last || last->whose != Whose::own)
            return last && last->lives_at(moment) ? last->whose : Whose::unseen;
        return {Whose::own,
                last->life.from,
                last->lives_at(moment) ? std::numeric_limits<std::int64_t>::max() : moment};
    }

private:
    [[nodiscard]] std::int64_t last_refresh(std::int64_t moment) const
    {
        const auto known = moment - driver_.late + 1'000'000;
        return known - known % driver_.refresh - 1'000'000;
    }

    // The mean of what was measured since the last sample, of all who had its place in the driver.
    [[nodiscard]] std::optional<double> mean_of(const Life& one, std::int64_t moment) const
    {
        double sum = 0;
        int measured = 0;
        for (auto at = last_refresh(moment); at > reported_; at -= driver_.refresh) {
            double share = one.share(at - driver_.window, at);
            for (const auto& before : lives_)
                if (before.life.to <= one.life.from) share += before.share(at - driver_.window, at);
            sum += std::min(share, 1.0);
            ++measured;
        }
        if (measured == 0) return std::nullopt;
        return whole_percents(sum / measured);
    }

    void add_process(const Life& one, std::int64_t moment, DeviceSample& sample) const
    {
        DeviceProcess process{.pid = one.pid, .ended = !one.lives_at(moment)};
        if (process.ended && (one.life.from > moment || !driver_.reports_ended)) return;
        if (!process.ended && driver_.reports_memory) process.memory = one.memory;
        if (driver_.reports_processes) process.sm_utilisation = mean_of(one, moment);
        if (process.sm_utilisation) process.sm_span_ms = moment - before_ + 1000;
        if (process.ended && process.sm_utilisation.value_or(0) == 0) return;
        const auto same = std::ranges::find(sample.processes, one.pid, &DeviceProcess::pid);
        if (same == sample.processes.end())
            sample.processes.push_back(process);
        else if (!process.ended)
            *same = process;
    }

    Driver driver_;
    std::vector<Life> lives_;
    std::int64_t before_ = -3000;  // of the last sample: the first one's counters are older
    std::int64_t reported_ = -3000;
};

std::string described(const Driver& driver,
                      const std::vector<Life>& lives,
                      const std::vector<std::int64_t>& moments)
{
    auto text = fmt::format("sm {} processes {} memory {} window {} refresh {} late {}; moments {}",
                            driver.reports_sm,
                            driver.reports_processes,
                            driver.reports_memory,
                            driver.window,
                            driver.refresh,
                            driver.late,
                            fmt::join(moments, " "));
    for (const auto& one : lives) {
        text += fmt::format("; pid {} kind {} from {} to {}, works",
                            one.pid,
                            static_cast<int>(one.whose),
                            one.life.from,
                            one.life.to);
        for (const auto& span : one.work)
            text += fmt::format(" {}-{}", span.from, span.to);
    }
    return text;
}

std::vector<std::int64_t> any_moments()
{
    std::vector<std::int64_t> moments{*rc::gen::inRange(0, 300)};
    const int count = *rc::gen::inRange(2, 40);
    const bool steady = *rc::gen::arbitrary<bool>();
    for (int i = 0; i < count; ++i)
        moments.push_back(moments.back() + (steady ? 250 : *rc::gen::inRange(100, 2500)));
    return moments;
}

Span any_span(std::int64_t from, std::int64_t to)
{
    const auto begin = *rc::gen::inRange(from, to);
    return {begin, *rc::gen::inRange(begin, to) + 1};
}

// Another's process that works in any part of its life.
Life any_worker(pid_t pid, Span life)
{
    Life worker{.pid = pid, .whose = Whose::others, .life = life, .memory = 3000 * mib};
    worker.work = {any_span(life.from, life.to), any_span(life.from, life.to)};
    return worker;
}

Evidence watched(Card& card, const std::vector<std::int64_t>& moments)
{
    std::vector<Device> devices(1);
    devices[0].uuid = "GPU-1";
    EvidenceCollector collector(devices);
    for (const auto moment : moments) {
        if (*rc::gen::inRange(0, 12) == 0)
            collector.add_failure(Error(ErrorKind::unavailable, "no answer"));
        else
            collector.add(
                {.time = 0, .devices = {card.at(moment)}},
                [&](pid_t pid) { return card.owner(pid, moment); },
                moment);
    }
    return collector.evidence();
}

// Processes of the run that hold memory and do nothing, one of them perhaps with the pid of one
// who worked before.
void add_idlers(std::vector<Life>& lives, std::int64_t end)
{
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
        auto pid = static_cast<pid_t>(10 + i);
        auto life = any_span(20, end);
        if (i == 0 && *rc::gen::arbitrary<bool>()) pid = 1;
        lives.push_back({.pid = pid, .life = life, .memory = 1000 * mib});
    }
}

RC_GTEST_PROP(VerdictProperty, RunThatDidNothingIsNotConfirmedWhateverOthersDid, ())
{
    const auto driver = any_driver();
    const auto moments = any_moments();
    std::vector<Life> lives;
    // One who ended before the run had the card, in the last moment perhaps.
    lives.push_back(any_worker(1, {-2900, *rc::gen::inRange(-2000, 1)}));
    if (*rc::gen::arbitrary<bool>()) lives.back().work.push_back(lives.back().life);
    // Those who come in the meantime and ask for no lease. A driver that reports nothing by process
    // shows them while they live only.
    const int intruders = *rc::gen::inRange(0, 4);
    for (int i = 0; i < intruders; ++i) {
        const auto place = *rc::gen::inRange<std::size_t>(1, moments.size());
        Span life{moments[place] - *rc::gen::inRange(0, 3000), moments[place] + 1};
        life.to += *rc::gen::inRange(0, 3000);
        if (place > 1) life.from = std::max(life.from, moments[place - 1]);
        if (place + 1 < moments.size()) life.to = std::min(life.to, moments[place + 1]);
        // One that leaves no time out reports also of those who came and went between two samples.
        const auto last = moments.back() - 2500;
        if (driver.reports_processes && driver.reports_ended && driver.refresh <= driver.window &&
            last > moments[0] + 10 && *rc::gen::arbitrary<bool>())
            life = any_span(moments[0], last);
        lives.push_back(any_worker(static_cast<pid_t>(100 + i), life));
        if (*rc::gen::arbitrary<bool>()) lives.back().whose = Whose::unseen;
    }
    add_idlers(lives, moments.back());
    Card card(driver, lives);

    const auto evidence = watched(card, moments);

    const auto judged = judge(evidence);
    RC_LOG(judged.reason + "\n" + described(driver, lives, moments));
    RC_ASSERT(judged.verdict != Verdict::confirmed);
    RC_ASSERT(judged.verdict != Verdict::not_requested);
    RC_ASSERT(!judged.reason.empty());
    RC_ASSERT(evidence.devices[0].measured_seconds <= evidence.devices[0].held_seconds);
}

// The rules are not so strict that nothing is left.
RC_GTEST_PROP(VerdictProperty, TrainingRightAfterAnothersIsConfirmed, ())
{
    auto driver = any_driver();
    std::vector<Life> lives{any_worker(1, {-2900, *rc::gen::inRange(-100, 1)})};
    lives.back().work = {lives.back().life};
    // Loading a framework takes a while; without counters the driver's means must be over first.
    const std::int64_t loading = driver.reports_sm ? 1000 : 4500;
    Life own{.pid = 10, .life = {20, 0}, .memory = 1000 * mib};
    const auto begin = loading + *rc::gen::inRange(0, 2000);
    own.work = {{begin, begin + *rc::gen::inRange(1500, 20'000)}};
    own.life.to = own.work[0].to + 50;
    lives.push_back(own);
    Card card(driver, lives);
    std::vector<Device> devices(1);
    devices[0].uuid = "GPU-1";
    EvidenceCollector collector(devices);
    std::int64_t moment = *rc::gen::inRange(30, 200);
    for (; moment < own.life.to; moment += moment < 5000 ? 250 : 2000) {
        auto sample = card.at(moment);
        // A context comes with the work.
        if (moment < begin)
            std::erase_if(sample.processes, [](const auto& one) { return one.pid == 10; });
        collector.add(
            {.time = 0, .devices = {sample}},
            [&](pid_t pid) { return card.owner(pid, moment); },
            moment);
    }
    collector.add(
        {.time = 0, .devices = {card.at(own.life.to + 100)}},
        [&](pid_t pid) { return card.owner(pid, own.life.to + 100); },
        own.life.to + 100);

    const auto judged = judge(collector.evidence());

    RC_LOG(judged.reason);
    // One sample in two seconds may miss what is that short, where it says nothing afterwards.
    const auto length = own.work[0].to - begin;
    const bool may_be_missed = begin > 3000 && length < (driver.reports_sm ? 2500 : 5000);
    RC_ASSERT(judged.verdict == Verdict::confirmed || may_be_missed);
}

RC_GTEST_PROP(VerdictProperty, WorkIsNeverMoreThanTheTimeThatItWasSeenIn, ())
{
    const auto activity = [] {
        return *rc::gen::element<std::optional<double>>(
            std::nullopt, 0.0, 0.01, 0.3, 1.0, 40.0, -1.0);
    };
    std::vector<Device> devices(1);
    devices[0].uuid = "GPU-1";
    EvidenceCollector collector(devices);
    std::int64_t moment = 0;
    const int samples = *rc::gen::inRange(0, 60);
    for (int i = 0; i < samples; ++i) {
        moment += *rc::gen::inRange(-5'000, 100'000);
        DeviceSample device;
        device.uuid = "GPU-1";
        device.utilisation = activity();
        device.sm_activity = activity();
        if (*rc::gen::arbitrary<bool>()) device.memory_used = *rc::gen::inRange(0, 1 << 30);
        if (*rc::gen::inRange(0, 20) == 0) device.xids = {*rc::gen::inRange(1, 140)};
        if (*rc::gen::inRange(0, 40) == 0) device.lost = "gone";
        for (const pid_t pid : {1, 2, 3, 4})
            if (*rc::gen::inRange(0, 3) == 0)
                device.processes.push_back({.pid = pid, .memory = 5, .sm_utilisation = activity()});
        collector.add(
            {.time = 0, .devices = {device}},
            [](pid_t pid) { return static_cast<Whose>(pid - 1); },
            moment);
    }

    const auto& device = collector.evidence().devices[0];

    RC_ASSERT(device.worked_seconds <= device.measured_seconds + 1e-9);
    RC_ASSERT(device.held_seconds <= collector.evidence().seconds + 1e-9);
    const auto judged = judge(collector.evidence());
    RC_ASSERT((judged.verdict != Verdict::confirmed || device.worked_seconds >= 0.05));
}

}  // namespace
}  // namespace ponk::gpu
