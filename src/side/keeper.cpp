// SPDX-License-Identifier: Apache-2.0
#include "side/keeper.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/identity.hpp"
#include "os/wait.hpp"
#include "side/strangers.hpp"
#include "target/control_directory.hpp"

#include <fmt/format.h>

#include <csignal>
#include <sys/inotify.h>
#include <unistd.h>

namespace ponk::side {

using namespace std::chrono_literals;

namespace {

constexpr auto probe_patience = 20s;

Json sentences(const std::vector<std::string>& list)
{
    return JsonArray(list.begin(), list.end());
}

}  // namespace

void Report::say(const std::string& word)
{
    if (!fd_) return;
    static_cast<void>(os::write_all(fd_.get(), word + "\n"));
    fd_.reset();
}

void Report::refuse(const Error& error)
{
    say("error " + to_json(JsonObject{{"kind", to_string(error.kind())},
                                      {"message", error.message()},
                                      {"hint", error.hint()}}));
}

Keeper::Keeper(KeeperOptions options, Report& report)
    : options_(std::move(options)), report_(report),
      changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK))
{
    ::inotify_add_watch(
        changes_.get(), options_.directory.c_str(), IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF);
    const auto& request = options_.job.request;
    state_ = {{"phase", "queued"},
              {"requested", request.wish},
              {"required", request.need == target::GpuRequest::Need::required}};
}

Result<> Keeper::run()
{
    const auto found = look_for_gpus();
    const StarterOptions start_options{.job = options_.job,
                                       .directory = options_.directory,
                                       .files = options_.files,
                                       .environment = options_.run_environment,
                                       .key = options_.key,
                                       .own_environment = options_.own_environment,
                                       .driver_version = inventory_.driver_version,
                                       .lease = options_.lease.get()};
    starter_ = options_.job.container.is_null() ? start_as_process(start_options)
                                                : start_as_container(start_options);
    if (!found) {
        // Nobody asked for them: the run is what counts.
        if (options_.job.request.origin == target::GpuRequest::Origin::asked ||
            options_.job.request.need == target::GpuRequest::Need::required)
            return found;
        return go_without(found.error().message());
    }
    const auto turn = TRY(take_gpus());
    if (turn == Turn::cancelled) {
        publish_end({.signal = SIGTERM, .cause = "cancel"},
                    "the run was cancelled while it waited for GPUs");
        report_.say("started");
        return {};
    }
    if (auto started = start(); !started) {
        leases_.clear();
        if (!report_.was_heard()) return started;
        publish_end({.code = 126, .cause = "start-failure", .message = started.error().message()},
                    "the run could not be started");
        return {};
    }
    report_.say("started");
    watch();
    judge();
    return {};
}

Result<> Keeper::look_for_gpus()
{
    const gpu::ProbeOptions options{options_.job.lib, options_.own_environment};
    probe_ = TRY(gpu::open_probe(options, after(probe_patience), {}));
    inventory_ = TRY(probe_->inventory(after(probe_patience), {}));
    state_.set("way", inventory_.way);
    state_.set("driver_version", inventory_.driver_version);
    state_.set("cuda_version", inventory_.cuda_version);
    if (!inventory_.devices.empty()) return {};
    if (inventory_.problem) return tl::unexpected(*inventory_.problem);
    return tl::unexpected(Error(
        ErrorKind::not_found,
        fmt::format("GPUs were asked for ('{}'), but this machine has none that a driver knows",
                    options_.job.request.wish),
        "'ponk gpu list' shows what each target has; '--gpus none' runs without."));
}

// A run that gets what every run gets, where there is nothing to get.
Result<> Keeper::go_without(const std::string& why)
{
    state_.set("phase", "ended");
    state_.set("verdict", gpu::to_string(gpu::Verdict::not_requested));
    state_.set("reason", "no GPU could be had, and none was asked for: " + why);
    state_.set("devices", JsonArray());
    write_state();
    TRY(starter_->start({}, {}));
    report_.say("started");
    return {};
}

