// SPDX-License-Identifier: Apache-2.0
// What an H200 with driver 580 answered while six trainings ran, each followed at once by a run
// that did nothing. A line of the recording: milliseconds, utilisation and SM activity in percent,
// MiB in use, then of each process its pid, MiB, and how much it worked in percent: since the line
// before (null: nothing new) and since long ago, which is reported on a process that was not there
// then, too.
#include "base/text.hpp"
#include "gpu/verdict/verdict.hpp"
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ponk::gpu {
namespace {

struct Line {
    std::int64_t moment = 0;
    DeviceSample all;            // with what was reported since the line before
    std::vector<double> of_old;  // of each process: what was reported since long ago
};

std::vector<Line> recording()
{
    std::vector<Line> lines;
    const auto text = os::read_file(PONK_GOLDEN "/gpu/h200-pairs.jsonl");
    std::int64_t before = 0;
    for (const auto& row : split(text.value(), '\n')) {
        if (row.empty()) continue;
        const auto json = parse_json(row).value();
        const auto& fields = json.as_array();
        Line line{.moment = fields[0].as_integer()};
        line.all.uuid = "GPU-1";
        line.all.utilisation = fields[1].as_double() / 100;
        line.all.sm_activity = fields[2].as_double() / 100;
        line.all.memory_used = static_cast<std::uint64_t>(fields[3].as_integer()) << 20U;
        for (const auto& entry : fields[4].as_array()) {
            const auto& words = entry.as_array();
            DeviceProcess process{.pid = static_cast<pid_t>(words[0].as_integer()),
                                  .memory = static_cast<std::uint64_t>(words[1].as_integer())
                                            << 20U};
            if (words[2].is_number()) {
                process.sm_utilisation = words[2].as_double() / 100;
                process.sm_span_ms = line.moment - before + 1000;
            }
            line.of_old.push_back(words[3].is_number() ? words[3].as_double() / 100 : 0);
            line.all.processes.push_back(process);
        }
        before = line.moment;
        lines.push_back(std::move(line));
    }
    return lines;
}

// What is left of a line where a card or driver reports less.
using Reported = std::function<DeviceSample(const Line&)>;

// One verdict for each process, as if it had been the run's.
std::vector<Verdict> verdicts(const Reported& reported)
{
    const auto lines = recording();
    std::vector<pid_t> pids;
    for (const auto& line : lines)
        for (const auto& process : line.all.processes)
            if (std::ranges::find(pids, process.pid) == pids.end()) pids.push_back(process.pid);
    std::vector<Verdict> found;
    std::size_t begin = 0;
    for (const pid_t own : pids) {
        std::vector<Device> devices(1);
        devices[0].uuid = "GPU-1";
        EvidenceCollector collector(devices);
        const auto is_there = [own](const Line& line) {
            return std::ranges::find(line.all.processes, own, &DeviceProcess::pid) !=
                   line.all.processes.end();
        };
        const auto start = lines[begin].moment - 1;
        bool was_there = false;
        for (auto at = begin; at < lines.size() && (!was_there || is_there(lines[at])); ++at) {
            was_there = was_there || is_there(lines[at]);
            collector.add(
                {.time = 0, .devices = {reported(lines[at])}},
                [own, start](pid_t pid) -> ProcessOwner {
                    if (pid != own) return Whose::others;
                    return {Whose::own, start, std::numeric_limits<std::int64_t>::max()};
                },
                lines[at].moment);
            begin = at + 1;
        }
        found.push_back(judge(collector.evidence()).verdict);
    }
    return found;
}

void expect_truth(const std::vector<Verdict>& found)
{
    ASSERT_EQ(found.size(), 12U);
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i] == Verdict::confirmed, i % 2 == 0) << i << " " << to_string(found[i]);
}

TEST(RecordedCard, TrainingIsConfirmedAndWhatFollowsItIsNot)
{
    expect_truth(verdicts([](const Line& line) { return line.all; }));
}

// As on cards before Hopper.
TEST(RecordedCard, TheSameWithoutSmActivity)
{
    expect_truth(verdicts([](const Line& line) {
        auto sample = line.all;
        sample.sm_activity.reset();
        return sample;
    }));
}

TEST(RecordedCard, TheSameWithUtilisationAlone)
{
    expect_truth(verdicts([](const Line& line) {
        auto sample = line.all;
        sample.sm_activity.reset();
        for (auto& process : sample.processes)
            process = {.pid = process.pid, .memory = process.memory};
        return sample;
    }));
}

// The driver was asked for all that it remembers: half a minute, of whoever was there.
TEST(RecordedCard, WorkOfThoseBeforeIsNotTheRunsWithoutSmActivity)
{
    const auto found = verdicts([](const Line& line) {
        auto sample = line.all;
        sample.sm_activity.reset();
        for (std::size_t i = 0; i < sample.processes.size(); ++i) {
            sample.processes[i].sm_utilisation = line.of_old[i];
            sample.processes[i].sm_span_ms = 30'000;
        }
        return sample;
    });
    expect_truth(found);
}

}  // namespace
}  // namespace ponk::gpu
