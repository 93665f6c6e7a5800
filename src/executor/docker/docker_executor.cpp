// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/docker_executor.hpp"

#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "dockerapi/endpoint.hpp"
#include "dockerapi/image.hpp"
#include "environment/cache/remove_image.hpp"
#include "executor/docker/container_copies.hpp"
#include "executor/docker/container_file.hpp"
#include "executor/docker/container_layout.hpp"
#include "executor/docker/container_run.hpp"
#include "executor/docker/copied_tree.hpp"
#include "executor/docker/describe_container.hpp"
#include "executor/docker/memory_limit.hpp"
#include "executor/docker/recent_info.hpp"
#include "executor/docker/run_arguments.hpp"
#include "executor/docker/run_image.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/events/event_files.hpp"
#include "executor/events/event_reader.hpp"
#include "executor/facts.hpp"
#include "executor/gpu/gpu_look.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/watcher.hpp"
#include "executor/supervisor/command_line.hpp"
#include "executor/supervisor/embedded.hpp"
#include "executor/supervisor/stub_start.hpp"
#include "os/identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor::docker {

using namespace std::chrono_literals;

namespace {

using dockerapi::Engine;

// A request to end is repeated when it was not heard, and meanwhile nobody looks at the run.
constexpr auto signal_patience = 10s;

// The file of the script's variables, which may hold secrets: gone unless a supervisor takes it.
class SecretFile {
public:
    explicit SecretFile(Path file) : file_(std::move(file)) {}
    ~SecretFile()
    {
        if (!kept_) ::unlink(file_.c_str());
    }
    SecretFile(const SecretFile&) = delete;
    SecretFile& operator=(const SecretFile&) = delete;
    void keep() { kept_ = true; }

private:
    Path file_;
    bool kept_ = false;
};

class DockerExecutor final : public ExecutorWithShelf {
public:
    DockerExecutor(Options options, Installed installed, RunKeys keys)
        : ExecutorWithShelf({options.home,
                             environment::Form::image,
                             environment::image_remover(),
                             environment::is_image_in_use,
                             environment::holders_of_image}),
          options_(std::move(options)), installed_(std::move(installed)), keys_(std::move(keys)),
          notes_(options_.home)
    {
    }

    Result<Staged> stage(const Job& job, const Progress& progress, std::stop_token stop) override
    {
        const auto begin = boot_milliseconds();
        const auto engine = TRY(connect(job, stop));
        TRY(provide_image(engine, job, progress, stop));
        Staged staged;
        const auto before = boot_milliseconds();
        staged.notices = TRY(stage_working_copy(options_.trees, job, stop));
        const auto materialised = boot_milliseconds() - before;
        staged.environment = EnvironmentUsed();
        if (auto prepared = TRY(environment_of(engine, job, progress, stop))) {
            staged.environment = describe_use(*prepared);
            for (auto& notice : substitution_notices(*prepared, job))
                staged.notices.push_back(std::move(notice));
            held_.hold(job.spec.id, std::move(*prepared));
        }
        TRY(describe_base(engine, job, *staged.environment, stop));
        if (staged.environment->lock_digest.empty())
            TRY(describe_packages_of_image(
                options_.home, engine, job, *staged.environment, staged.notices, stop));
        staged.environment->memory_limit = TRY(memory_limit(engine, job, stop));
        staged.prepare_ms = boot_milliseconds() - begin - materialised;
        return staged;
    }

    bool wants_login(const Job& job, std::stop_token stop) override
    {
        if (!job.context.login.empty()) return false;
        const auto engine = connect(job, stop);
        if (!engine) return false;
        const auto image = find_image(*engine, wanted_image(job), after(patience), stop);
        return image && !*image;
    }

    Result<Examination> examine(const Job& job, std::stop_token stop) override
    {
        const auto engine = TRY(connect(job, stop));
        TRY(stage_working_copy(options_.trees, job, stop));
        const auto request = TRY(request_of(engine, job, stop));
        if (!request) return examine_image(engine, job, stop);
        auto found = TRY(examine_environment(options_.home, job, *request, stop));
        return with_image(std::move(found), engine, job, stop);
    }

