// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/describe_container.hpp"

#include "base/text.hpp"
#include "executor/docker/container_layout.hpp"
#include "executor/docker/memory_limit.hpp"
#include "executor/docker/run_arguments.hpp"
#include "executor/environments/environment.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/relay_file.hpp"
#include "executor/run_directory/shared_directory.hpp"
#include "executor/supervisor/command_line.hpp"
#include "os/identity.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::executor::docker {

namespace {

using dockerapi::ContainerSpec;
using dockerapi::Mount;

// Threads count too: enough for every worker of a large machine, too few to take the machine from
// everybody else. `--pids-limit` among the arguments says otherwise.
constexpr std::int64_t most_processes = 16384;

bool is_copied(const Job& job)
{
    return job.spec.runtime.container->tree == Container::Tree::copied;
}

bool has_shared_directory(const ContainerSpec& container)
{
    return std::ranges::any_of(container.mounts,
                               [](const Mount& mount) { return mount.target == layout::shared; });
}

void add_mounts(const Job& job, const Installed& installed, ContainerSpec& container)
{
    container.mounts = {
        {job.context.directory.task().string(), layout::control, Mount::Access::read_write},
        {installed.stub.string(), layout::stub, Mount::Access::read_only},
        {installed.python_modules.string(), layout::python_modules, Mount::Access::read_only}};
    if (has_relay(job)) {
        container.mounts.push_back(
            {installed.relay.string(), layout::relay, Mount::Access::read_only});
    }
    if (!is_copied(job))
        container.mounts.push_back({job.context.directory.work().string(), layout::tree});
    if (wants_shared_directory(job))
        container.mounts.push_back({job.spec.runtime.shared_directory, layout::shared});
    for (const auto& input : job.spec.inputs)
        container.mounts.push_back(
            {input.source, (Path(layout::tree) / input.path).native(), Mount::Access::read_only});
}

Environment script_environment(const Job& job,
                               const dockerapi::Image& image,
                               const environment::Prepared* prepared,
                               const ContainerSpec& container)
{
    Environment image_sets(image.environment);
    // What engines set for such an image; without it a script's sys.executable is empty.
    if (image_sets.get("PATH").empty())
        image_sets.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if (prepared != nullptr) {
        for (const auto& [name, value] : prepared->variables)
            image_sets.set(name, value);
        if (!prepared->path_front.empty())
            image_sets.set("PATH", prepared->path_front + ":" + image_sets.get("PATH"));
    }
    auto ground = image_sets.words();
    // The user has no entry in the image's list of users: programs ask the variables instead.
    const auto user = os::user_name();
    ground.push_back("USER=" + user);
    ground.push_back("LOGNAME=" + user);
    ground.push_back(std::string("HOME=") + layout::home);
    ground.insert(ground.end(), container.environment.begin(), container.environment.end());
    const Environment shell(job.context.submitter_environment);
    for (const auto& name : job.spec.program.shell_variables)
        if (const auto value = shell.get(name); !value.empty())
            ground.push_back(name + "=" + value);
    auto out =
        compose_environment(job,
                            ground,
                            {.tree = layout::tree,
                             .control = layout::control,
                             .python_modules = layout::python_modules,
                             .shared = has_shared_directory(container) ? layout::shared : ""});
    // An engine whose usual runtime is NVIDIA's gives an image what its own variable says.
    if (job.spec.resources.gpu.hides_all()) out.set("NVIDIA_VISIBLE_DEVICES", "void");
    return out;
}

void add_command(const Job& job, const environment::Prepared* prepared, DescribedContainer& out)
{
    if (!job.spec.program.command.empty()) {
        out.program = job.spec.program.command.front();
        out.argv = job.spec.program.command;
        return;
    }
    if (same_ignoring_case(job.spec.program.framework, "PySpark")) {
        out.program = "spark-submit";
        out.argv = {"spark-submit"};
        out.argv.insert(out.argv.end(),
                        job.spec.program.spark_options.begin(),
                        job.spec.program.spark_options.end());
    } else {
        // Looked up in the container, where "python" may be called "python3".
        out.program = !job.spec.program.interpreter.empty() ? job.spec.program.interpreter
                      : prepared != nullptr                 ? prepared->record.interpreter
                                                            : "python";
        if (out.program == "python") out.other_program = "python3";
        out.argv = {out.program};
    }
    const auto script = script_words(job);
    out.argv.insert(out.argv.end(), script.begin(), script.end());
    out.argv.insert(
        out.argv.end(), job.spec.program.arguments.begin(), job.spec.program.arguments.end());
}

}  // namespace

Result<DescribedContainer> describe_container(const Job& job,
                                              const dockerapi::Image& image,
                                              const environment::Prepared* prepared,
                                              const dockerapi::Info& engine,
                                              const Installed& installed)
{
    DescribedContainer out;
    auto& container = out.spec;
    container.name = job.spec.id.text();
    container.image = image.id;
    container.command = {layout::stub, layout::control, "@environment", "2"};
    // A rootless engine maps its root to the user who runs it; any other user there is a stranger.
    container.user = engine.rootless ? "0:0" : fmt::format("{}:{}", ::getuid(), ::getgid());
    container.directory = "/";
    container.labels = {{layout::run_label, job.spec.id.text()},
                        {layout::token_label, job.context.token}};
    container.process_limit = most_processes;
    add_mounts(job, installed, container);
    if (!job.spec.runtime.container->shm_size.empty())
        container.shared_memory = TRY(parse_byte_size(job.spec.runtime.container->shm_size));
    TRY(apply_run_arguments(job.spec.runtime.container->arguments, container));
    limit_memory(engine, container);
    const auto environment = script_environment(job, image, prepared, container);
    container.environment.clear();  // the engine shows them to everybody who may ask it
    add_command(job, prepared, out);
    out.environment = environment.bytes();
    return out;
}

Result<>
write_control_files(const Job& job, const DescribedContainer& container, const std::string& key)
{
    const StubSpec text{.run = job.spec.id.text(),
                        .token = job.context.token,
                        .directory = (Path(layout::tree) / job.spec.program.folder).string(),
                        .program = container.program,
                        .other_program = container.other_program,
                        .argv = container.argv,
                        .relay = has_relay(job) ? layout::relay : "",
                        .input = take_input(job.context.input, job.context.directory.task()),
                        .umask = job.context.umask,
                        .time_limit = job.spec.resources.time_limit,
                        .grace = job.spec.policy.grace};
    TRY(os::make_directories(job.context.directory.task() / control::journal));
    TRY(write_relay_file(job, std::string(layout::tree) + "/outputs"));
    TRY(os::make_directories(job.context.directory.task() / "home"));
    if (has_shared_directory(container.spec))
        TRY(os::make_directories(job.spec.runtime.shared_directory, 0755));
    TRY(os::replace_file(job.context.directory.task() / control::spec, to_text(text)));
    // Read and removed by the supervisor before anything else.
    return os::replace_file(job.context.directory.task() / control::environment,
                            key + '\0' + container.environment,
                            0600,
                            os::Durable::no);
}

}  // namespace ponk::executor::docker
