// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// What is known of Python's modules without asking a Python.
namespace ponk::config {

// Part of a Python that people still use, 3.5 to 3.13: it needs no installation.
bool is_in_standard_library(std::string_view module);
// Comes with ponk: "azureml.logging", "azureml.core.Run".
bool is_in_every_run(std::string_view name);
// What people install to import the module: "scikit-learn" for "sklearn.svm".
std::string distribution_of(std::string_view module);

}  // namespace ponk::config