    Result<std::string> launch(const Job& job, std::stop_token stop) override
    {
        const auto engine = TRY(connect(job, stop));
        const auto name = job.spec.id.text();
        // The lease is ours until the container is there, which holds the image from then on.
        auto prepared = held_.take(job.spec.id);
        if (const auto there = TRY(find_container(engine, name, after(patience), stop))) {
            if (there->label(layout::run_label) != name)
                return fail(ErrorKind::conflict,
                            "a container '{}' already exists and does not belong to this run",
                            name);
            // One that was started, or ended, is the run: starting it again would be a second one.
            if (there->status != "created") {
                static_cast<void>(note(job, engine, ContainerNote::Stage::started));
                return name;
            }
            // Its GPU monitor is about to start it.
            if (is_monitor_alive(job.context.directory.task())) return name;
            TRY(remove_container(engine, name, after(patience)));
        }
        if (is_monitor_alive(job.context.directory.task())) return name;
        // A supervisor that was killed before the script began has done nothing: the next may try.
        if (is_there(job.context.directory.task() / control::claim) &&
            !TRY(withdraw_claim(job.context.directory.task())))
            return name;
        if (job.spec.program.command.empty() && job.spec.program.module.empty())
            TRY(check_script(job, job.context.directory.work()));
        if (!prepared)
            prepared = TRY(environment_of(
                engine, job, [](const std::string&) {}, stop));
        const auto image =
            TRY(usable_image(engine, prepared ? prepared->record.image : wanted_image(job), stop));
        const auto info = TRY(info_.of(engine, stop));
        const auto container =
            TRY(describe_container(job, image, prepared ? &*prepared : nullptr, info, installed_));
        SecretFile secrets(job.context.directory.task() / control::environment);
        TRY(write_control_files(job, container, keys_.of(job.spec.id.text())));
        TRY(note_event_folders(job));
        TRY(note(job, engine, ContainerNote::Stage::given));
        if (needs_monitor(job)) {
            TRY(start_beside(job, engine, container, prepared ? &*prepared : nullptr, stop));
            secrets.keep();  // written again by the GPU monitor, for the supervisor
            return name;
        }
        TRY(create_container(engine, container.spec, after(patience), stop));
        auto started = fill_and_start(engine, job, container.spec, stop);
        // The supervisor's file, which is mounted into it, may be damaged.
        const auto repaired = started ? Result<std::vector<Path>>(std::vector<Path>())
                                      : repair_installed(options_.home / "lib");
        if (!started) static_cast<void>(remove_container(engine, name, after(patience)));
        if (repaired && !repaired->empty()) {
            TRY(create_container(engine, container.spec, after(patience), stop));
            started = fill_and_start(engine, job, container.spec, stop);
            if (!started) static_cast<void>(remove_container(engine, name, after(patience)));
        }
        if (!started) return tl::unexpected(started.error());
        secrets.keep();  // for the supervisor, which removes it
        // It runs: a disk that is full now must not make us say otherwise.
        static_cast<void>(note(job, engine, ContainerNote::Stage::started));
        return name;
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const Watcher::Subscription subscription(watcher_, directory.task());
        const ContainerRun run(directory, files_of(handle, directory), notes_, handle);
        for (;;) {
            subscription.bell().silence();
            auto status = TRY(run.look(stop));
            TRY(add_monitor_state(files_of(handle, directory), directory, status));
            TRY(events_.follow(directory, status, stop));
            // A supervisor that was killed at its first moment has not taken it.
            if (status.phase == JobPhase::ended || status.phase == JobPhase::lost)
                ::unlink((directory.task() / control::environment).c_str());
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            // Files tell all but the sudden end of the container, which frees the run's lock.
            auto again = after(subscription.works() ? 1000ms : 50ms);
            if (status.phase == JobPhase::running) again = std::min(again, events_.due(directory));
            const int bell[] = {subscription.bell().fd()};
            const auto waited = os::wait_any(bell, std::min(deadline, again), stop);
            if (!waited && waited.error().kind() != ErrorKind::timeout)
                return tl::unexpected(waited.error());
        }
    }

