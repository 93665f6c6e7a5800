// SPDX-License-Identifier: Apache-2.0
#include "net/message.hpp"

#include "base/text.hpp"

namespace ponk::net {

std::optional<std::string> Request::parameter(std::string_view name) const
{
    for (const auto& [key, value] : query) {
        if (key == name) return value;
    }
    return std::nullopt;
}

std::string Request::header(std::string_view name) const
{
    for (const auto& [key, value] : headers) {
        if (same_ignoring_case(key, name)) return value;
    }
    return {};
}

Response json_response(const Json& value, int status)
{
    Response response;
    response.status = status;
    response.body = to_json(value) + "\n";
    return response;
}

Response error_response(const Error& error)
{
    return error_response(error, status_of(error.kind()));
}

Response error_response(const Error& error, int status)
{
    return json_response(JsonObject{{"error",
                                     JsonObject{{"kind", to_string(error.kind())},
                                                {"message", error.message()},
                                                {"hint", error.hint()}}}},
                         status);
}

int status_of(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::invalid_argument:
        return 400;
    case ErrorKind::not_found:
        return 404;
    case ErrorKind::conflict:
    case ErrorKind::cancelled:
        return 409;
    case ErrorKind::unavailable:
    case ErrorKind::unreachable:
        return 503;
    case ErrorKind::timeout:
        return 504;
    case ErrorKind::damaged:
    case ErrorKind::internal:
        return 500;
    }
    return 500;
}

}  // namespace ponk::net
