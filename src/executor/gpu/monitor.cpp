// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/monitor.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/job/device_variables.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "gpu/probe/probe.hpp"
#include "gpu/verdict/verdict.hpp"
#include "os/carried_program.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <fcntl.h>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

// How long an end waits for its verdict: a driver can hang.
constexpr std::chrono::seconds verdict_patience = 15s;
constexpr std::string_view state_first_line = "ponk-gpu 1\n";
constexpr std::string_view state_last_line = "\nend\n";

// "error {…}", as the process says it.
Error refusal(std::string_view text)
{
    const auto json = parse_json(text);
    if (!json || !json->is_object())
        return {ErrorKind::unavailable, "ponk-gpu-monitor: " + printable(text)};
    return {error_kind_from(json->text("kind")), json->text("message"), json->text("hint")};
}

}  // namespace

std::vector<std::string> monitor_environment(const std::vector<std::string>& submitter_environment)
{
    std::vector<std::string> words;
    for (const char* name : {"PATH",
                             "HOME",
                             "USER",
                             "PONK_GPU_PROBE",
                             "PONK_GPU_LOCKS",
                             "PONK_FAKE_GPUS",
                             "PONK_RUN_ID",  // of the run that submits this one
                             "LD_LIBRARY_PATH"}) {
        if (auto value = os::variable(submitter_environment, name); !value.empty())
            words.push_back(std::string(name) + "=" + value);
    }
    return words;
}

std::string to_text(const MonitorJob& job)
{
    return to_json(JsonObject{{"run", job.run},
                              {"script", job.script},
                              {"request", to_json(job.request)},
                              {"lib", job.lib.native()},
                              {"devices_are_chosen", job.devices_are_chosen},
                              {"is_given_devices", job.is_given_devices},
                              {"stub", job.stub.native()},
                              {"engine", job.engine.native()},
                              {"container", job.container},
                              {"tree_is_copied", job.tree_is_copied}}) +
           "\n";
}

Result<MonitorJob> parse_monitor_job(std::string_view text)
{
    const auto json = TRY(parse_json(text));
    auto request = TRY(model::parse_gpu_request(json["request"]));
    MonitorJob job{.run = json.text("run"),
                   .script = json.text("script"),
                   .request = std::move(request),
                   .lib = json.text("lib"),
                   .devices_are_chosen = json.boolean("devices_are_chosen"),
                   .is_given_devices = json.boolean("is_given_devices"),
                   .stub = json.text("stub"),
                   .engine = json.text("engine"),
                   .container = json["container"],
                   .tree_is_copied = json.boolean("tree_is_copied")};
    if (job.run.empty() || job.request.empty() || (job.stub.empty() == job.container.is_null()))
        return fail(ErrorKind::damaged, "file 'monitor' does not say what to do");
    return job;
}

bool needs_monitor(const Job& job)
{
    return !job.spec.resources.gpu.empty() &&
           (job.spec.resources.gpu.origin == GpuRequest::Origin::asked ||
            job.spec.resources.gpu.need == GpuRequest::Need::required ||
            gpu::may_have_gpus(monitor_environment(job.context.submitter_environment)));
}

bool chooses_devices(const Job& job)
{
    return std::ranges::any_of(job.spec.program.variables, [](const auto& variable) {
        return chooses_devices(variable.first);
    });
}

Result<> start_monitor(const MonitorStart& start, const Adopt& adopt, std::stop_token stop)
{
    TRY(os::replace_file(
        start.directory.task() / control::monitor, to_text(start.job), 0600, os::Durable::content));
    // As it was loaded, whatever has its name by now.
    static const Path own = "/proc/self/exe";
    const auto said =
        TRY(start_stub({.program = own,
                        .directory = start.directory.root(),
                        .environment = start.environment,
                        .lease = start.lease,
                        .name = "ponk-gpu-monitor",
                        .own_environment = monitor_environment(start.submitter_environment)},
                       adopt,
                       std::move(stop)));
    if (said == "queued" || said == "started" || said == "claimed") return {};
    if (said.starts_with("error ")) return tl::unexpected(refusal(said.substr(6)));
    return fail(ErrorKind::unavailable,
                "the process that leases GPUs for the run ended without a message");
}

