// SPDX-License-Identifier: Apache-2.0
// The first part of a keeper's life: it waits until the GPUs are its own.
#include "base/text.hpp"
#include "base/time.hpp"
#include "gpu_monitor/keeper.hpp"
#include "gpu_monitor/strangers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::gpu_monitor {

using namespace std::chrono_literals;

namespace {

// A cancel waits for it.
constexpr auto queue_patience = 5s;
constexpr std::int64_t telling_pause_ms = 10'000;
constexpr std::int64_t inventory_pause_ms = 2'000;

Json sentences(const std::vector<std::string>& list)
{
    return JsonArray(list.begin(), list.end());
}

}  // namespace

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
    if (last_sample_ && std::ranges::any_of(last_sample_->devices, is_lost))
        look_again_at_inventory();
}

// Created again (instances of a card, or after a reset) a device has another name; one that
// vanished may be back.
void Keeper::look_again_at_inventory()
{
    auto inventory = probe_->inventory(after(queue_patience), {});
    next_inventory_ = boot_milliseconds() + inventory_pause_ms;
    if (!inventory || inventory->devices.empty()) return;
    const bool is_same = std::ranges::equal(
        inventory_.devices, inventory->devices, {}, &gpu::Device::uuid, &gpu::Device::uuid);
    inventory_ = std::move(*inventory);
    // Who is on the new ones is not in the last sample.
    if (!is_same) next_question_ = 0;
}

std::vector<std::string> Keeper::strangers_on(const gpu::Device& device)
{
    ask_driver_in_queue();
    if (!last_sample_) return {"the driver does not report who uses its GPUs: " + question_failed_};
    return describe_strangers(device, *last_sample_);
}

Result<gpu::LeaseFolder::Outcome> Keeper::try_take(const gpu::Ticket& ticket)
{
    // A copy: a question to the driver may bring others.
    const auto devices = inventory_.devices;
    bool asked = false;
    bool found = false;
    auto outcome = folder_->try_take(ticket, owner(), devices, [&](const gpu::Device& device) {
        auto strangers = strangers_on(device);
        asked = true;
        found = found || !strangers.empty();
        return strangers;
    });
    if (found && strangers_since_ == 0) strangers_since_ = boot_milliseconds();
    if (asked && !found) strangers_since_ = 0;
    // The selection may name what is not listed now.
    if (!outcome && boot_milliseconds() >= next_inventory_) look_again_at_inventory();
    return outcome;
}

Result<Keeper::Turn> Keeper::take_gpus()
{
    const auto& request = options_.job.request;
    const auto selection = TRY(gpu::parse_gpu_selection(request.selection));
    // A run without a lease would use what others hold.
    if (selection.kind == gpu::Selection::Kind::none)
        return fail(
            ErrorKind::invalid_argument, "'{}' requests no GPUs", printable(request.selection));
    TRY(gpu::LeaseFolder::candidates(selection, inventory_.devices));
    const auto since = boot_milliseconds();
    folder_ = TRY(gpu::LeaseFolder::open(options_.own_environment));
    const auto ticket = TRY(folder_->queue(selection, owner()));
    auto turn = wait_for_turn(ticket);
    state_.set("queue_ms", boot_milliseconds() - since);
    state_.erase("position");
    state_.erase("waiting");
    return turn;
}

Result<Keeper::Turn> Keeper::wait_for_turn(const gpu::Ticket& ticket)
{
    const bool refuses = options_.job.request.busy == executor::GpuRequest::Busy::refuse;
    while (!is_cancelled()) {
        auto outcome = try_take(ticket);
        if (!outcome && refuses) return tl::unexpected(outcome.error());
        if (outcome && !outcome->waiting) {
            leases_ = std::move(outcome->leases);
            have(std::move(outcome->devices));
            return Turn::taken;
        }
        if (waits_for_parent(ticket)) return refuse_nested();
        // Somebody may repair a damaged folder: no reason to lose the place in the queue.
        const auto waiting = outcome ? std::move(*outcome->waiting)
                                     : gpu::Waiting{.reasons = {outcome.error().message()}};
        if (refuses) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      "the GPUs are busy: " + join(waiting_sentences(waiting), "; "),
                      "Without '--no-wait' the run waits for the GPUs."));
        }
        tell_waiting(waiting);
        report_.say("queued");
        wait_in_queue(pause_of(waiting));
    }
    return Turn::cancelled;
}

// Its parent keeps what it has until this run is over.
bool Keeper::waits_for_parent(const gpu::Ticket& ticket) const
{
    return !parent_.empty() &&
           folder_->needs_end_of(parent_, ticket, inventory_.devices).value_or(false);
}

std::string Keeper::parent_has_them() const
{
    return fmt::format("the run '{}', which submits this run, holds the GPUs itself",
                       printable(parent_));
}

Result<Keeper::Turn> Keeper::refuse_nested() const
{
    if (may_go_without()) return Turn::without;
    return tl::unexpected(Error(
        ErrorKind::conflict,
        parent_has_them() + ": this run would wait forever",
        "Submit this run with '--async' or '--gpus none', or the outer run with fewer GPUs."));
}

void Keeper::have(std::vector<gpu::Device> found)
{
    devices_ = std::move(found);
    JsonArray devices;
    for (const auto& device : devices_)
        devices.push_back(gpu::to_json(device));
    state_.set("devices", std::move(devices));
    state_.set("phase", "leased");
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

}  // namespace ponk::gpu_monitor
