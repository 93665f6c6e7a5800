// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu_plan.hpp"

#include "base/text.hpp"
#include "engine/plan.hpp"
#include "gpu/lease.hpp"
#include "os/variables.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

using target::GpuRequest;

// `CUDA_VISIBLE_DEVICES=1 ponk submit …`: the user's choice. Words that name no device (as
// frameworks read them) hide all; that is the script's affair.
std::string chosen_in_shell(const Submission& submission)
{
    auto chosen = os::variable(submission.ambient.environment, "CUDA_VISIBLE_DEVICES");
    const bool names_devices =
        !chosen.empty() && std::ranges::all_of(split(chosen, ','), [](const std::string& word) {
            return parse_integer(word).value_or(-1) >= 0 || word.starts_with("GPU-") ||
                   word.starts_with("MIG-");
        });
    if (!names_devices) return {};
    // "1" is the device in place 1 there, and a number of devices in a wish.
    return parse_integer(chosen) ? chosen + "," : chosen;
}

Result<std::string> checked(const std::string& text)
{
    const auto wish = TRY(gpu::parse_wish(text));
    return wish.kind == gpu::Wish::Kind::none ? std::string() : gpu::to_text(wish);
}

// A run that is given no device by its own configuration need not be started to fail.
Result<> check_not_hidden(const Variables& variables)
{
    for (const auto& [name, value] : variables) {
        const auto first = trim(std::string_view(value).substr(0, value.find(',')));
        if (name != "CUDA_VISIBLE_DEVICES" || (!first.empty() && first != "-1")) continue;
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("'gpu: required', but the variable {} is '{}', which hides every GPU",
                              name,
                              printable(value)),
                  "Leave the variable out: ponk sets it to the GPUs that the run gets."));
    }
    return {};
}

}  // namespace

Result<GpuRequest> gpu_plan(const config::ResolvedConfiguration& resolved,
                            const Submission& submission,
                            const Variables& variables)
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
    const bool in_file = target.gpus.given() && !target.gpus->empty();
    if (submission.gpus || in_file) {
        request.wish = TRY(checked(submission.gpus ? *submission.gpus : *target.gpus)
                               .map_error([&](const Error& error) {
                                   if (submission.gpus) return error.within("--gpus");
                                   return error.within(fmt::format("{}:{}:{}: gpus",
                                                                   target.file,
                                                                   target.gpus.place.line,
                                                                   target.gpus.place.column));
                               }));
        request.origin = GpuRequest::Origin::asked;
        if (request.wish.empty() && required) {
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        "'gpu: required' and 'gpus: none' contradict each other",
                                        "Ask for GPUs, or remove 'gpu: required'."));
        }
        return request;
    }
    if (*target.gpu == config::GpuWish::none) return request;
    if (config::uses_docker(*target.type) && !*target.nvidia_docker && !required) return request;
    request.wish = same_ignoring_case(*target.shared, "true") ? "1" : "all";
    if (*target.type == config::TargetType::local) {
        if (auto chosen = chosen_in_shell(submission); !chosen.empty())
            request.wish = std::move(chosen);
    }
    return request;
}

}  // namespace ponk::engine
