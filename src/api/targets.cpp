// SPDX-License-Identifier: Apache-2.0
#include "api/asker.hpp"
#include "api/handlers.hpp"
#include "engine/check_target.hpp"

namespace ponk::api {

Result<net::Response> check_target(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const os::Path project = body.text("project");
    if (!project.is_absolute())
        return fail(ErrorKind::invalid_argument, "'project' must be an absolute path");
    return net::json_response(TRY(engine::check_target(
        services.context(), project, body.text("target", "local"), environment_of(body), {})));
}

}  // namespace ponk::api
