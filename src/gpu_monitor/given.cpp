// SPDX-License-Identifier: Apache-2.0
// A keeper whose run got its devices from a scheduler: it is the first process of a job, and the
// job ends with it.
#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/job/device_variables.hpp"
#include "gpu_monitor/keeper.hpp"
#include "os/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace ponk::gpu_monitor {

using namespace std::chrono_literals;

namespace {

std::string number_of(const std::vector<gpu::Device>& devices)
{
    return devices.size() == 1 ? "1 GPU" : fmt::format("{} GPUs", devices.size());
}

}  // namespace

Result<std::vector<gpu::Device>> find_given(const std::vector<gpu::Device>& devices,
                                            const std::vector<std::string>& environment)
{
    std::string value;
    for (const auto& [name, hiding] : executor::hiding_variables()) {
        if (value.empty()) value = os::variable(environment, name);
    }
    if (value.empty()) return devices;
    std::vector<gpu::Device> given;
    for (const auto& part : split(value, ',')) {
        const std::string word(trim(part));
        const auto place = parse_integer(word);
        const auto found = std::ranges::find_if(devices, [&](const gpu::Device& device) {
            // A name may be cut short, as the driver allows.
            return place ? *place == static_cast<long long>(device.index)
                         : !word.empty() && device.uuid.starts_with(word);
        });
        if (found == devices.end())
            return fail(ErrorKind::not_found,
                        "the run was given GPU '{}', but the driver of its node reports {} and not "
                        "this one",
                        printable(word),
                        number_of(devices));
        given.push_back(*found);
    }
    return given;
}

// Blocked, for this thread and those that it starts.
os::Fd catch_end_signal()
{
    sigset_t ours;
    ::sigemptyset(&ours);
    ::sigaddset(&ours, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
    return os::Fd(::signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
}

// To the supervisor, which knows what to do.
void Keeper::pass_on_signals()
{
    signalfd_siginfo info{};
    bool is_told = false;
    while (signals_ && ::read(signals_.get(), &info, sizeof info) == sizeof info)
        is_told = true;
    if (is_told && starter_) starter_->ask_to_end();
}

Result<> Keeper::keep_given()
{
    if (is_cancelled()) {
        publish_end({.signal = SIGTERM, .cause = "cancel"}, "the run was canceled before it began");
        return {};
    }
    auto given = find_given(inventory_.devices, options_.run_environment);
    if (inventory_.devices.empty())
        given = tl::unexpected(inventory_.problem.value_or(
            Error(ErrorKind::not_found, "no driver on the run's node reports a GPU")));
    if (!given) {
        if (!may_go_without()) return tl::unexpected(given.error());
        TRY(go_without(Others::seen,
                       gpu::Verdict::unknown,
                       "the use of the GPUs could not be measured: " + given.error().message()));
        while (!has_ended())
            pause(1s);
        return {};
    }
    have(std::move(*given));
    return run_to_its_end();
}

}  // namespace ponk::gpu_monitor