bool is_monitor_alive(const Path& directory)
{
    const auto lock = os::open_file(directory / control::monitor_lock, O_RDWR);
    if (!lock) return false;
    struct flock whole {};
    whole.l_type = F_WRLCK;
    return ::fcntl(lock->get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

Result<Path> monitor_program(const Path& home)
{
    std::error_code problem;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", problem);
    // Of one that was replaced or removed the name has an addition.
    if (!problem && own.native().starts_with(home.native() + "/") && is_there(own)) return own;
    return os::install_program(home / "lib", "ponk", TRY(os::read_file("/proc/self/exe")));
}

std::string gpu_state_text(const Json& state)
{
    return std::string(state_first_line) + to_json(state) + std::string(state_last_line);
}

Result<std::optional<Json>> read_gpu_state(const SealedFiles& files)
{
    const auto text = TRY(files.find(control::gpu));
    if (!text || !text->starts_with(state_first_line)) return std::nullopt;
    // The seal is a line of its own behind the state.
    const auto rest = std::string_view(*text).substr(state_first_line.size());
    return TRY(parse_json(rest.substr(0, rest.find('\n'))));
}

void add_verdict(const std::optional<Json>& state, std::chrono::milliseconds age, JobStatus& status)
{
    if (state) status.gpu = to_json(*state);
    if (status.phase != JobPhase::ended || (state && state->text("phase") == "ended")) return;
    if (age < verdict_patience) {
        status.phase = JobPhase::running;
        status.exit.reset();
        return;
    }
    auto late = state.value_or(JsonObject{{"devices", JsonArray()}});
    late.as_object().set("phase", "ended");
    late.as_object().set("verdict", gpu::to_string(gpu::Verdict::unknown));
    late.as_object().set("reason",
                         fmt::format("the process that watched the run's GPUs gave no verdict "
                                     "within {} s",
                                     verdict_patience.count()));
    status.gpu = to_json(late);
}

Result<>
add_monitor_state(const SealedFiles& files, const RunDirectory& directory, JobStatus& status)
{
    if (!is_there(directory.task() / control::monitor)) return {};
    const bool alive = is_monitor_alive(directory.task());  // before its last words are read
    const auto state = TRY(read_gpu_state(files));
    if (state) status.gpu = to_json(*state);
    const auto phase = state ? state->text("phase") : std::string();
    if (status.phase == JobPhase::starting) {
        if (phase == "queued" && alive) {
            status.phase = JobPhase::queued;
            const auto& waiting = (*state)["waiting"];
            if (waiting.is_array() && !waiting.as_array().empty() &&
                waiting.as_array().front().is_string())
                status.reason = waiting.as_array().front().as_string();
        }
        // A supervisor that it had started may come late. Asked again, the answer is the same: the
        // first one may not have been heard.
        if (alive) return {};
        const auto claimed = claim_start(directory.task());
        if (!claimed || !*claimed) return {};
        // It may have ended in the meantime, with a record.
        if (const auto late = TRY(read_report(files, directory)); late.exit) {
            auto gpu = std::move(status.gpu);
            status = status_of(late, {});
            status.gpu = std::move(gpu);
            return {};
        }
        if (TRY(read_processes(files, directory))) return {};
        status.phase = JobPhase::lost;
        status.reason = "the process that leased GPUs for the run was killed before the script "
                        "started; nothing was executed";
    }
    if (alive && status.exit)
        add_verdict(
            state, std::chrono::milliseconds(wall_milliseconds() - status.exit->ended), status);
    return {};
}

}  // namespace ponk::executor
