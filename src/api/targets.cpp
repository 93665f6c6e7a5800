// SPDX-License-Identifier: Apache-2.0
#include "api/handlers.hpp"
#include "engine/check_target.hpp"

#include <unistd.h>

namespace ponk::api {

namespace {

// Without one of its own, a client asks in the environment that the daemon was started in.
std::vector<std::string> environment_of(const Json& body)
{
    std::vector<std::string> words;
    if (const auto& list = body["environment"]; list.is_array()) {
        for (const auto& item : list.as_array()) {
            if (item.is_string()) words.push_back(item.as_string());
        }
        return words;
    }
    for (char** word = environ; *word; ++word)
        words.emplace_back(*word);
    return words;
}

}  // namespace

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
