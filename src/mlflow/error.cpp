// SPDX-License-Identifier: Apache-2.0
#include "mlflow/error.hpp"

namespace ponk::mlflow {

namespace {

struct Answer {
    int status;
    std::string_view code;
};

Answer answer_of(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::invalid_argument:
        return {400, "INVALID_PARAMETER_VALUE"};
    case ErrorKind::not_found:
        return {404, "RESOURCE_DOES_NOT_EXIST"};
    case ErrorKind::conflict:
        return {400, already_exists};
    case ErrorKind::unavailable:
    case ErrorKind::unreachable:
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
        return {503, "TEMPORARILY_UNAVAILABLE"};
    case ErrorKind::damaged:
    case ErrorKind::internal:
        break;
    }
    return {500, "INTERNAL_ERROR"};
}

}  // namespace

net::Response refuse(int status, std::string_view code, std::string_view message)
{
    auto response =
        net::json_response(JsonObject{{"error_code", code}, {"message", message}}, status);
    // Clients wait so long before they ask again.
    if (status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

net::Response refuse(const Error& error)
{
    const auto answer = answer_of(error.kind());
    auto message = error.message();
    if (!error.hint().empty()) message += ". " + error.hint();
    return refuse(answer.status, answer.code, message);
}

}  // namespace ponk::mlflow
