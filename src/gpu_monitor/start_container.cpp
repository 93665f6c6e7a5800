// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "executor/docker/container_file.hpp"
#include "executor/docker/container_note.hpp"
#include "executor/docker/copied_tree.hpp"
#include "executor/environments/environment.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "gpu/container/container_way.hpp"
#include "gpu_monitor/start_run.hpp"
#include "os/file.hpp"

#include <fmt/format.h>

namespace ponk::gpu_monitor {

using namespace std::chrono_literals;

namespace {

using dockerapi::ContainerSpec;
using dockerapi::Engine;
using dockerapi::Mount;

constexpr auto patience = 120s;
// Where the supervisor in the container finds the locks of its GPUs.
constexpr const char* locks = "/.ponk/gpu-lock-";

class ContainerStarter final : public RunStarter {
public:
    explicit ContainerStarter(const StarterOptions& options)
        : options_(options), environment_(options.environment)
    {
    }

    Result<Json> start(const std::vector<gpu::Device>& devices,
                       const std::vector<gpu::Lease>& leases) override
    {
        auto spec = TRY(executor::docker::container_from(options_.job.container));
        name_ = spec.name;
        engine_.emplace(TRY(Engine::connect(options_.job.engine, after(patience))));
        Json way;
        if (!devices.empty()) way = TRY(add_gpus(devices, spec));
        TRY(hold(leases, spec));
        TRY(remove_container(*engine_, name_, after(patience)));  // half made by who died before us
        id_ = TRY(create_container(*engine_, spec, after(patience), {}));
        const auto started = fill_and_start(spec);
        if (!started) {
            static_cast<void>(
                os::remove_tree(options_.directory.task() / executor::control::environment));
            static_cast<void>(remove_container(*engine_, name_, after(patience)));
            return tl::unexpected(started.error());
        }
        return way;
    }

    void ask_to_end() override
    {
        if (engine_) static_cast<void>(signal_container(*engine_, name_, "TERM", after(patience)));
    }

    [[nodiscard]] std::string container() const override { return id_; }

private:
    // The engine's runtimes read the container's variables, the script gets those of the file that
    // its supervisor reads.
    Result<Json> add_gpus(const std::vector<gpu::Device>& devices, ContainerSpec& spec)
    {
        const auto info = TRY(engine_->info(after(patience)));
        const auto gpus = TRY(gpu::choose_container_way(
            {.devices = devices,
             .engine = engine_->version(),
             .info = info,
             .search = {.driver_version = options_.driver_version,
                        .ask = gpu::ask_programs_of(options_.own_environment)}}));
        gpu::add_gpus(gpus, {}, spec);
        for (const auto& word : gpus.environment) {
            const auto equals = word.find('=');
            const auto name = word.substr(0, equals);
            const bool chosen = options_.job.devices_are_chosen && name == "CUDA_VISIBLE_DEVICES";
            if (!chosen) environment_.set(name, word.substr(equals + 1));
        }
        if (!options_.job.devices_are_chosen) {
            for (const auto& [name, value] : device_variables(devices))
                environment_.set(name, value);
        }
        for (const auto& [name, front] : gpus.front) {
            const auto rest = environment_.get(name);
            environment_.set(name, rest.empty() ? front : front + ":" + rest);
        }
        return gpu::to_json(gpus);
    }

    Result<> hold(const std::vector<gpu::Lease>& leases, ContainerSpec& spec)
    {
        const auto file = options_.directory.task() / executor::control::spec;
        auto stub = TRY(executor::parse_stub_spec(TRY(os::read_file(file))));
        stub.holds.clear();
        for (const auto& lease : leases) {
            const auto inside = fmt::format("{}{}", locks, stub.holds.size());
            spec.mounts.push_back({lease.file().native(), inside, Mount::Access::read_only});
            stub.holds.push_back(inside);
        }
        return os::replace_file(file, to_text(stub), 0600, os::Durable::content);
    }

    Result<> fill_and_start(const ContainerSpec& spec)
    {
        if (options_.job.tree_is_copied)
            TRY(executor::docker::copy_tree_in(*engine_, spec, options_.directory, {}));
        // Read and removed by the supervisor before anything else.
        TRY(os::replace_file(options_.directory.task() / executor::control::environment,
                             options_.key + '\0' + environment_.bytes(),
                             0600,
                             os::Durable::no));
        TRY(start_container(*engine_, name_, after(patience), {})
                .map_error(while_doing("start the container")));
        using executor::docker::ContainerNote;
        const auto tree = options_.job.tree_is_copied ? model::Container::Tree::copied
                                                      : model::Container::Tree::mounted;
        static_cast<void>(executor::docker::ContainerNotes(options_.job.lib.parent_path())
                              .write(options_.job.run,
                                     {options_.job.engine, tree, ContainerNote::Stage::started}));
        return {};
    }

    StarterOptions options_;
    executor::Environment environment_;
    std::string name_;
    std::string id_;
    std::optional<Engine> engine_;
};

}  // namespace

std::unique_ptr<RunStarter> start_as_container(const StarterOptions& options)
{
    return std::make_unique<ContainerStarter>(options);
}

}  // namespace ponk::gpu_monitor
