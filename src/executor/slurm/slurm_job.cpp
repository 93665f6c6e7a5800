// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_job.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace ponk::executor::slurm {

namespace {

bool is_number(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "CANCELLED by 1000" and "CANCELLED+" mean CANCELLED.
std::string first_word(std::string_view text)
{
    std::string word(text.substr(0, text.find(' ')));
    if (word.ends_with('+')) word.pop_back();
    return word;
}

}  // namespace

bool SlurmJob::is_waiting() const
{
    static constexpr std::array waiting{"PENDING",
                                        "CONFIGURING",
                                        "REQUEUED",
                                        "REQUEUE_HOLD",
                                        "REQUEUE_FED",
                                        "RESV_DEL_HOLD",
                                        "SPECIAL_EXIT"};
    return std::ranges::find(waiting, state) != waiting.end();
}

// REVOKED is not among them: another cluster of a federation has the job.
bool SlurmJob::is_over() const
{
    static constexpr std::array over{"BOOT_FAIL",
                                     "CANCELLED",
                                     "COMPLETED",
                                     "DEADLINE",
                                     "FAILED",
                                     "NODE_FAIL",
                                     "OUT_OF_MEMORY",
                                     "PREEMPTED",
                                     "TIMEOUT"};
    return std::ranges::find(over, state) != over.end();
}

// One that found the run claimed failed by itself.
int SlurmJob::worth() const
{
    if (!is_over()) return is_waiting() ? 2 : 3;
    return state == "CANCELLED" || !cause_of(*this).empty() ? 1 : 0;
}

SlurmJobs parse_jobs(std::string_view text)
{
    SlurmJobs jobs;
    for (const auto& line : split(text, '\n')) {
        const auto words = split(line, '|');
        if (words.size() < 4 || !is_number(words[0])) continue;
        jobs[words[0]] = {.state = first_word(words[1]),
                          .reason = words.size() > 4 ? words[4] : std::string(),
                          .nodes = words[2],
                          .name = words[3]};
    }
    return jobs;
}

std::string number_of_best(const SlurmJobs& jobs)
{
    const auto worth = [](const auto& entry) {
        const auto& [number, job] = entry;
        return std::pair(job.worth(), parse_integer(number).value_or(0));
    };
    const auto best = std::ranges::max_element(jobs, {}, worth);
    return best == jobs.end() ? std::string() : best->first;
}

std::string parse_sbatch(std::string_view text)
{
    // The last line: what a site's plugin prints comes before it.
    const auto lines = split(trim(text), '\n');
    if (lines.empty()) return {};
    auto number = std::string(trim(lines.back()));
    number.resize(std::min(number.find(';'), number.size()));
    return is_number(number) ? number : std::string();
}

std::string cause_of(const SlurmJob& job)
{
    if (job.state == "TIMEOUT" || job.state == "DEADLINE") return "time-limit";
    if (job.state == "PREEMPTED") return "preempted";
    if (job.state == "NODE_FAIL" || job.state == "BOOT_FAIL") return "host-lost";
    if (job.state == "OUT_OF_MEMORY") return "out-of-memory";
    return {};
}

std::string describe(const std::string& number, const SlurmJob& job)
{
    if (job.is_waiting()) {
        const bool has_reason = !job.reason.empty() && job.reason != "None";
        return fmt::format("job {} waits in Slurm's queue{}",
                           number,
                           has_reason ? fmt::format(" ({})", printable(job.reason)) : "");
    }
    const auto where = job.nodes.empty() ? "" : fmt::format(" on {}", printable(job.nodes));
    return fmt::format("Slurm reports job {}{} as {}", number, where, printable(job.state));
}

}  // namespace ponk::executor::slurm
