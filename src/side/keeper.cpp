// SPDX-License-Identifier: Apache-2.0
#include "side/keeper.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/identity.hpp"
#include "os/late_notice.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"
#include "side/strangers.hpp"
#include "target/control_directory.hpp"
#include "target/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sys/inotify.h>
#include <unistd.h>

namespace ponk::side {

using namespace std::chrono_literals;

namespace {

constexpr auto probe_patience = 20s;
// A cancel waits for it.
constexpr auto queue_patience = 5s;
constexpr auto longest_silence = 30s;
constexpr std::int64_t telling_pause_ms = 10'000;
// A driver that is being loaded, or a process of it that was killed, is there a moment later.
constexpr int most_probe_tries = 3;
constexpr const char* nothing_here = "this machine has none that a driver knows";

std::vector<std::string> without_devices(std::vector<std::string> words)
{
    target::Environment environment(words);
    for (const auto& [name, value] : hiding_variables())
        environment.set(name, value);
    return environment.words();
}

Json sentences(const std::vector<std::string>& list)
{
    return JsonArray(list.begin(), list.end());
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
    // A busy engine or a large tree can take minutes; whoever started us waits for one.
    const os::LateNotice late(longest_silence, [this] { report_.say("queued"); });
    const auto kept = keep();
    if (kept || report_.refuse(kept.error())) return kept;
    publish_end({.code = 126, .cause = "start-failure", .message = kept.error().message()},
                "the run could not be started");
    return {};
}

Result<> Keeper::keep()
{
    TRY(look_for_gpus());
    const bool without = inventory_.devices.empty();
    // What the driver does not show now may be there in a minute, and be somebody's.
    auto environment = options_.run_environment;
    if (without && inventory_.problem && !options_.job.devices_are_chosen)
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
    if (without && inventory_.problem)
        return go_without(gpu::Verdict::unknown,
                          "the run goes without GPUs: " + inventory_.problem->message());
    if (without)
        return go_without(gpu::Verdict::not_requested,
                          fmt::format("no GPU was asked for, and {}", nothing_here));
    const auto turn = TRY(take_gpus());
    if (turn == Turn::cancelled) {
        publish_end({.signal = SIGTERM, .cause = "cancel"},
                    "the run was cancelled while it waited for GPUs");
        report_.say("started");
        return {};
    }
    if (turn == Turn::without) return {};
    TRY(start());
    report_.say("started");
    watch();
    judge();
    return {};
}

// What it cannot say is a problem of the inventory, which then has no devices.
void Keeper::ask_driver()
{
    const gpu::ProbeOptions options{options_.job.lib, options_.own_environment};
    auto answer = gpu::open_probe(options, after(probe_patience), {})
                      .and_then([this](std::unique_ptr<gpu::Probe> probe) {
                          probe_ = std::move(probe);
                          return probe_->inventory(after(probe_patience), {});
                      });
    inventory_ = answer ? std::move(*answer) : gpu::Inventory{.problem = answer.error()};
}

Result<> Keeper::look_for_gpus()
{
    const auto deadline = after(probe_patience);
    ask_driver();
    for (int tries = 1; inventory_.devices.empty() && inventory_.problem && !is_cancelled() &&
                        tries < most_probe_tries && Deadline::clock::now() < deadline;
         ++tries) {
        pause(1s);
        ask_driver();
    }
    state_.set("way", inventory_.way);
    state_.set("driver_version", inventory_.driver_version);
    state_.set("cuda_version", inventory_.cuda_version);
    const auto& request = options_.job.request;
    // Nobody asked for them: the run is what counts.
    if (!inventory_.devices.empty() || (request.origin == target::GpuRequest::Origin::usual &&
                                        request.need == target::GpuRequest::Need::wanted))
        return {};
    if (inventory_.problem) return tl::unexpected(*inventory_.problem);
    return tl::unexpected(
        Error(ErrorKind::not_found,
              fmt::format("GPUs were asked for ('{}'), but {}", request.wish, nothing_here),
              "'ponk gpu list' shows what each target has; '--gpus none' runs without."));
}

// A run that gets what every run gets, where there is nothing to get.
Result<> Keeper::go_without(gpu::Verdict verdict, const std::string& reason)
{
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
    return {os::user_name(), options_.job.run, ::getpid(), wall_milliseconds()};
}

// Seldom while others are there: on some machines a question costs a second of a processor.
void Keeper::ask_driver_in_queue()
{
    if (boot_milliseconds() < next_question_) return;
    auto sample = probe_->sample(after(queue_patience), {});
    question_failed_ = sample ? std::string() : sample.error().message();
    last_sample_ = sample ? std::optional(std::move(*sample)) : std::nullopt;
    const auto now = boot_milliseconds();
    const auto waited = strangers_since_ != 0 ? now - strangers_since_ : 0;
    next_question_ = now + std::clamp<std::int64_t>(waited / 4, 100, 2000);
    const auto is_lost = [](const gpu::DeviceSample& device) { return !device.lost.empty(); };
    if (!last_sample_ || std::ranges::none_of(last_sample_->devices, is_lost)) return;
    // Made anew (instances of a card, or after a reset) it has another name.
    if (auto inventory = probe_->inventory(after(queue_patience), {});
        inventory && !inventory->devices.empty())
        inventory_ = std::move(*inventory);
}

std::vector<std::string> Keeper::strangers_on(const gpu::Device& device)
{
    ask_driver_in_queue();
    if (!last_sample_) return {"the driver does not say who uses its GPUs: " + question_failed_};
    auto strangers = describe_strangers(device, *last_sample_);
    if (strangers.empty())
        strangers_since_ = 0;
    else if (strangers_since_ == 0)
        strangers_since_ = boot_milliseconds();
    return strangers;
}

Result<gpu::LeaseFolder::Outcome> Keeper::try_take(const gpu::Ticket& ticket)
{
    // A copy: a question to the driver may bring others.
    const auto devices = inventory_.devices;
    return folder_->try_take(ticket, owner(), devices, [this](const gpu::Device& device) {
        return strangers_on(device);
    });
}

Result<Keeper::Turn> Keeper::take_gpus()
{
    const auto& request = options_.job.request;
    const auto wish = TRY(gpu::parse_wish(request.wish));
    // A run without a lease would use what others hold.
    if (wish.kind == gpu::Wish::Kind::none)
        return fail(ErrorKind::invalid_argument, "'{}' asks for no GPUs", printable(request.wish));
    TRY(gpu::LeaseFolder::candidates(wish, inventory_.devices));
    const auto since = boot_milliseconds();
    folder_ = TRY(gpu::LeaseFolder::open(options_.own_environment));
    const auto ticket = TRY(folder_->queue(wish, owner()));
    const auto parent = os::variable(options_.own_environment, "PONK_RUN_ID");
    for (;;) {
        if (is_cancelled()) {
            state_.set("queue_ms", boot_milliseconds() - since);
            return Turn::cancelled;
        }
        auto outcome = try_take(ticket);
        if (!outcome && request.busy == target::GpuRequest::Busy::refuse)
            return tl::unexpected(outcome.error());
        if (outcome && !outcome->waiting) {
            take(std::move(*outcome), since);
            return Turn::taken;
        }
        // A folder that somebody spoilt may be mended: no reason to lose the place.
        const auto waiting = outcome ? std::move(*outcome->waiting)
                                     : gpu::Waiting{.reasons = {outcome.error().message()}};
        if (!parent.empty() &&
            std::ranges::find(waiting.holders, parent) != waiting.holders.end()) {
            const auto why =
                fmt::format("the run '{}', which submits this one, has the GPUs itself", parent);
            if (request.origin == target::GpuRequest::Origin::usual &&
                request.need == target::GpuRequest::Need::wanted) {
                TRY(go_without(gpu::Verdict::not_requested,
                               "no GPU could be had, and none was asked for: " + why));
                return Turn::without;
            }
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      why + ": this one would wait for ever",
                      "Submit it with '--gpus none', or the outer one with fewer GPUs."));
        }
        if (request.busy == target::GpuRequest::Busy::refuse) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      "the GPUs are busy: " + join(waiting_sentences(waiting), "; "),
                      "Without '--no-wait' the run waits for its turn."));
        }
        tell_waiting(waiting);
        report_.say("queued");
        wait_in_queue(pause_of(waiting));
    }
}

