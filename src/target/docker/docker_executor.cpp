// SPDX-License-Identifier: Apache-2.0
#include "target/docker/docker_executor.hpp"

#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "dockerapi/endpoint.hpp"
#include "dockerapi/image.hpp"
#include "environment/remove_image.hpp"
#include "os/identity.hpp"
#include "target/command_line.hpp"
#include "target/control_directory.hpp"
#include "target/docker/container_layout.hpp"
#include "target/docker/container_run.hpp"
#include "target/docker/copied_tree.hpp"
#include "target/docker/describe_container.hpp"
#include "target/embedded.hpp"
#include "target/facts.hpp"
#include "target/managed_environment.hpp"
#include "target/run_files.hpp"
#include "target/watcher.hpp"

#include <sys/stat.h>

namespace ponk::target::docker {

using namespace std::chrono_literals;

namespace {

using dockerapi::Engine;

// An answer of the engine that moves no data.
constexpr auto patience = 60s;

// Which engine has the run's container; in the run directory, so that it is known after any crash.
constexpr const char* engine_file = "engine";

class DockerExecutor final : public Executor {
public:
    DockerExecutor(Options options, Installed installed, RunKeys keys)
        : options_(std::move(options)), installed_(std::move(installed)), keys_(std::move(keys)),
          shelf_(options_.home,
                 environment::Form::image,
                 environment::image_remover(),
                 environment::is_image_in_use)
    {
    }

    Result<Placed>
    place(const JobSpec& spec, const Progress& progress, std::stop_token stop) override
    {
        const auto engine = TRY(connect(spec, stop));
        TRY(provide_image(engine, spec, progress, stop));
        Placed placed;
        placed.notices = TRY(place_working_copy(options_.trees, spec, stop));
        placed.environment = EnvironmentUsed();
        if (auto prepared = TRY(environment_of(engine, spec, progress, stop))) {
            if (prepared->built) progress(prepared->reason);
            placed.environment = describe_use(*prepared);
            held_.hold(spec.id, std::move(*prepared));
        }
        TRY(describe_base(engine, spec, *placed.environment, stop));
        return placed;
    }

    Result<Examination> examine(const JobSpec& spec, std::stop_token stop) override
    {
        const auto engine = TRY(connect(spec, stop));
        TRY(place_working_copy(options_.trees, spec, stop));
        const auto& name = wanted_image(spec);
        Examination out;
        const auto there = TRY(find_image(engine, name, after(patience), stop));
        const auto request = TRY(request_of(engine, spec, stop));
        if (request) {
            out = TRY(examine_environment(options_.home, spec, *request, stop));
        } else if (there) {
            out.ready = true;
            out.reason = "the image is there and nothing else is asked for";
        } else {
            out.reason = fmt::format("the image '{}' is not there yet", printable(name));
        }
        out.image = name;
        if (there && !request) {
            if (const auto image = the_image(engine, name, stop); !image) {
                out.ready = false;
                out.reason = image.error().message();
                out.remarks.push_back({"error", image.error().message(), image.error().hint()});
            }
        }
        return out;
    }

    Result<std::string> launch(const JobSpec& spec, std::stop_token stop) override
    {
        const auto engine = TRY(connect(spec, stop));
        const auto name = spec.id.text();
        // The lease is ours until the container is there, which holds the image from then on.
        auto prepared = held_.take(spec.id);
        if (const auto there = TRY(find_container(engine, name, after(patience), stop))) {
            if (there->label(layout::run_label) != name)
                return fail(
                    ErrorKind::conflict, "a container '{}' of somebody else is there", name);
            // One that was started, or ended, is the run: starting it again would be a second one.
            if (there->status != "created") return name;
            TRY(remove_container(engine, name, after(patience)));
        }
        if (spec.command.empty()) TRY(check_script(spec, spec.directory / control::work));
        if (!prepared)
            prepared = TRY(environment_of(
                engine, spec, [](const std::string&) {}, stop));
        const auto image =
            TRY(the_image(engine, prepared ? prepared->record.image : wanted_image(spec), stop));
        const auto info = TRY(engine.info(after(patience), stop));
        const auto container =
            TRY(describe_container(spec, image, prepared ? &*prepared : nullptr, info, installed_));
        TRY(write_control_files(spec, container, keys_.of(spec.id.text())));
        TRY(os::replace_file(spec.directory / engine_file, engine.socket().native()));
        TRY(create_container(engine, container.spec, after(patience), stop));
        auto started = fill_and_start(engine, spec, stop);
        if (!started) {
            static_cast<void>(remove_container(engine, name, after(patience)));
            return tl::unexpected(started.error());
        }
        return name;
    }

