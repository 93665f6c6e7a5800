// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/gpu_plan.hpp"

#include "base/text.hpp"
#include "engine/plan/plan.hpp"
#include "gpu/lease/lease.hpp"
#include "os/variables.hpp"
#include "target/job/gpu_request.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

using target::GpuRequest;

constexpr const char* shell_variable = "CUDA_VISIBLE_DEVICES";

bool names_device(const std::string& word)
{
    return parse_integer(word).value_or(-1) >= 0 || word.starts_with("GPU-") ||
           word.starts_with("MIG-");
}

// `CUDA_VISIBLE_DEVICES=1 ponk submit …`: the user's choice, as the driver reads it: the first word
// that names no device ends the list, so "" and "-1" hide all. Other words are the script's affair.
std::optional<std::string> chosen_in_shell(const Submission& submission)
{
    const auto& environment = submission.ambient.environment;
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
    // "1" is the device in place 1 there, and a number of devices in a wish.
    if (names.size() == 1 && parse_integer(names.front())) return names.front() + ",";
    return join(names, ",");
}

Result<std::string> checked(const std::string& text)
{
    const auto wish = TRY(gpu::parse_wish(text));
    return wish.kind == gpu::Wish::Kind::none ? std::string() : gpu::to_text(wish);
}

tl::unexpected<Error> hidden(const std::string& value)
{
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'gpu: required', but the variable {} is '{}', which hides every GPU",
                          shell_variable,
                          printable(value)),
              "Leave the variable out: ponk sets it to the GPUs that the run gets."));
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
        if (target::chooses_devices(name))
            notices.push_back(fmt::format("{}='{}' is not used: the run asks for no GPU, and every "
                                          "GPU is hidden from it",
                                          name,
                                          printable(value)));
    }
}

// What the command line or a file says.
Result<std::string> asked_for(const config::ResolvedConfiguration& resolved,
                              const Submission& submission)
{
    const auto& target = resolved.target;
    const bool required = *target.gpu == config::GpuWish::required;
    if (submission.gpus) {
        auto wish = TRY(checked(*submission.gpus).map_error(while_doing("--gpus")));
        if (wish.empty() && required)
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("'--gpus {}' contradicts 'gpu: required' of '{}'",
                                  printable(*submission.gpus),
                                  resolved.run.gpu.given() ? resolved.run.file : target.file),
                      "Ask for GPUs, or remove 'gpu: required'."));
        return wish;
    }
    if (const auto remark = config::gpu_contradiction(resolved.run, target))
        return tl::unexpected(config::to_error({*remark}));
    const auto& file = resolved.run.gpus.given() ? resolved.run.file : target.file;
    return checked(*target.gpus)
        .map_error(
            while_doing("{}:{}:{}: gpus", file, target.gpus.place.line, target.gpus.place.column));
}

}  // namespace

Result<GpuRequest> gpu_plan(const config::ResolvedConfiguration& resolved,
                            const Submission& submission,
                            const Variables& variables,
                            std::vector<std::string>& notices)
{
    const auto& target = resolved.target;
    const bool required = *target.gpu == config::GpuWish::required;
    GpuRequest request{.wish = {},
                       .origin = GpuRequest::Origin::usual,
                       .need = required ? GpuRequest::Need::required : GpuRequest::Need::wanted,
                       .busy = submission.gpus_busy,
                       .grace = std::chrono::seconds(*target.gpu_grace_seconds)};
    if (submission.purpose == Submission::Purpose::prepare) return request;
    if (required) TRY(check_not_hidden(variables));
    if (submission.gpus || !target.gpus->empty()) {
        request.wish = TRY(asked_for(resolved, submission));
        request.origin = GpuRequest::Origin::asked;
    } else if (*target.gpu == config::GpuWish::none) {
        request.origin = GpuRequest::Origin::asked;
    }
    if (request.hides_all()) tell_hidden(variables, notices);
    if (request.origin == GpuRequest::Origin::asked) return request;
    if (config::uses_docker(*target.type) && !*target.nvidia_docker && !required) return request;
    request.wish = *target.shared_with_others ? "1" : "all";
    if (*target.type != config::TargetType::local) return request;
    const auto chosen = chosen_in_shell(submission);
    if (!chosen) return request;
    request.wish = *chosen;
    if (!chosen->empty()) return request;
    const auto value = os::variable(submission.ambient.environment, shell_variable);
    if (required) return hidden(value);
    notices.push_back(fmt::format("{} is '{}' in this shell, which hides every GPU: the run takes "
                                  "none",
                                  shell_variable,
                                  printable(value)));
    return request;
}

}  // namespace ponk::engine
