// SPDX-License-Identifier: Apache-2.0
#include "api/native/asker.hpp"
#include "api/native/handlers.hpp"
#include "engine/maintenance/look_at_target.hpp"

namespace ponk::api {

namespace {

using Look = Result<Json>(const engine::Context&,
                          const engine::TargetRequest&,
                          const std::stop_token&);

Result<net::Response> look(const Services& services, const Call& call, Look* with)
{
    const auto body = TRY(body_of(call));
    const os::Path project = body.text("project");
    if (!project.is_absolute())
        return fail(ErrorKind::invalid_argument, "'project' must be an absolute path");
    const engine::TargetRequest request{
        project, body.text("target", "local"), environment_of(body)};
    return net::json_response(TRY(with(services.context(), request, {})));
}

}  // namespace

Result<net::Response> check_target(const Services& services, const Call& call)
{
    return look(services, call, engine::check_target);
}

Result<net::Response> list_gpus(const Services& services, const Call& call)
{
    return look(services, call, engine::list_gpus);
}

}  // namespace ponk::api
