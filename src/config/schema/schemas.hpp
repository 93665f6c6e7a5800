// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"

// The keys of every kind of file. docs/design/configuration.md says what each means.
namespace ponk::config {

const Schema& compute_schema();
const Schema& flat_run_schema();
const Schema& nested_run_schema();
const Schema& conda_schema();
const Schema& spark_schema();
const Schema& base_dependencies_schema();
const Schema& project_schema();
const Schema& mlproject_schema();

}  // namespace ponk::config
