// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/fields.hpp"
#include "query/search/filter.hpp"

#include <string_view>

namespace ponk::api::mlflow {

// What a field asks of traces; absent asks nothing.
Result<query::search::Filter> trace_filter_of(const ponk::mlflow::Fields& fields,
                                              std::string_view name);

}  // namespace ponk::api::mlflow
