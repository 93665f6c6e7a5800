// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "executor/environments/environment.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/supervisor/embedded.hpp"
#include "executor/supervisor/stub_start.hpp"
#include "gpu_monitor/start_run.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"

#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::gpu_monitor {

namespace {

class ProcessStarter final : public RunStarter {
public:
    explicit ProcessStarter(const StarterOptions& options) : options_(options) {}

    Result<Json> start(const std::vector<gpu::Device>& devices,
                       const std::vector<gpu::Lease>& leases) override
    {
        const auto file = options_.directory.task() / executor::control::spec;
        auto spec = TRY(executor::parse_stub_spec(TRY(os::read_file(file))));
        spec.holds.clear();
        for (const auto& lease : leases)
            spec.holds.push_back(lease.file().native());
        TRY(os::replace_file(file, to_text(spec), 0600, os::Durable::content));
        executor::Environment environment(options_.environment);
        if (!options_.job.devices_are_chosen && !options_.job.is_given_devices) {
            for (const auto& [name, value] : device_variables(devices))
                environment.set(name, value);
        }
        const auto bytes = options_.key + '\0' + environment.bytes();
        const auto start_stub = [&] {
            return executor::start_stub({.program = options_.job.stub,
                                         .directory = options_.directory.task(),
                                         .environment = bytes,
                                         .lease = options_.lease},
                                        [this](os::Fd pidfd) { stub_ = std::move(pidfd); },
                                        {});
        };
        auto said = start_stub();
        if (!said) {
            // Its file may be damaged.
            const auto repaired = executor::repair_installed(options_.job.lib);
            if (repaired && !repaired->empty()) said = start_stub();
        }
        if (!said) {
            // Its silence is the end of the run: it must not begin after that. One that has begun
            // is followed as if it had said so.
            auto claimed = executor::claim_start(options_.directory.task());
            if (claimed && !*claimed) return Json();
            if (claimed) claim_ = std::move(**claimed);
            return tl::unexpected(said.error().within("start the supervisor"));
        }
        if (*said == "started" || *said == "claimed") return Json();
        return fail(ErrorKind::unavailable,
                    "supervisor: {}",
                    said->starts_with("error ") ? printable(said->substr(6))
                                                : "it ended without a message");
    }

    void ask_to_end() override
    {
        const auto processes = executor::read_processes(options_.files, options_.directory);
        if (!processes || !*processes) return;
        for (const auto& process : {(*processes)->stub, (*processes)->guard}) {
            if (const auto pidfd = os::open_process(process))
                ::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGTERM, nullptr, 0);
        }
    }

private:
    StarterOptions options_;
    os::Fd stub_;
    os::Fd claim_;  // held until how it ended is written down
};

}  // namespace

std::unique_ptr<RunStarter> start_as_process(const StarterOptions& options)
{
    return std::make_unique<ProcessStarter>(options);
}

std::vector<std::pair<std::string, std::string>>
device_variables(const std::vector<gpu::Device>& devices)
{
    if (devices.empty()) return {};
    std::string uuids;
    for (const auto& device : devices)
        uuids += (uuids.empty() ? "" : ",") + device.uuid;
    // By name: a container counts the devices that it has from 0.
    if (devices.front().vendor == "amd") return {{"ROCR_VISIBLE_DEVICES", uuids}};
    return {{"CUDA_VISIBLE_DEVICES", uuids}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
}

}  // namespace ponk::gpu_monitor
