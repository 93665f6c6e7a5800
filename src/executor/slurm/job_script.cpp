// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/job_script.hpp"

#include "base/text.hpp"
#include "executor/job/device_variables.hpp"
#include "executor/run_directory/control_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// Between the run's own time limit and Slurm's: our supervisor ends the run, and writes it down.
constexpr std::chrono::seconds spare = 60s;

// As `--time` has it: whole minutes, rounded up.
std::string minutes_text(std::chrono::seconds span)
{
    return std::to_string(std::chrono::ceil<std::chrono::minutes>(span).count());
}

// In names of output files `%` begins a replacement.
std::string without_patterns(const std::string& path)
{
    std::string text;
    for (const char c : path)
        text += c == '%' ? "%%" : std::string(1, c);
    return text;
}

}  // namespace

std::string job_name(const RunId& run)
{
    return "ponk-" + run.text();
}

bool belongs_to_allocation(std::string_view variable)
{
    static constexpr std::array prefixes{
        "SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "PMI_", "PMIX_"};
    // SLURM_CONF names the cluster, for the script as for us.
    if (variable == "SLURM_CONF") return false;
    return variable == "TMPDIR" || variable == "HOSTNAME" || chooses_devices(variable) ||
           std::ranges::any_of(
               prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

// The script's variables are in a file that only the user can read: `--export` would show them to
// everybody who may see jobs. What the job was given by Slurm is added here, on the node.
std::string to_text(const JobScript& script)
{
    const auto task = shell_word(script.task.native());
    const auto lease = script.lease.empty() ? std::string()
                                            : fmt::format("exec 9<{} && flock -s 9\n",
                                                          shell_word(script.lease.native()));
    return fmt::format(
        "#!/bin/sh\n"
        "# Run {} of ponk, started by Slurm.\n"
        "cd {} || exit 1\n"
        "umask 077\n"
        "env -0 | LC_ALL=C grep -z -E "
        "'^(SLURM_|SLURMD_|CUDA_VISIBLE_DEVICES=|ROCR_VISIBLE_DEVICES=|HIP_VISIBLE_DEVICES=|"
        "ZE_AFFINITY_MASK=|GPU_DEVICE_ORDINAL=|TMPDIR=|HOSTNAME=)' "
        "| LC_ALL=C grep -z -v '^SLURM_CONF=' >> {}\n"
        "exec 8<{} || exit 1\n"
        "rm -f {}\n"
        "{}"
        "exec {} {} 8 2{}\n",
        script.run,
        task,
        control::environment,
        control::environment,
        control::environment,
        lease,
        shell_word(script.stub.native()),
        task,
        script.lease.empty() ? "" : " 9");
}

std::vector<std::string> words_of(const model::SlurmSpec& slurm)
{
    std::vector<std::string> words;
    const auto add = [&words](const char* option, const std::string& value) {
        if (!value.empty()) words.push_back(std::string(option) + "=" + value);
    };
    add("--partition", slurm.partition);
    add("--account", slurm.account);
    add("--qos", slurm.qos);
    add("--gres", slurm.gres);
    words.insert(words.end(), slurm.options.begin(), slurm.options.end());
    return words;
}

std::vector<std::string> job_options(const Job& job)
{
    const auto task = job.context.directory.task();
    std::vector<std::string> words{
        "--job-name=" + job_name(job.spec.id),
        "--comment=" + job.spec.id.text(),
        "--chdir=" + task.native(),
        "--input=/dev/null",
        "--output=" + without_patterns((task / job_output_file).native()),
        "--open-mode=append",
        // The command's own environment is a bare one.
        "--export=ALL",
        // A second start would be another attempt, which is ours to begin.
        "--no-requeue",
    };
    if (job.spec.resources.time_limit > 0s)
        words.push_back("--time=" + minutes_text(job.spec.resources.time_limit +
                                                 job.spec.policy.grace + spare));
    for (auto& word : words_of(*job.spec.location.slurm))
        words.push_back(std::move(word));
    return words;
}

}  // namespace ponk::executor::slurm
