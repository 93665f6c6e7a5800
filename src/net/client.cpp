// SPDX-License-Identifier: Apache-2.0
#include "net/client.hpp"

#include "base/version.hpp"

#include <fmt/format.h>

namespace ponk::net {

Client::Client(os::Path socket)
    : peer_("the daemon"), http_(std::move(socket), peer_), headers_{{"Host", "ponk"}}
{
}

Client::Client(Dial dial, std::string peer, std::string host, Headers headers)
    : peer_(std::move(peer)), http_(std::move(dial), peer_), headers_(std::move(headers))
{
    headers_.emplace_back("Host", std::move(host));
}

Headers Client::headers() const
{
    Headers all = headers_;
    all.emplace_back("Ponk-Version", std::string(own_version()));
    return all;
}

Result<Reply> Client::call(std::string_view method,
                           const std::string& target,
                           const std::string& body,
                           Deadline deadline,
                           std::stop_token stop)
{
    Call call{.method = std::string(method), .target = target, .headers = headers(), .body = body};
    call.headers.emplace_back("Content-Type", "application/json");
    return http_.exchange(call, {}, until(deadline), std::move(stop));
}

Result<Reply> Client::stream(const std::string& target,
                             const Sink& sink,
                             std::chrono::milliseconds quiet_limit,
                             std::stop_token stop)
{
    const Call call{.target = target, .headers = headers()};
    return http_.exchange(call, sink, while_moving(quiet_limit), std::move(stop));
}

Error error_of(const Reply& reply, std::string_view peer)
{
    const auto body = parse_json(reply.body);
    if (body && (*body)["error"].is_object()) {
        const auto& error = (*body)["error"];
        return {error_kind_from(error.text("kind")), error.text("message"), error.text("hint")};
    }
    return {ErrorKind::internal, fmt::format("{} answered with status {}", peer, reply.status)};
}

Result<Json> Client::json(std::string_view method,
                          const std::string& target,
                          const Json& body,
                          Deadline deadline,
                          std::stop_token stop)
{
    const auto reply =
        TRY(call(method, target, body.is_null() ? std::string() : to_json(body), deadline, stop));
    if (reply.status >= 400) return tl::unexpected(error_of(reply, peer_));
    return parse_json(reply.body, {.values = JsonLimits::any_number})
        .map_error(while_doing("the answer of {}", peer_));
}

}  // namespace ponk::net
