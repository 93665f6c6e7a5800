// SPDX-License-Identifier: Apache-2.0
// The GPUs of a run: told to who follows, and kept with it.
#include "base/text.hpp"
#include "engine/run/supervisor.hpp"
#include "gpu/banner.hpp"
#include "gpu/verdict/verdict.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

std::string waiting_text(const Json& gpu)
{
    std::vector<std::string> reasons;
    if (const auto& waiting = gpu["waiting"]; waiting.is_array()) {
        for (const auto& item : waiting.as_array())
            if (item.is_string()) reasons.push_back(item.as_string());
    }
    const auto position = gpu.integer("position", 1);
    return fmt::format("waiting for GPUs, {} in the queue: {}",
                       position == 1 ? "next" : fmt::format("number {}", position),
                       join(reasons, "; "));
}

}  // namespace

void Supervisor::note_gpu(const std::string& text)
{
    if (text.empty() || text == gpu_text_) return;
    auto parsed = parse_json(text);
    if (!parsed || !parsed->is_object()) return;
    gpu_text_ = text;
    const auto phase = parsed->text("phase");
    if (phase == "queued") {
        if (auto now = waiting_text(*parsed); now != gpu_told_) {
            gpu_told_ = std::move(now);
            tell("notice", gpu_told_);
        }
    } else if (gpu_told_ != "leased" && !(*parsed)["devices"].is_null()) {
        gpu_told_ = "leased";
        const auto inventory = gpu::inventory_from(*parsed);
        if (inventory && !inventory->devices.empty()) {
            for (const auto& block : gpu::banner(
                     inventory->devices, inventory->driver_version, inventory->cuda_version))
                tell("notice", std::string(trim(block)));
        } else if (parsed->text("verdict") == gpu::to_string(gpu::Verdict::unknown)) {
            tell("notice", parsed->text("reason"));
        }
    }
    if (const auto problem = parsed->text("lease_problem");
        !problem.empty() && problem != run_.gpu.text("lease_problem"))
        tell("notice", problem);
    run_.gpu = std::move(*parsed);
    gpu_is_kept_ = false;
    if (!run_.gpu["queue_ms"].is_null()) run_.timings["queue"] = run_.gpu.integer("queue_ms");
}

// While it waits its record says where, for whoever asks; a place changes often.
void Supervisor::keep_place_in_queue()
{
    constexpr std::int64_t pause_ms = 2'000;
    if (run_.state != model::RunState::queued || gpu_is_kept_) return;
    const auto now = boot_milliseconds();
    if (now < next_keeping_) return;
    next_keeping_ = now + pause_ms;
    store::RunChange change;
    change.gpu = run_.gpu;
    change.timings = run_.timings;
    // A full disk passes, and the next place is told again.
    if (auto updated = context_.history.update_run(run_.id, change)) run_ = std::move(*updated);
    gpu_is_kept_ = true;
}

Deadline Supervisor::place_is_due() const
{
    if (run_.state != model::RunState::queued || gpu_is_kept_) return Deadline::max();
    const auto left = std::max<std::int64_t>(0, next_keeping_ - boot_milliseconds());
    return after(std::chrono::milliseconds(left));
}

// What is kept when the run has ended. A side that was killed leaves no verdict, which is no pass.
Json Supervisor::final_gpu() const
{
    if (run_.gpu.is_null() || !run_.gpu["verdict"].is_null()) return run_.gpu;
    auto gpu = run_.gpu;
    const bool waited = gpu.text("phase") == "queued";
    gpu.as_object().set("phase", "ended");
    gpu.as_object().set("verdict", gpu::to_string(gpu::Verdict::unknown));
    gpu.as_object().set("reason",
                        waited ? "the run did not get its GPUs"
                               : "the process that watched the run's GPUs ended before the run "
                                 "did");
    return gpu;
}

std::optional<Error> Supervisor::broken_gpu_requirement() const
{
    if (spec_.resources.gpu.need != model::GpuRequest::Need::required) return std::nullopt;
    const auto gpu = final_gpu();
    std::string what = "'gpu: required' is not met: ";
    if (const auto why = gpu.text("enforced"); !why.empty()) {
        what = "the run was ended: " + what + why;
    } else {
        const auto verdict = gpu::parse_verdict(gpu.text("verdict"));
        if (verdict == gpu::Verdict::confirmed || verdict == gpu::Verdict::idle)
            return std::nullopt;
        const bool measured =
            verdict == gpu::Verdict::cpu_fallback || verdict == gpu::Verdict::lost;
        what += measured ? "" : "whether the run used its GPUs could not be measured: ";
        what += gpu.is_null() ? "no data about them" : gpu.text("reason");
    }
    return Error(ErrorKind::unavailable,
                 std::move(what),
                 "Fix this problem, or write 'gpu: auto' to allow runs without a GPU.");
}

}  // namespace ponk::engine
