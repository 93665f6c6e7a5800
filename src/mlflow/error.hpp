// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "net/message.hpp"

#include <string_view>

namespace ponk::mlflow {

// {"error_code": …, "message": …}: clients branch on the code.
net::Response refuse(int status, std::string_view code, std::string_view message);
// An error with the code that its kind has; the hint follows the message.
net::Response refuse(const Error& error);

// Codes without a kind of error.
inline constexpr std::string_view already_exists = "RESOURCE_ALREADY_EXISTS";  // 400
inline constexpr std::string_view endpoint_not_found = "ENDPOINT_NOT_FOUND";   // 404
inline constexpr std::string_view invalid_state = "INVALID_STATE";             // 500
inline constexpr std::string_view not_implemented = "NOT_IMPLEMENTED";         // 501

}  // namespace ponk::mlflow
