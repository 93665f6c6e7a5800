// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <string_view>

// Bytes that are not UTF-8 are in our JSON as U+DC80 to U+DCFF, each half of a surrogate pair.
// MLflow's clients cannot read these: one would hide from them everything in the same answer.
namespace ponk::mlflow {

// Whether a text in this JSON has one.
bool has_lone_surrogate(std::string_view json);

// An answer with U+FFFD in their places.
net::Response without_lone_surrogates(net::Response response);

}  // namespace ponk::mlflow