void Keeper::take(gpu::LeaseFolder::Outcome outcome, std::int64_t since)
{
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
}

// Figures in the reasons change all the time; people read a new line when the place changed.
void Keeper::tell_waiting(const gpu::Waiting& waiting)
{
    const auto now = boot_milliseconds();
    if (waiting.position == told_position_ && now < next_telling_) return;
    told_position_ = waiting.position;
    next_telling_ = now + telling_pause_ms;
    state_.set("position", waiting.position);
    state_.set("waiting", sentences(waiting_sentences(waiting)));
    write_state();
}

// Our own words are changes of the folder too.
void Keeper::wait_in_queue(std::chrono::milliseconds span)
{
    const auto deadline = std::chrono::steady_clock::now() + span;
    while (!is_cancelled()) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (left <= 0ms) return;
        pause(std::chrono::ceil<std::chrono::milliseconds>(left));
    }
}

// The one who made a lock file can remove it, and the next one would not see ours.
void Keeper::renew_leases()
{
    for (auto& lease : leases_) {
        const auto renewed = folder_->renew(lease, owner());
        if (renewed && *renewed) continue;
        state_.set(
            "lease_problem",
            fmt::format("the lock file of '{}' was removed, and {}",
                        lease.uuid(),
                        renewed ? "another run may have the GPU too" : renewed.error().message()));
    }
}

Result<> Keeper::start()
{
    write_state();
    collector_.emplace(devices_);
    if (last_sample_) collector_->add(*last_sample_, [](pid_t) { return false; });
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
    return target::is_there(options_.directory / target::control::cancel) ||
           !target::is_there(options_.directory);
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
