// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/job_lines.hpp"

#include "base/text.hpp"
#include "config/files/sbatch_lines.hpp"
#include "config/files/slurm_keys.hpp"

#include <algorithm>
#include <array>

namespace ponk::engine {

namespace {

constexpr std::uint64_t longest_script = std::uint64_t{1} << 20;

// Of a job of one process they say nothing new.
bool counts_processes(std::string_view name)
{
    return name == "nodes" || name.starts_with("ntasks");
}

// With another meaning for the run than for a job.
bool makes_more(const config::SbatchOption& option)
{
    static constexpr std::array names{
        "array", "clusters", "cluster-constraint", "gid", "test-only", "uid", "wrap"};
    if (counts_processes(option.name)) return option.value != "1" && option.value != "1-1";
    return std::ranges::any_of(names, [&](std::string_view name) {
        return option.name.size() > 1 && name.starts_with(option.name);
    });
}

Error refused(const std::string& script, const config::SbatchOption& option)
{
    const auto value = option.value.empty() ? "" : "=" + option.value;
    return {ErrorKind::invalid_argument,
            fmt::format("{}:{}: '#SBATCH --{}{}' cannot be kept: a run is one process of one job",
                        printable(script),
                        option.line,
                        option.name,
                        printable(value)),
            "Remove the line, or start the other processes in the script itself, with srun."};
}

}  // namespace

Result<> apply_job_lines(ResolvedRun& run)
{
    auto& slurm = *run.spec.location.slurm;
    const auto& program = run.spec.program;
    if (!program.command.empty() || !program.module.empty() || is_preparation(run.spec)) return {};
    const auto file = os::open_regular(run.project / program.script, os::Links::follow);
    // What is wrong with it is said where it is read as a program.
    const auto text = file ? os::read_at(file->get(), 0, longest_script) : Result<std::string>("");
    if (!text) return {};
    std::vector<std::string> unused;
    for (auto& option : TRY(config::parse_sbatch_lines(program.script, *text))) {
        if (makes_more(option)) return tl::unexpected(refused(program.script, option));
        if (counts_processes(option.name)) continue;
        if (option.name == "partition") {
            slurm.partition = option.value;
        } else if (option.name == "account") {
            slurm.account = option.value;
        } else if (option.name == "qos") {
            slurm.qos = option.value;
        } else if (option.name == "gres") {
            slurm.gres = option.value;
        } else if (config::is_set_by_ponk(option.name)) {
            unused.push_back("--" + option.name);
        } else {
            slurm.options.push_back("--" + option.name +
                                    (option.value.empty() ? "" : "=" + option.value));
        }
    }
    if (!unused.empty())
        run.notices.push_back(fmt::format("{}: ponk sets {} itself: the script's '#SBATCH' {} not "
                                          "used",
                                          printable(program.script),
                                          join(unused, ", "),
                                          unused.size() == 1 ? "line is" : "lines are"));
    return {};
}

}  // namespace ponk::engine
