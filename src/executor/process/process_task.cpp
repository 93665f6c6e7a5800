// SPDX-License-Identifier: Apache-2.0
#include "executor/process/process_task.hpp"

#include "executor/environments/environment.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/events/event_files.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/relay_file.hpp"
#include "executor/run_directory/shared_directory.hpp"
#include "executor/supervisor/command_line.hpp"

namespace ponk::executor {

// `pythonLocation` is what a managed environment stands on; the script gets its own.
Result<std::optional<environment::Request>> request_of_process(const Job& job)
{
    auto request = TRY(environment_request(job));
    if (request) request->interpreter = job.spec.program.interpreter;
    return request;
}

Result<std::string> write_process_task(const Job& given,
                                       const environment::Prepared* prepared,
                                       const Installed& programs,
                                       const RunKeys& keys,
                                       std::stop_token stop)
{
    auto job = given;
    job.context.submitter_environment =
        ground_of_own(job.spec.environment.prefix, given.context.submitter_environment);
    if (prepared != nullptr) {
        job.spec.program.interpreter = prepared->record.interpreter;
        job.context.submitter_environment =
            ground_of(*prepared, given.context.submitter_environment);
    }
    const auto tree = job.context.directory.work();
    const auto task = job.context.directory.task();
    auto environment = compose_environment(job,
                                           job.context.submitter_environment,
                                           {.tree = tree.string(),
                                            .control = task.string(),
                                            .python_modules = programs.python_modules.string(),
                                            .shared = job.spec.runtime.shared_directory});
    auto line = TRY(command_line(job, tree, environment.words(), std::move(stop)));
    for (const auto& [name, value] : line.variables)
        environment.set(name, value);
    const StubSpec text{.run = job.spec.id.text(),
                        .token = job.context.token,
                        .directory = (tree / job.spec.program.folder).string(),
                        .program = line.program.string(),
                        .argv = std::move(line.argv),
                        .relay = has_relay(job) ? programs.relay.string() : "",
                        .input = take_input(job.context.input, task),
                        .term_reaches_all = job.spec.location.slurm.has_value(),
                        .umask = job.context.umask,
                        .time_limit = job.spec.resources.time_limit,
                        .grace = job.spec.policy.grace};
    TRY(os::make_directories(task / control::journal));
    TRY(write_relay_file(job, (tree / "outputs").string()));
    // Its name need not outlive a power cut: the supervisor would not either.
    TRY(os::replace_file(task / control::spec, to_text(text), 0600, os::Durable::content));
    TRY(note_event_folders(job));
    TRY(make_shared_directory(job));
    return keys.of(job.spec.id.text()) + '\0' + environment.bytes();
}

}  // namespace ponk::executor
