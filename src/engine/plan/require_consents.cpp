// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/require_consents.hpp"

#include "ssh/client.hpp"
#include "ssh/failure.hpp"

#include <set>

namespace ponk::engine {
namespace {

using config::ConsentKind;
using config::Request;

Result<> require_attached(const Context& context, const RunSpec& spec)
{
    if (spec.location.kind != model::Location::Kind::host) return {};
    const auto& host = spec.location.host;
    auto address = TRY(ssh::parse_address(host.address, host.user));
    if (host.port != 0) address.port = host.port;
    return ssh::require_attached(context.home, address).map_error([&](const Error& error) {
        return ssh::name_target(error, spec.location.target);
    });
}

// Those that the user named on the command line.
std::set<std::string> given_secrets(const RunRequest& request)
{
    std::set<std::string> names;
    for (const auto& [variable, value] : request.variables)
        if (auto name = model::secret_reference(value)) names.insert(*name);
    return names;
}

}  // namespace

Result<>
require_consents(const Context& context, const ResolvedRun& report, const RunRequest& request)
{
    TRY(require_attached(context, report.spec));
    // A variable of the command line may have taken the place of one that names a secret.
    const auto names = secret_names(report.spec);
    const std::set<std::string> used(names.begin(), names.end());
    const auto given = given_secrets(request);
    auto requests = report.requests;
    std::erase_if(requests, [&](const Request& each) {
        return each.kind == ConsentKind::secret &&
               (!used.contains(each.what) || given.contains(each.what));
    });
    return config::Consents(context.home).require(report.project, std::move(requests));
}

Result<>
allow_given_secrets(const Context& context, const ResolvedRun& report, const RunRequest& request)
{
    config::Consents consents(context.home);
    for (const auto& name : given_secrets(request))
        TRY(consents.add(
            {ConsentKind::secret, config::project_name_in_consents(report.project), name}));
    return {};
}

Result<> require_consents(const Context& context, const RunSpec& spec, const Path& project)
{
    TRY(require_attached(context, spec));
    std::vector<Request> requests;
    if (spec.runtime.container) {
        auto arguments = spec.runtime.container->arguments;
        if (!spec.runtime.container->build_network.empty())
            arguments.push_back("--network=" + spec.runtime.container->build_network);
        requests = TRY(config::docker_requests(arguments));
    }
    for (const auto& name : secret_names(spec))
        requests.push_back({ConsentKind::secret, name, {}});
    if (const auto& folder = spec.runtime.named_shared_directory; !folder.empty())
        requests.push_back({ConsentKind::folder, folder, {}});
    return config::Consents(context.home).require(project, std::move(requests));
}

}  // namespace ponk::engine
