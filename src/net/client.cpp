// SPDX-License-Identifier: Apache-2.0
#include "net/client.hpp"

#include "base/version.hpp"

#include <fmt/format.h>

namespace ponk::net {

namespace {

Headers own_headers()
{
    return {{"Host", "ponk"}, {"Ponk-Version", std::string(own_version())}};
}

}  // namespace

Client::Client(os::Path socket) : http_(std::move(socket), "the daemon") {}

Result<Reply> Client::call(std::string_view method,
                           const std::string& target,
                           const std::string& body,
                           Deadline deadline,
                           std::stop_token stop)
{
    Call call{
        .method = std::string(method), .target = target, .headers = own_headers(), .body = body};
    call.headers.emplace_back("Content-Type", "application/json");
    return http_.exchange(call, {}, until(deadline), std::move(stop));
}

Result<Reply> Client::stream(const std::string& target,
                             const Sink& sink,
                             std::chrono::milliseconds quiet_limit,
                             std::stop_token stop)
{
    const Call call{.target = target, .headers = own_headers()};
    return http_.exchange(call, sink, while_moving(quiet_limit), std::move(stop));
}

Error error_of(const Reply& reply)
{
    const auto body = parse_json(reply.body);
    if (body && (*body)["error"].is_object()) {
        const auto& error = (*body)["error"];
        return {error_kind_from(error.text("kind")), error.text("message"), error.text("hint")};
    }
    return {ErrorKind::internal, fmt::format("the daemon answered with status {}", reply.status)};
}

Result<Json> Client::json(std::string_view method,
                          const std::string& target,
                          const Json& body,
                          Deadline deadline,
                          std::stop_token stop)
{
    const auto reply =
        TRY(call(method, target, body.is_null() ? std::string() : to_json(body), deadline, stop));
    if (reply.status >= 400) return tl::unexpected(error_of(reply));
    return parse_json(reply.body, {.values = JsonLimits::any_number})
        .map_error(while_doing("the daemon's answer"));
}

}  // namespace ponk::net
