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

// What sbatch was given itself, and what the job's shell sets: the rest is Slurm's and the site's.
constexpr std::string_view usual_names =
    "HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|LD_LIBRARY_PATH|PATH|PWD|OLDPWD|SHLVL|_|SLURM_CONF";

bool is_plain_name(std::string_view name)
{
    return std::ranges::all_of(name, [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
               (c >= 'a' && c <= 'z');
    });
}

// Descriptor 8 has the environment.
std::string first_process(const JobScript& script)
{
    if (script.monitor.empty())
        return shell_word(script.stub.native()) + " " + shell_word(script.task.native()) + " 8 2";
    std::string words = "7>&2 env";
    for (const auto& variable : script.monitor_environment)
        words += " " + shell_word(variable);
    return fmt::format("{} {} ponk-gpu-monitor {} 8 7",
                       words,
                       shell_word(script.monitor.native()),
                       shell_word(script.root.native()));
}

}  // namespace

std::string job_name(const RunId& run)
{
    return "ponk-" + run.text();
}

bool belongs_to_allocation(std::string_view variable)
{
    static constexpr std::array prefixes{"SLURM_",
                                         "SLURMD_",
                                         "SBATCH_",
                                         "SRUN_",
                                         "SALLOC_",
                                         "PMI_",
                                         "PMIX_",
                                         "OMPI_",
                                         "PRTE_",
                                         "I_MPI_",
                                         "HYDI_",
                                         "SSH_",
                                         "XDG_SESSION_"};
    static constexpr std::array<std::string_view, 9> names{"TMPDIR",
                                                           "HOSTNAME",
                                                           "GPU_DEVICE_ORDINAL",
                                                           "ZE_AFFINITY_MASK",
                                                           "XDG_RUNTIME_DIR",
                                                           "DBUS_SESSION_BUS_ADDRESS",
                                                           "DISPLAY",
                                                           "WAYLAND_DISPLAY",
                                                           "XAUTHORITY"};
    // SLURM_CONF names the cluster, for the script as for us.
    if (variable == "SLURM_CONF") return false;
    return chooses_devices(variable) || std::ranges::find(names, variable) != names.end() ||
           std::ranges::any_of(
               prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

// The script's variables are in a file that only the user can read: `--export` would show them to
// everybody who may see jobs. What the job was given by Slurm is added here, on the node. Of two
// jobs of one run one gets the file.
std::string to_text(const JobScript& script)
{
    const auto task = shell_word(script.task.native());
    const auto file = shell_word(script.lease.native());
    const auto lease =
        script.lease.empty()
            ? std::string()
            : fmt::format("if [ -r {} ]; then exec 9<{}; flock -s 9; lease=9; fi\n", file, file);
    std::string not_added(usual_names);
    for (const auto& name : script.chosen_names) {
        if (is_plain_name(name)) not_added += "|" + name;
    }
    return fmt::format("#!/bin/sh\n"
                       "# Run {} of ponk, started by Slurm.\n"
                       "cd {} || exit 1\n"
                       "umask 077\n"
                       "mine={}.$SLURM_JOB_ID\n"
                       "mv {} \"$mine\" 2>/dev/null || {{ echo claimed; exit 75; }}\n"
                       "env -0 | LC_ALL=C grep -z -v -E '^({})=' >> \"$mine\"\n"
                       "exec 8<\"$mine\" || exit 1\n"
                       "rm -f \"$mine\"\n"
                       "lease=\n"
                       "{}"
                       "exec {} $lease\n",
                       script.run,
                       task,
                       control::environment,
                       control::environment,
                       not_added,
                       lease,
                       first_process(script));
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
        // In that folder: '%' and '\\' in a path would have a meaning.
        std::string("--output=") + job_output_file,
        "--open-mode=append",
        // The command's own environment is a bare one.
        "--export=ALL",
        // A second start would be another attempt, which is ours to begin.
        "--no-requeue",
        // Limits of the process that submits are not those of a node.
        "--propagate=NONE",
    };
    if (job.spec.resources.time_limit > 0s)
        words.push_back("--time=" + minutes_text(job.spec.resources.time_limit +
                                                 job.spec.policy.grace + spare));
    for (auto& word : words_of(*job.spec.location.slurm))
        words.push_back(std::move(word));
    return words;
}

}  // namespace ponk::executor::slurm
