// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/gpus/gpu_devices.hpp"
#include "cli/gpus/gpu_frame.hpp"
#include "cli/gpus/gpu_poll.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/screen.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::cli {
namespace gpu_watch_command {

using std::chrono::milliseconds;

constexpr Option options[] = {{.name = "target",
                               .brief = "t",
                               .value = "NAME",
                               .help = "Only GPUs of this target. May be repeated.",
                               .times = Option::Times::many,
                               .complete = Complete::target},
                              {.name = "interval",
                               .value = "SECONDS",
                               .help = "Time between two samples, at least 0.2. Default: 1."},
                              {.name = "count",
                               .value = "N",
                               .help = "Stop after this many samples. Default: run until Ctrl-C."}};
constexpr Example examples[] = {
    {"ponk gpu watch", "Show all GPUs that runs of this project can use, live."},
    {"ponk gpu watch --interval 10 --count 360 > gpus.log",
     "Record one hour: one line per GPU and sample."},
};

struct WatchRequest {
    milliseconds interval{1000};
    std::int64_t count = 0;  // 0: without end
};

tl::expected<WatchRequest, Failure> selection_of(const Invocation& words)
{
    WatchRequest selection;
    if (words.has("interval")) {
        const auto seconds = parse_real(words.text("interval"));
        if (!seconds || !(*seconds >= 0.2 && *seconds <= 86'400))
            return fail_usage("--interval needs seconds from 0.2 to 86400, not '{}'",
                              printable(words.text("interval")));
        selection.interval = milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    }
    if (words.has("count")) {
        const auto count = parse_integer(words.text("count"));
        if (!count || *count < 1)
            return fail_usage("--count needs a number of samples, not '{}'",
                              printable(words.text("count")));
        selection.count = *count;
    }
    return selection;
}

using Polls = std::vector<std::unique_ptr<GpuPoll>>;

bool all_answered(const Polls& polls)
{
    return std::ranges::all_of(polls, [](const auto& poll) { return poll->newest() != nullptr; });
}

GpuFrame frame_of(const Polls& polls, const std::vector<std::string>& skipped)
{
    GpuFrame frame{.devices = {}, .notes = skipped, .title = {}};
    std::vector<Json> answers;
    for (const auto& poll : polls) {
        const auto answer = poll->newest();
        if (!answer) {
            frame.notes.push_back(poll->target() + ": no answer yet");
        } else if (!*answer) {
            add_problem(frame, poll->target(), answer->error().message(), answer->error().hint());
        } else {
            const Json& problem = (**answer)["problem"];
            add_problem(frame, poll->target(), problem.text("message"), problem.text("hint"));
            answers.push_back(**answer);
        }
    }
    frame.devices = devices_of(answers);
    frame.title = utc_text(wall_milliseconds()).substr(0, 19) + "Z";
    return frame;
}

Result<> show(const GpuFrame& frame, GpuMinute& minute, Screen* screen)
{
    if (!screen) return Context::print_text(join(gpu_lines(frame), "\n") + "\n");
    const auto now = boot_milliseconds();
    minute.add(frame.devices, now);
    return screen->draw(draw_gpus(frame, minute, now, output::detect_terminal(STDOUT_FILENO)));
}

Outcome run(Context& context, const Invocation& words)
{
    const auto selection = TRY(selection_of(words));
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const auto targets = TRY(gpu_targets(project, words.values("target")));
    Daemon* daemon = TRY(context.daemon());
    const bool document =
        context.has_query() ||
        context.asked_format().value_or(output::Format::table) != output::Format::table;
    const bool live = !document && ::isatty(STDOUT_FILENO) == 1;
    const Interrupts interrupts;
    const auto stop = interrupts.token();
    Polls polls;
    for (const auto& target : targets.names)
        polls.push_back(
            std::make_unique<GpuPoll>(daemon->beside(), project.root, target, selection.interval));
    GpuMinute minute;
    std::optional<Screen> screen;
    if (live) screen.emplace();
    // A live view shows what is there; a log of looks waits for the first answer of all.
    for (int i = 0; !all_answered(polls) && (!live || i < 20); ++i)
        if (!os::sleep_for(milliseconds(50), stop)) return exit_code::success;
    for (std::int64_t looks = 1;; ++looks) {
        const auto frame = frame_of(polls, targets.skipped);
        if (document)
            TRY(context.print(frame.devices));
        else
            TRY(show(frame, minute, screen ? &*screen : nullptr));
        if (looks == selection.count || !os::sleep_for(selection.interval, stop)) break;
    }
    return exit_code::success;
}

}  // namespace gpu_watch_command

constinit const Command cmd_gpu_watch = {
    .path = "gpu watch",
    .summary = "Watch the GPUs of the project's targets",
    .description =
        "Shows each GPU repeatedly: utilization (a kernel was resident), activity of its "
        "processors (SM, tensor; if the GPU reports it), memory, power, temperature, a curve of "
        "the last minute, and the processes with their user and run. In a pipe it prints one line "
        "per GPU and sample; with -o json one document per sample. Stop it with Ctrl-C.",
    .options = gpu_watch_command::options,
    .examples = gpu_watch_command::examples,
    .run = gpu_watch_command::run,
};

}  // namespace ponk::cli