    Result<JobStatus> sync(const std::string& job,
                           const Path& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const Watcher::Subscription subscription(watcher_, directory);
        const auto socket = TRY(os::read_file_if_any(directory / engine_file, 4096));
        const ContainerRun run(directory, files_of(job, directory), socket.value_or(""), job);
        for (;;) {
            subscription.bell().silence();
            auto status = TRY(run.look(stop));
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            // Files tell all but the sudden end of the container, which frees the run's lock.
            const auto again = after(subscription.works() ? 1000ms : 50ms);
            const int bell[] = {subscription.bell().fd()};
            const auto waited = os::wait_any(bell, std::min(deadline, again), stop);
            if (!waited && waited.error().kind() != ErrorKind::timeout)
                return tl::unexpected(waited.error());
        }
    }

    Result<>
    cancel(const std::string& job, const Path& directory, std::chrono::seconds grace) override
    {
        held_.drop(job);
        if (!is_there(directory) || TRY(files_of(job, directory).find(control::exit))) return {};
        const auto noted = request_end(directory, grace);
        const auto engine = TRY(engine_of(directory, {}));
        if (!engine) return noted;  // it was never launched
        TRY(signal_container(*engine, job, "TERM", after(patience)));
        return noted;
    }

    Result<Collected> collect(const std::string& job,
                              const Path& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        if (is_there(directory / copied_mark)) {
            const auto engine = TRY(engine_of(directory, stop));
            if (engine) TRY(copy_outputs_home(*engine, job, directory, stop));
        }
        return collect_outputs(options_.trees, directory, before, stop);
    }

    [[nodiscard]] bool may_have_outputs(const Path& directory) const override
    {
        return is_there(directory / copied_mark) || is_there(directory / control::work / "outputs");
    }

    Result<Json> facts(const FactsWish& wish, std::stop_token stop) override
    {
        return machine_facts(options_.home, wish.ambient, EngineWish::required, stop);
    }

    Result<> clean(const std::string& job, const Path& directory) override
    {
        held_.drop(job);
        TRY(clean_run_directory(files_of(job, directory), directory));
        TRY(os::remove_tree(directory / "home"));
        const auto engine = TRY(engine_of(directory, {}));
        return engine ? remove_container(*engine, job, after(patience)) : Result<>();
    }

    Result<EnvironmentList> environments(std::stop_token stop) override
    {
        return shelf_.list(stop);
    }

    Result<std::string> environment_lock(const std::string& /*machine*/,
                                         const std::string& id,
                                         std::stop_token /*stop*/) override
    {
        return shelf_.lock_text(id);
    }

    Result<> remove_environment(const std::string& /*machine*/,
                                const std::string& id,
                                std::stop_token /*stop*/) override
    {
        return shelf_.remove(id);
    }

    Result<EnvironmentGarbage> collect_environment_garbage(const EnvironmentRules& rules,
                                                           std::stop_token stop) override
    {
        return shelf_.collect(rules, stop);
    }

private:
    // An earlier run's exactly, or what the configuration names.
    [[nodiscard]] static const std::string& wanted_image(const JobSpec& spec)
    {
        return spec.container.pinned.empty() ? spec.container.image : spec.container.pinned;
    }

    [[nodiscard]] SealedFiles files_of(const std::string& run, const Path& directory) const
    {
        return {directory, keys_.of(run)};
    }

    // The engine that the run was given to; nullopt before that.
    Result<std::optional<Engine>> engine_of(const Path& directory, const std::stop_token& stop)
    {
        const auto socket = TRY(os::read_file_if_any(directory / engine_file, 4096));
        if (!socket) return std::nullopt;
        return TRY(Engine::connect(*socket, after(patience), stop));
    }

    Result<Engine> connect(const JobSpec& spec, const std::stop_token& stop)
    {
        const auto socket = TRY(dockerapi::find_socket(spec.ambient));
        return Engine::connect(socket, after(patience), stop);
    }

