// SPDX-License-Identifier: Apache-2.0
#include "api/http/project_access.hpp"

#include "base/text.hpp"

namespace ponk::api {

std::optional<Refusal> find_refusal(const Services& services,
                                    const net::Request& request,
                                    const store::Experiment& experiment)
{
    if (experiment.kind == store::Experiment::Kind::client) return std::nullopt;
    auto refusal = find_refusal(services.known(), request, Permission::administer);
    if (!refusal) return std::nullopt;
    const auto& error = refusal->error;
    refusal->error = Error(error.kind(),
                           "the experiment '" + printable(experiment.name) +
                               "' is the project of a folder: " + error.message(),
                           error.hint());
    return refusal;
}

}  // namespace ponk::api