    Result<> cancel(const std::string& handle,
                    const RunDirectory& directory,
                    std::chrono::seconds grace) override
    {
        held_.drop(handle);
        // A record that cannot be read says nothing about the container.
        const auto ended = files_of(handle, directory).find(control::exit);
        if (!is_there(directory.task()) || (ended && *ended)) return {};
        const auto noted = request_end(directory.task(), grace);
        TRY(signal(handle));
        return noted;
    }

    Result<Collected> collect(const std::string& handle,
                              const RunDirectory& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        const auto note = TRY(notes_.find(handle));
        Notices left_out;
        if (note && note->tree == Container::Tree::copied) {
            const auto engine = TRY(Engine::connect(note->socket, after(patience), stop));
            left_out = TRY(copy_outputs_home(engine, handle, directory, stop));
            // Nobody could look at them before.
            if (!TRY(EventReaders::read_all(directory, stop)))
                left_out.emplace_back("its TensorBoard files were not read completely");
        }
        auto collected = TRY(collect_outputs(options_.trees, directory, before, stop));
        collected.notices.insert(collected.notices.begin(), left_out.begin(), left_out.end());
        remove_ended(handle, directory, note);
        return collected;
    }

    WorkingCopies* working_copies() override { return &copies_; }

    Result<Json> facts(const FactsRequest& request, std::stop_token stop) override
    {
        return machine_facts(
            options_.home, request.submitter_environment, EngineNeed::required, stop);
    }

    Result<Json> gpus(const FactsRequest& request, std::stop_token stop) override
    {
        return gpus_.look(request.submitter_environment, stop);
    }

    Result<> clean(const std::string& handle, const RunDirectory& directory) override
    {
        held_.drop(handle);
        TRY(clean_run_directory(files_of(handle, directory), directory));
        TRY(os::remove_tree(directory.task() / "home"));
        TRY(remove_unfinished_copies(directory));
        const auto engine = TRY(engine_of(handle, {}));
        if (engine) TRY(remove_container(*engine, handle, after(patience)));
        return notes_.remove(handle);
    }

private:
    // All that it made is on this machine: the container would only stay. A copied tree is in it.
    void remove_ended(const std::string& handle,
                      const RunDirectory& directory,
                      const std::optional<ContainerNote>& note) const
    {
        if (!note || note->tree != Container::Tree::mounted) return;
        const auto exit = files_of(handle, directory).find(control::exit);
        if (!exit || !*exit) return;
        // Where it cannot be removed now, 'clean' does it.
        if (const auto engine = Engine::connect(note->socket, after(patience), {}))
            static_cast<void>(remove_container(*engine, handle, after(patience)));
    }

    [[nodiscard]] SealedFiles files_of(const std::string& run, const RunDirectory& directory) const
    {
        return {directory.task(), keys_.of(run)};
    }

    // Tells the container's supervisor to look at the request to end.
    Result<> signal(const std::string& handle)
    {
        const auto note = TRY(notes_.find(handle));
        if (!note) return {};  // it was never launched
        const auto deadline = after(signal_patience);
        const auto engine =
            TRY(Engine::connect(note->socket, deadline, {}).map_error(not_asked(note->socket)));
        return signal_container(engine, handle, "TERM", deadline)
            .map_error(not_asked(note->socket));
    }

    // The engine that the run was given to; nullopt before that.
    Result<std::optional<Engine>> engine_of(const std::string& run, const std::stop_token& stop)
    {
        const auto note = TRY(notes_.find(run));
        if (!note) return std::nullopt;
        return TRY(Engine::connect(note->socket, after(patience), stop));
    }

