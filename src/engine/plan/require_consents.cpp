// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/require_consents.hpp"

#include "secrets/secrets.hpp"
#include "ssh/client.hpp"
#include "ssh/failure.hpp"

#include <set>

namespace ponk::engine {
namespace {

using config::ConsentKind;
using config::Request;

Result<> require_attached(const Context& context, const Plan& plan)
{
    if (!plan.host) return {};
    auto address = TRY(ssh::parse_address(plan.host->address, plan.host->user));
    if (plan.host->port != 0) address.port = plan.host->port;
    return ssh::require_attached(context.home, address).map_error([&](const Error& error) {
        return ssh::name_target(error, plan.target);
    });
}

// Those that the user named with the submission.
std::set<std::string> given_secrets(const Submission& submission)
{
    std::set<std::string> names;
    for (const auto& [variable, value] : submission.variables)
        if (auto name = secrets::reference_name(value)) names.insert(*name);
    return names;
}

}  // namespace

Result<>
require_consents(const Context& context, const PlanReport& report, const Submission& submission)
{
    TRY(require_attached(context, report.plan));
    // A variable of the submission may have taken the place of one that names a secret.
    const auto names = secret_names(report.plan);
    const std::set<std::string> used(names.begin(), names.end());
    const auto given = given_secrets(submission);
    auto requests = report.requests;
    std::erase_if(requests, [&](const Request& request) {
        return request.kind == ConsentKind::secret &&
               (!used.contains(request.what) || given.contains(request.what));
    });
    return config::Consents(context.home).require(report.project, std::move(requests));
}

Result<>
allow_given_secrets(const Context& context, const PlanReport& report, const Submission& submission)
{
    config::Consents consents(context.home);
    for (const auto& name : given_secrets(submission))
        TRY(consents.add(
            {ConsentKind::secret, config::project_name_in_consents(report.project), name}));
    return {};
}

Result<> require_consents(const Context& context, const Plan& plan, const Path& project)
{
    TRY(require_attached(context, plan));
    std::vector<Request> requests;
    if (plan.container) {
        auto arguments = plan.container->arguments;
        if (!plan.container->build_network.empty())
            arguments.push_back("--network=" + plan.container->build_network);
        requests = TRY(config::docker_requests(arguments));
    }
    for (const auto& name : secret_names(plan))
        requests.push_back({ConsentKind::secret, name, {}});
    return config::Consents(context.home).require(project, std::move(requests));
}

}  // namespace ponk::engine
