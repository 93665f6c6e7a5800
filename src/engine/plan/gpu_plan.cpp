// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/gpu_plan.hpp"

#include "base/text.hpp"
#include "engine/plan/gres.hpp"
#include "engine/plan/resolve_run.hpp"
#include "executor/job/device_variables.hpp"
#include "gpu/lease/lease.hpp"
#include "os/variables.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

using model::GpuRequest;

constexpr const char* shell_variable = "CUDA_VISIBLE_DEVICES";

bool names_device(const std::string& word)
{
    return parse_integer(word).value_or(-1) >= 0 || word.starts_with("GPU-") ||
           word.starts_with("MIG-");
}

// `CUDA_VISIBLE_DEVICES=1 ponk submit …`: the user's choice, as the driver reads it: the first word
// that names no device ends the list, so "" and "-1" hide all. Other words are the script's affair.
std::optional<std::string> chosen_in_shell(const Submitter& submitter)
{
    const auto& environment = submitter.environment;
    const auto is_set = [](const std::string& word) {
        return word.starts_with(std::string(shell_variable) + "=");
    };
    if (std::ranges::none_of(environment, is_set)) return std::nullopt;
    const auto value = os::variable(environment, shell_variable);
    std::vector<std::string> names;
    for (const auto& part : split(value, ',')) {
        const std::string word(trim(part));
        if (!names_device(word)) {
            const bool hides = word.empty() || parse_integer(word).value_or(0) < 0;
            if (names.empty() && !hides) return std::nullopt;
            break;
        }
        names.push_back(word);
    }
    // "1" is the device in place 1 there, and a number of devices in a selection.
    if (names.size() == 1 && parse_integer(names.front())) return names.front() + ",";
    return join(names, ",");
}

Result<std::string> checked(const std::string& text)
{
    const auto selection = TRY(gpu::parse_gpu_selection(text));
    return selection.kind == gpu::Selection::Kind::none ? std::string() : gpu::to_text(selection);
}

tl::unexpected<Error> hidden(const std::string& value)
{
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'gpu: required', but the variable {} is '{}', which hides every GPU",
                          shell_variable,
                          printable(value)),
              "Remove the variable: ponk sets it to the GPUs that the run gets."));
}

// A run that is given no device by its own configuration need not be started to fail.
Result<> check_not_hidden(const Variables& variables)
{
    for (const auto& [name, value] : variables) {
        const auto first = trim(std::string_view(value).substr(0, value.find(',')));
        if (name == shell_variable && (first.empty() || first == "-1")) return hidden(value);
    }
    return {};
}

// What a run without GPUs is kept from by us, whatever its own variables say.
void tell_hidden(const Variables& variables, std::vector<std::string>& notices)
{
    for (const auto& [name, value] : variables) {
        if (executor::chooses_devices(name))
            notices.push_back(fmt::format(
                "{}='{}' is ignored: the run requests no GPU, so ponk hides every GPU from it",
                name,
                printable(value)));
    }
}

// What the command line or a file says.
Result<std::string> asked_for(const config::ResolvedConfiguration& resolved,
                              const RunRequest& request)
{
    const auto& target = resolved.target;
    const bool required = *target.gpu == config::GpuPolicy::required;
    if (request.gpus) {
        auto selection = TRY(checked(*request.gpus).map_error(while_doing("--gpus")));
        if (selection.empty() && required)
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("'--gpus {}' contradicts 'gpu: required' of '{}'",
                                  printable(*request.gpus),
                                  resolved.run.gpu.given() ? resolved.run.file : target.file),
                      "Request GPUs with 'gpus', or remove 'gpu: required'."));
        return selection;
    }
    if (const auto remark = config::gpu_contradiction(resolved.run, target))
        return tl::unexpected(config::to_error({*remark}));
    const auto& file = resolved.run.gpus.given() ? resolved.run.file : target.file;
    return checked(*target.gpus)
        .map_error(
            while_doing("{}:{}:{}: gpus", file, target.gpus.place.line, target.gpus.place.column));
}

}  // namespace

