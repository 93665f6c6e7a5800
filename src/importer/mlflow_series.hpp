// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/store_files.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::importer {

// One line "TIME VALUE [STEP …]" of a metric's file.
struct MetricLine {
    std::int64_t time = 0;
    double value = 0;
    std::int64_t step = 0;
    std::vector<std::string_view> rest;  // behind the step
};

using OnMetric = std::function<Result<>(const MetricLine& line)>;

// Reads a metric's file of an MLflow file store. `invalid_argument` names file, line and column.
Result<> read_series(const StoreFiles& files, const std::string& path, const OnMetric& on_line);

}  // namespace ponk::importer
