// SPDX-License-Identifier: Apache-2.0
#include "gpu_monitor/keeper.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/environments/environment.hpp"
#include "executor/job/device_variables.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/identity.hpp"
#include "os/late_notice.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>

#include <csignal>
#include <sys/inotify.h>
#include <unistd.h>

namespace ponk::gpu_monitor {

using namespace std::chrono_literals;

namespace {

constexpr auto probe_patience = 20s;
constexpr auto longest_silence = 30s;
// A driver that is being loaded, or a process of it that was killed, is there a moment later.
constexpr int most_probe_tries = 3;
constexpr const char* nothing_here = "no driver on this machine reports one";

std::vector<std::string> without_devices(std::vector<std::string> words)
{
    executor::Environment environment(words);
    for (const auto& [name, value] : executor::hiding_variables())
        environment.set(name, value);
    return environment.words();
}

}  // namespace

bool Report::say(const std::string& word)
{
    auto fd = fd_.lock();
    if (!*fd) return false;
    static_cast<void>(os::write_all(fd->get(), word + "\n"));
    fd->reset();
    return true;
}

bool Report::refuse(const Error& error)
{
    return say("error " + to_json(JsonObject{{"kind", to_string(error.kind())},
                                             {"message", error.message()},
                                             {"hint", error.hint()}}));
}

Keeper::Keeper(KeeperOptions options, Report& report)
    : options_(std::move(options)), parent_(os::variable(options_.own_environment, "PONK_RUN_ID")),
      report_(report), changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK))
{
    ::inotify_add_watch(changes_.get(),
                        options_.directory.task().c_str(),
                        IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF);
    if (options_.job.is_given_devices) signals_ = catch_end_signal();
    const auto& request = options_.job.request;
    state_ = {{"phase", "queued"},
              {"requested", request.selection},
              {"required", request.need == executor::GpuRequest::Need::required}};
}

Result<> Keeper::run()
{
    // A busy engine or a large tree can take minutes; whoever started us waits for one.
    const os::LateNotice late(longest_silence, [this] { report_.say("queued"); });
    const auto kept = keep();
    // A scheduler does not listen.
    if (kept || (report_.refuse(kept.error()) && !options_.job.is_given_devices)) return kept;
    publish_end({.code = 126, .cause = "start-failure", .message = kept.error().message()},
                "the run could not be started");
    return {};
}

Result<> Keeper::keep()
{
    TRY(look_for_gpus());
    if (options_.job.is_given_devices) return keep_given();
    const bool without = inventory_.devices.empty();
    // What the driver does not show now may be there in a minute, and be somebody's.
    if (without && inventory_.problem)
        return go_without(Others::hidden,
                          gpu::Verdict::unknown,
                          "the run uses no GPUs: " + inventory_.problem->message());
    if (without)
        return go_without(Others::seen,
                          gpu::Verdict::not_requested,
                          fmt::format("no GPU was requested, and {}", nothing_here));
    const auto turn = TRY(take_gpus());
    if (turn == Turn::cancelled) {
        publish_end({.signal = SIGTERM, .cause = "cancel"},
                    "the run was canceled while it waited for GPUs");
        report_.say("started");
        return {};
    }
    if (turn == Turn::without)
        return go_without(Others::hidden,
                          gpu::Verdict::not_requested,
                          "no GPU was requested, and none could be leased: " + parent_has_them());
    return run_to_its_end();
}

// With the devices that it has.
Result<> Keeper::run_to_its_end()
{
    make_starter(Others::seen);
    TRY(start());
    report_.say("started");
    watch();
    judge();
    return {};
}

// What it cannot say is a problem of the inventory, which then has no devices.
void Keeper::ask_driver(Deadline deadline)
{
    const gpu::ProbeOptions options{options_.job.lib, options_.own_environment};
    auto answer = gpu::open_probe(options, deadline, {})
                      .and_then([this, deadline](std::unique_ptr<gpu::Probe> probe) {
                          probe_ = std::move(probe);
                          return probe_->inventory(deadline, {});
                      });
    inventory_ = answer ? std::move(*answer) : gpu::Inventory{.problem = answer.error()};
}