Result<GpuRequest> ask_slurm_for_gpus(const config::ResolvedConfiguration& resolved,
                                      const RunRequest& request,
                                      model::SlurmSpec& slurm)
{
    const auto& target = resolved.target;
    const bool required = *target.gpu == config::GpuPolicy::required;
    GpuRequest wanted{.selection = {},
                      .origin = GpuRequest::Origin::usual,
                      .need = required ? GpuRequest::Need::required : GpuRequest::Need::wanted,
                      .busy = GpuRequest::Busy::wait,
                      .grace = std::chrono::seconds(*target.gpu_grace_seconds)};
    const bool is_said = request.gpus || !target.gpus->empty();
    const auto text = is_said ? TRY(asked_for(resolved, request)) : std::string();
    if (request.purpose == model::Policy::Purpose::prepare) {
        set_gpus(slurm, 0);
        return wanted;
    }
    const bool none = is_said ? text.empty() : *target.gpu == config::GpuPolicy::none;
    if (none) {
        set_gpus(slurm, 0);
    } else if (is_said) {
        const auto selection = TRY(gpu::parse_gpu_selection(text));
        if (selection.kind != gpu::Selection::Kind::count) {
            return tl::unexpected(Error(
                ErrorKind::invalid_argument,
                fmt::format("'{}' is not a number of GPUs: Slurm chooses which ones a run gets",
                            printable(text)),
                "Request a number, such as '--gpus 1'."));
        }
        set_gpus(slurm, selection.count);
    } else if (required && gpus_of(slurm) == 0) {
        set_gpus(slurm, 1);
    }
    const auto count = gpus_of(slurm);
    if (count > 0 || none) wanted.origin = GpuRequest::Origin::asked;
    if (count > 0) wanted.selection = std::to_string(count);
    return wanted;
}

Result<GpuRequest> gpu_request_of(const config::ResolvedConfiguration& resolved,
                                  const RunRequest& request,
                                  const Submitter& submitter,
                                  const Variables& variables,
                                  std::vector<std::string>& notices)
{
    const auto& target = resolved.target;
    const bool required = *target.gpu == config::GpuPolicy::required;
    GpuRequest wanted{.selection = {},
                      .origin = GpuRequest::Origin::usual,
                      .need = required ? GpuRequest::Need::required : GpuRequest::Need::wanted,
                      .busy = request.no_wait ? GpuRequest::Busy::refuse : GpuRequest::Busy::wait,
                      .grace = std::chrono::seconds(*target.gpu_grace_seconds)};
    if (request.purpose == model::Policy::Purpose::prepare) return wanted;
    if (required) TRY(check_not_hidden(variables));
    if (request.gpus || !target.gpus->empty()) {
        wanted.selection = TRY(asked_for(resolved, request));
        wanted.origin = GpuRequest::Origin::asked;
    } else if (*target.gpu == config::GpuPolicy::none) {
        wanted.origin = GpuRequest::Origin::asked;
    }
    if (wanted.hides_all()) tell_hidden(variables, notices);
    if (wanted.origin == GpuRequest::Origin::asked) return wanted;
    if (config::uses_docker(*target.type) && !*target.nvidia_docker && !required) return wanted;
    wanted.selection = *target.shared_with_others ? "1" : "all";
    if (!config::is_process_here(*target.type)) return wanted;
    const auto chosen = chosen_in_shell(submitter);
    if (!chosen) return wanted;
    wanted.selection = *chosen;
    if (!chosen->empty()) return wanted;
    const auto value = os::variable(submitter.environment, shell_variable);
    if (required) return hidden(value);
    notices.push_back(
        fmt::format("{} is '{}' in this shell, which hides every GPU: the run uses none",
                    shell_variable,
                    printable(value)));
    return wanted;
}

}  // namespace ponk::engine
