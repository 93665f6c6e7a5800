// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/gpus/gpu_devices.hpp"

#include <thread>

namespace ponk::cli {
namespace gpu_list_command {

constexpr Option options[] = {{.name = "target",
                               .brief = "t",
                               .value = "NAME",
                               .help = "Only GPUs of this target. May be repeated.",
                               .times = Option::Times::many,
                               .complete = Complete::target}};
constexpr Example examples[] = {
    {"ponk gpu list", "List all GPUs that runs of this project can use."},
    {"ponk gpu list -t gpu1 -o tsv --query '[?!processes && !lease].uuid'",
     "List the GPUs of one target that are not in use and not leased."},
};

// All targets at once: a machine that does not answer keeps nobody waiting twice.
std::vector<Result<Json>>
ask_all(Daemon& daemon, const os::Path& project, const std::vector<std::string>& targets)
{
    std::vector<Result<Json>> answers(targets.size(), Json());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        threads.emplace_back([&answers, &project, &targets, i, own = daemon.beside()]() mutable {
            answers[i] = ask_gpus(own, project, targets[i]);
        });
    }
    threads.clear();
    return answers;
}

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const auto asked = TRY(gpu_targets(project, words.values("target")));
    const auto& targets = asked.names;
    for (const auto& skipped : asked.skipped)
        context.note("{}", printable(skipped));
    std::vector<Json> reached;
    bool missing = false;
    const auto answers = ask_all(*TRY(context.daemon()), project.root, targets);
    std::vector<std::string> told;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto& answer = answers[i];
        const auto problem = answer ? (*answer)["problem"] : Json();
        auto text = answer ? problem.text("message") : answer.error().message();
        const auto hint = answer ? problem.text("hint") : answer.error().hint();
        if (answer && answer->boolean("reachable")) reached.push_back(*answer);
        missing = missing || !answer || !answer->boolean("reachable");
        // Two targets on one machine have one problem.
        if (text.empty() || std::find(told.begin(), told.end(), text) != told.end()) continue;
        told.push_back(text);
        context.note("{}: {}", targets[i], printable(text));
        if (!hint.empty()) context.note("hint: {}", printable(hint));
    }
    const auto devices = devices_of(reached);
    if (devices.empty() && told.empty() && !targets.empty())
        context.note("no GPU on {}", join(targets, ", "));
    TRY(context.print(devices, view_of_gpus(devices)));
    // Who names a target wants that one.
    return missing && words.has("target") ? exit_code::unavailable : exit_code::success;
}

}  // namespace gpu_list_command

constinit const Command cmd_gpu_list = {
    .path = "gpu list",
    .summary = "List the GPUs of the project's targets",
    .description = "Asks the GPU drivers of all machines on which this project can run, and shows "
                   "the GPUs (or MIG instances), their load and their users. This command does not "
                   "lease GPUs. PONK_GPU_PROBE=none hides the GPUs of this machine.",
    .options = gpu_list_command::options,
    .examples = gpu_list_command::examples,
    .exits = "0, also if there are no GPUs; 69 if a target given with -t cannot be reached.",
    .run = gpu_list_command::run,
};

}  // namespace ponk::cli
