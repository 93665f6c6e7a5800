// SPDX-License-Identifier: Apache-2.0
#include "api/http/route.hpp"

namespace ponk::api {

mode_t umask_of(const Json& body)
{
    return static_cast<mode_t>(body.integer("umask", 022)) & 0777U;
}

Result<Json> body_of(const Call& call)
{
    if (call.request.body.empty()) return Json(JsonObject());
    auto body = TRY(
        parse_json(call.request.body, {.values = 250'000}).map_error(while_doing("request body")));
    if (!body.is_object()) return fail(ErrorKind::invalid_argument, "request body: not an object");
    return body;
}

Result<RunId> run_of(const Services& services, const Call& call)
{
    return services.history().resolve_run(call.variables.at(0),
                                          call.request.parameter("project").value_or(""));
}

}  // namespace ponk::api
