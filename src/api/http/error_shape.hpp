// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <string_view>

namespace ponk::api {

// Whether clients of MLflow ask at this address; they understand errors of their own shape only.
bool is_mlflow_address(std::string_view target);

// {"error_code": …, "message": …}
net::Response mlflow_error(std::string_view code, std::string_view message, int status);

// An error in the shape that the address asks for: {"error": {…}} of our own, or MLflow's.
net::Response error_answer(std::string_view target, const Error& error, int status);
// With the status of its kind.
net::Response error_answer(std::string_view target, const Error& error);

}  // namespace ponk::api
