// SPDX-License-Identifier: Apache-2.0
#include "api/http/error_shape.hpp"

#include "net/target.hpp"

namespace ponk::api {

namespace {

// Clients decide by this word whether to try again, to go another way, or to give up.
std::string_view code_of(const Error& error, int status)
{
    switch (status) {
    case 401:
        return "UNAUTHENTICATED";
    case 403:
        return "PERMISSION_DENIED";
    case 404:
        return "RESOURCE_DOES_NOT_EXIST";
    case 405:
        return "ENDPOINT_NOT_FOUND";
    case 409:
        return "RESOURCE_CONFLICT";
    case 429:
        return "RESOURCE_EXHAUSTED";
    case 503:
    case 504:
        return "TEMPORARILY_UNAVAILABLE";
    default:
        break;
    }
    return status < 500 || error.kind() == ErrorKind::invalid_argument ? "INVALID_PARAMETER_VALUE"
                                                                       : "INTERNAL_ERROR";
}

// As much of an address as tells whose it is: with one slash where several stand, which no route
// has, and without the host that a proxy is told.
std::string plain_beginning(std::string_view target)
{
    constexpr std::size_t enough = 64;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        target.remove_prefix(scheme.size());
        target.remove_prefix(std::min(target.find('/'), target.size()));
    }
    std::string plain;
    for (const char c : target) {
        if (plain.size() == enough) break;
        if (c != '/' || !plain.ends_with('/')) plain += c;
    }
    return plain;
}

bool is_artifact_address(std::string_view target)
{
    const auto address = plain_beginning(target);
    return address.starts_with("/api/2.0/mlflow-artifacts/") ||
           address.starts_with("/ajax-api/2.0/mlflow-artifacts/");
}

}  // namespace

bool is_mlflow_address(std::string_view target)
{
    const auto address = plain_beginning(target);
    for (const std::string_view beginning : {"/api/2.0/",
                                             "/api/3.0/",
                                             "/ajax-api/",
                                             "/get-artifact",
                                             "/model-versions/",
                                             "/v1/traces",
                                             "/graphql"}) {
        if (address.starts_with(beginning)) return true;
    }
    return false;
}

net::Response mlflow_error(std::string_view code, std::string_view message, int status)
{
    return net::json_response(JsonObject{{"error_code", code}, {"message", message}}, status);
}

net::Response error_answer(std::string_view target, const Error& error, int status)
{
    if (!is_mlflow_address(target)) return net::error_response(error, status);
    // What cannot be an address cannot be an artifact's: clients compare these words.
    if (status == 400 && is_artifact_address(target) && !net::parse_target(target))
        return mlflow_error(code_of(error, status), "Invalid path", status);
    const auto text =
        error.hint().empty() ? error.message() : error.message() + ". " + error.hint();
    return mlflow_error(code_of(error, status), text, status);
}

net::Response error_answer(std::string_view target, const Error& error)
{
    return error_answer(target, error, net::status_of(error.kind()));
}

}  // namespace ponk::api