    Result<std::int64_t>
    memory_limit(const Engine& engine, const Job& job, const std::stop_token& stop)
    {
        dockerapi::ContainerSpec container;
        TRY(apply_run_arguments(job.spec.runtime.container->arguments, container));
        if (!sets_memory(container)) limit_memory(TRY(info_.of(engine, stop)), container);
        return memory_limit_of(container);
    }

    Result<> note(const Job& job, const Engine& engine, ContainerNote::Stage stage) const
    {
        return notes_.write(job.spec.id.text(),
                            {engine.socket(), job.spec.runtime.container->tree, stage});
    }

    // All that launches or prepares something comes here first.
    Result<Engine> connect(const Job& job, const std::stop_token& stop)
    {
        if (!job.spec.runtime.container)
            return fail(ErrorKind::invalid_argument,
                        "run '{}' does not say which container it wants",
                        job.spec.id.text());
        const auto socket = TRY(dockerapi::find_socket(job.context.submitter_environment));
        return Engine::connect(socket, after(patience), stop);
    }

    Result<std::optional<environment::Request>>
    request_of(const Engine& engine, const Job& job, const std::stop_token& stop)
    {
        auto request = TRY(environment_request(job));
        if (!request) return request;
        auto login = TRY(login_for(job, stop));
        request->image = environment::ImageRequest{
            engine, wanted_image(job), std::move(login), job.spec.runtime.container->build_network};
        return request;
    }

    Result<std::optional<environment::Prepared>> environment_of(const Engine& engine,
                                                                const Job& job,
                                                                const Progress& progress,
                                                                const std::stop_token& stop)
    {
        const auto request = TRY(request_of(engine, job, stop));
        if (!request) return std::nullopt;
        return TRY(prepare_environment(options_.home, job, *request, progress, stop));
    }

    // A container with GPUs is created by the run's GPU monitor, as soon as it has them.
    Result<> start_beside(const Job& job,
                          const Engine& engine,
                          const DescribedContainer& container,
                          const environment::Prepared* prepared,
                          const std::stop_token& stop)
    {
        // It can wait for long: until the start, what may be secret is in its memory alone.
        TRY(os::remove_tree(job.context.directory.task() / control::environment));
        const MonitorJob task{.run = job.spec.id.text(),
                              .script = job.spec.program.script,
                              .request = job.spec.resources.gpu,
                              .lib = options_.home / "lib",
                              .devices_are_chosen = chooses_devices(job),
                              .is_given_devices = false,
                              .stub = {},
                              .engine = engine.socket(),
                              .container = to_json(container.spec),
                              .tree_is_copied =
                                  job.spec.runtime.container->tree == Container::Tree::copied};
        return start_monitor(
            {.job = task,
             .directory = job.context.directory,
             .environment = keys_.of(job.spec.id.text()) + '\0' + container.environment,
             .submitter_environment = job.context.submitter_environment,
             .lease = prepared && prepared->lease ? prepared->lease->fd() : -1},
            [this](os::Fd pidfd) { watcher_.reap_later(std::move(pidfd)); },
            stop);
    }

    static Result<> fill_and_start(const Engine& engine,
                                   const Job& job,
                                   const dockerapi::ContainerSpec& container,
                                   const std::stop_token& stop)
    {
        if (job.spec.runtime.container->tree == Container::Tree::copied)
            TRY(copy_tree_in(engine, container, job.context.directory, stop));
        return start_container(engine, container.name, after(patience), stop)
            .map_error(while_doing("start the container"));
    }

    Options options_;
    Installed installed_;
    RunKeys keys_;
    ContainerNotes notes_;
    ContainerCopies copies_{options_.trees, keys_, notes_};
    RecentInfo info_;
    Watcher watcher_;
    EventReaders events_;
    HeldEnvironments held_;
    GpuLook gpus_{options_.home / "lib"};
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    const auto lib = options.home / "lib";
    auto installed = TRY(install_programs(lib));
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    return std::make_unique<DockerExecutor>(
        std::move(options), std::move(installed), std::move(keys));
}

}  // namespace ponk::executor::docker
