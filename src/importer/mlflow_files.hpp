// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/source.hpp"
#include "os/file.hpp"

#include <memory>

namespace ponk::importer {

// The folder in which MLflow keeps runs without a database: "mlruns".
Result<std::unique_ptr<Source>> open_mlflow_files(const os::Path& folder,
                                                  const std::optional<os::Path>& artifacts);

}  // namespace ponk::importer