    Result<> provide_image(const Engine& engine,
                           const JobSpec& spec,
                           const Progress& progress,
                           const std::stop_token& stop)
    {
        const auto& name = wanted_image(spec);
        if (TRY(find_image(engine, name, after(patience), stop))) return {};
        const bool pullable = spec.container.pinned.find('@') != std::string::npos;
        if (spec.container.pinned.empty() || pullable) {
            progress(fmt::format("pulling the image '{}'", printable(name)));
            auto pulled = pull_image(engine, name, TRY(login_for(spec, stop)), progress, stop);
            if (pulled || spec.container.pinned.empty()) return pulled;
            return pulled.map_error(while_doing("the image of the earlier run"));
        }
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("the image '{}' that '{}' was in the earlier run is not on this "
                              "engine any more, and no registry knows it",
                              printable(name),
                              printable(spec.container.image)),
                  "Submit the script anew to run it with the image of that name as it is now."));
    }

    // Which image the run stands on, so that another can stand on the same.
    Result<> describe_base(const Engine& engine,
                           const JobSpec& spec,
                           EnvironmentUsed& used,
                           const std::stop_token& stop)
    {
        const auto image = TRY(find_image(engine, wanted_image(spec), after(patience), stop));
        used.base_image = spec.container.image;
        if (!image) return {};  // the launch says so
        used.base_digest = image->digests.empty() ? image->id : image->digests.front();
        if (used.image.empty()) used.image = image->id;
        return {};
    }

    Result<std::optional<dockerapi::Login>> login_for(const JobSpec& spec,
                                                      const std::stop_token& stop)
    {
        const auto registry = dockerapi::registry_of(spec.container.image);
        if (!spec.container.registry_username.empty() || !spec.container.registry_token.empty())
            return dockerapi::Login{.username = spec.container.registry_username,
                                    .password = spec.container.registry_password,
                                    .identity_token = spec.container.registry_token,
                                    .server = registry};
        return dockerapi::find_login(registry, spec.ambient, stop);
    }

    Result<std::optional<environment::Request>>
    request_of(const Engine& engine, const JobSpec& spec, const std::stop_token& stop)
    {
        auto request = TRY(environment_request(spec));
        if (request)
            request->image = environment::ImageWish{
                engine, wanted_image(spec), TRY(login_for(spec, stop)), spec.environment.network};
        return request;
    }

    Result<std::optional<environment::Prepared>> environment_of(const Engine& engine,
                                                                const JobSpec& spec,
                                                                const Progress& progress,
                                                                const std::stop_token& stop)
    {
        const auto request = TRY(request_of(engine, spec, stop));
        if (!request) return std::nullopt;
        return TRY(prepare_environment(options_.home, spec, *request, progress, stop));
    }

    Result<dockerapi::Image>
    the_image(const Engine& engine, const std::string& name, const std::stop_token& stop)
    {
        auto image = TRY(find_image(engine, name, after(patience), stop));
        if (!image) {
            return tl::unexpected(Error(ErrorKind::not_found,
                                        fmt::format("image '{}' is gone", printable(name)),
                                        "Submit again: it is then pulled anew."));
        }
        if (!image->architecture.empty() && image->architecture != engine.version().architecture) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("image '{}' is for {}, the engine's machine is {}",
                                  printable(name),
                                  printable(image->architecture),
                                  printable(engine.version().architecture)),
                      "Name an image for this processor in 'baseDockerImage'."));
        }
        return std::move(*image);
    }

    Result<> fill_and_start(const Engine& engine, const JobSpec& spec, const std::stop_token& stop)
    {
        const auto name = spec.id.text();
        if (spec.container.tree == ContainerWish::Tree::copied)
            TRY(copy_tree_in(engine, name, spec.directory, stop));
        return start_container(engine, name, after(patience), stop)
            .map_error(while_doing("start the container"));
    }

    Options options_;
    Installed installed_;
    RunKeys keys_;
    Watcher watcher_;
    HeldEnvironments held_;
    EnvironmentShelf shelf_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    const auto lib = options.home / "lib";
    Installed installed{
        .stub = TRY(install_stub(lib).map_error(while_doing("install the supervisor"))),
        .python_modules =
            TRY(install_python_modules(lib).map_error(while_doing("install Python modules")))};
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    return std::make_unique<DockerExecutor>(
        std::move(options), std::move(installed), std::move(keys));
}

}  // namespace ponk::target::docker
