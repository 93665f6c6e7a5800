// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/error.hpp"

namespace ponk::api::mlflow {

using ponk::mlflow::already_exists;
using ponk::mlflow::endpoint_not_found;
using ponk::mlflow::invalid_state;
using ponk::mlflow::not_implemented;
using ponk::mlflow::refuse;

}  // namespace ponk::api::mlflow
