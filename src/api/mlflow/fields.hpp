// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/fields.hpp"

namespace ponk::api::mlflow {

using ponk::mlflow::Fields;

}  // namespace ponk::api::mlflow