std::vector<std::string> Keeper::strangers_on(const gpu::Device& device) const
{
    return last_sample_ ? describe_strangers(device, *last_sample_) : std::vector<std::string>();
}

Result<gpu::LeaseFolder::Outcome> Keeper::try_take(const gpu::LeaseFolder& folder,
                                                   const gpu::Ticket& ticket)
{
    if (auto sample = probe_->sample(after(probe_patience), {})) last_sample_ = std::move(*sample);
    const gpu::Owner owner{os::user_name(), options_.job.run, ::getpid(), wall_milliseconds()};
    return folder.try_take(ticket, owner, inventory_.devices, [this](const gpu::Device& device) {
        return strangers_on(device);
    });
}

Result<Keeper::Turn> Keeper::take_gpus()
{
    const auto& request = options_.job.request;
    const auto wish = TRY(gpu::parse_wish(request.wish));
    TRY(gpu::LeaseFolder::candidates(wish, inventory_.devices));
    const auto since = boot_milliseconds();
    const auto folder = TRY(gpu::LeaseFolder::open(options_.own_environment));
    const auto ticket = TRY(
        folder.queue(wish, {os::user_name(), options_.job.run, ::getpid(), wall_milliseconds()}));
    for (;;) {
        if (is_cancelled()) return Turn::cancelled;
        auto outcome = TRY(try_take(folder, ticket));
        if (!outcome.waiting) {
            leases_ = std::move(outcome.leases);
            devices_ = std::move(outcome.devices);
            JsonArray devices;
            for (const auto& device : devices_)
                devices.push_back(gpu::to_json(device));
            state_.set("devices", std::move(devices));
            state_.set("phase", "leased");
            state_.set("queue_ms", boot_milliseconds() - since);
            state_.erase("position");
            state_.erase("waiting");
            return Turn::taken;
        }
        if (request.busy == target::GpuRequest::Busy::refuse) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      "the GPUs are busy: " + join(waiting_sentences(*outcome.waiting), "; "),
                      "Without '--no-wait' the run waits for its turn."));
        }
        tell_waiting(*outcome.waiting);
        report_.say("queued");
        pause(pause_of(*outcome.waiting));
    }
}

void Keeper::tell_waiting(const gpu::Waiting& waiting)
{
    state_.set("position", waiting.position);
    state_.set("waiting", sentences(waiting_sentences(waiting)));
    write_state();
}

Result<> Keeper::start()
{
    write_state();
    collector_.emplace(devices_);
    if (last_sample_) collector_->add(*last_sample_, [](pid_t) { return false; });
    auto way = TRY(starter_->start(devices_, leases_));
    if (!way.is_null()) state_.set("container", std::move(way));
    leases_.clear();  // the run has shares of its own now
    options_.lease.reset();
    started_ = boot_milliseconds();
    journal_ = std::make_unique<GpuJournal>(
        options_.directory, options_.job.run, devices_, wall_milliseconds());
    write_state();
    return {};
}

bool Keeper::is_cancelled() const
{
    return target::is_there(options_.directory / target::control::cancel);
}

// False when something happened in the run directory before the time was over.
bool Keeper::pause(std::chrono::milliseconds span)
{
    const auto woken = os::wait_readable(changes_.get(), after(span), {});
    if (!woken) return true;
    char events[4096];
    while (::read(changes_.get(), events, sizeof events) > 0) {
    }
    return false;
}

void Keeper::write_state()
{
    auto text = target::gpu_state_text(state_);
    if (text == written_) return;
    const auto done = os::replace_file(options_.directory / target::control::gpu,
                                       options_.files.sealed(target::control::gpu, text),
                                       0600,
                                       os::Durable::no);
    if (done) written_ = std::move(text);
}

void Keeper::publish_end(model::ExitRecord record, std::string_view why)
{
    record.by = "side";
    record.started = record.ended = wall_milliseconds();
    state_.set("phase", "ended");
    state_.set("verdict", gpu::to_string(gpu::Verdict::unknown));
    state_.set("reason", std::string(why));
    write_state();
    static_cast<void>(options_.files.publish(target::control::exit, to_text(record)));
}

}  // namespace ponk::side