Result<> Keeper::look_for_gpus()
{
    const auto deadline = after(probe_patience);
    ask_driver(deadline);
    for (int tries = 1; inventory_.devices.empty() && inventory_.problem && !is_cancelled() &&
                        tries < most_probe_tries && Deadline::clock::now() < deadline;
         ++tries) {
        wait_in_queue(1s);
        ask_driver(deadline);
    }
    state_.set("way", inventory_.way);
    state_.set("driver_version", inventory_.driver_version);
    state_.set("cuda_version", inventory_.cuda_version);
    if (!inventory_.devices.empty() || may_go_without()) return {};
    if (inventory_.problem) return tl::unexpected(*inventory_.problem);
    return tl::unexpected(Error(
        ErrorKind::not_found,
        fmt::format(
            "GPUs were requested ('{}'), but {}", options_.job.request.selection, nothing_here),
        "'ponk gpu list' lists the GPUs of each target; use '--gpus none' to run without."));
}

// Nobody asked for them, or a scheduler has given what the driver does not report: the run is what
// counts.
bool Keeper::may_go_without() const
{
    const auto& request = options_.job.request;
    const bool insists =
        request.origin == executor::GpuRequest::Origin::asked && !options_.job.is_given_devices;
    return !insists && request.need == executor::GpuRequest::Need::wanted;
}

void Keeper::make_starter(Others others)
{
    auto environment = options_.run_environment;
    if (others == Others::hidden && !options_.job.devices_are_chosen)
        environment = without_devices(std::move(environment));
    const StarterOptions start_options{.job = options_.job,
                                       .directory = options_.directory,
                                       .files = options_.files,
                                       .environment = std::move(environment),
                                       .key = options_.key,
                                       .own_environment = options_.own_environment,
                                       .driver_version = inventory_.driver_version,
                                       .lease = options_.lease.get()};
    starter_ = options_.job.container.is_null() ? start_as_process(start_options)
                                                : start_as_container(start_options);
}

// A run that gets what every run gets, where there is nothing to get.
Result<> Keeper::go_without(Others others, gpu::Verdict verdict, const std::string& reason)
{
    make_starter(others);
    state_.set("phase", "ended");
    state_.set("verdict", gpu::to_string(verdict));
    state_.set("reason", reason);
    state_.set("devices", JsonArray());
    write_state();
    TRY(starter_->start({}, {}));
    report_.say("started");
    return {};
}

gpu::Owner Keeper::owner() const
{
    return {os::user_name(::getuid()), options_.job.run, ::getpid(), wall_milliseconds()};
}

// The one who made a lock file can remove it, and the next one would not see ours.
void Keeper::renew_leases()
{
    for (auto& lease : leases_) {
        const auto renewed = folder_->renew(lease, owner());
        if (renewed && *renewed) continue;
        state_.set(
            "lease_problem",
            renewed ? fmt::format(
                          "the lock file of '{}' was removed, so another run may use the GPU too",
                          lease.uuid())
                    : fmt::format("the lock file of '{}' cannot be checked: {}",
                                  lease.uuid(),
                                  renewed.error().message()));
        write_state();
    }
}

Result<> Keeper::start()
{
    write_state();
    collector_.emplace(devices_);
    // Taken while it waited: whoever had the devices before may have worked since.
    if (last_sample_) collector_->begin(*last_sample_);
    auto way = TRY(starter_->start(devices_, leases_));
    if (!way.is_null()) state_.set("container", std::move(way));
    options_.lease.reset();
    started_ = boot_milliseconds();
    journal_ = std::make_unique<GpuJournal>(
        options_.directory, options_.job.run, devices_, wall_milliseconds());
    write_state();
    return {};
}

// A run whose folder was removed wants nothing any more.
bool Keeper::is_cancelled() const
{
    return executor::is_there(options_.directory.task() / executor::control::cancel) ||
           !executor::is_there(options_.directory.task());
}

// Shorter when something happens in the run directory.
void Keeper::pause(std::chrono::milliseconds span)
{
    std::vector<int> sources{changes_.get()};
    if (signals_) sources.push_back(signals_.get());
    if (!os::wait_any(sources, after(span), {})) return;
    char events[4096];
    while (::read(changes_.get(), events, sizeof events) > 0) {
    }
    pass_on_signals();
}

void Keeper::write_state()
{
    auto text = executor::gpu_state_text(state_);
    if (text == written_) return;
    const auto done = os::replace_file(options_.directory.task() / executor::control::gpu,
                                       options_.files.sealed(executor::control::gpu, text),
                                       0600,
                                       os::Durable::no);
    if (done) written_ = std::move(text);
}

void Keeper::publish_end(model::ExitRecord record, std::string_view why)
{
    record.by = "monitor";
    record.started = record.ended = wall_milliseconds();
    state_.set("phase", "ended");
    state_.set("verdict", gpu::to_string(gpu::Verdict::unknown));
    state_.set("reason", std::string(why));
    write_state();
    static_cast<void>(options_.files.publish(executor::control::exit, to_text(record)));
}

}  // namespace ponk::gpu_monitor
