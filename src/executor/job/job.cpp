// SPDX-License-Identifier: Apache-2.0
#include "executor/job/job.hpp"

#include "os/variables.hpp"

#include <algorithm>

namespace ponk::executor {

model::Variables variables_of(const Job& job)
{
    model::Variables out;
    for (const auto& [name, value] : job.spec.program.variables) {
        const auto secret = model::secret_reference(value);
        const auto is_it = [&](const auto& known) { return secret && known.first == *secret; };
        const auto found = std::ranges::find_if(job.context.secrets, is_it);
        out.emplace_back(name, found == job.context.secrets.end() ? value : found->second);
    }
    // What `ponk.run` tells the script. A run that a script submits must not take over its
    // parent's.
    out.emplace_back("PONK_RUN_NAME", job.spec.name);
    out.emplace_back("PONK_PROJECT_ID", job.spec.project);
    return out;
}

HostAddress host_of(const Job& job)
{
    if (job.spec.location.kind != model::Location::Kind::host) return {};
    return {job.spec.location.host,
            os::variable(job.context.submitter_environment, "SSH_AUTH_SOCK")};
}

}  // namespace ponk::executor
