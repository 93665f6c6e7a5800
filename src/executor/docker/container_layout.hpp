// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/run_directory.hpp"

// Where a run finds its things inside its container. `/azureml-share/` is the predecessor's name,
// on which scripts rely.
namespace ponk::executor::docker::layout {

constexpr const char* tree = RunDirectory::work_in_container;
constexpr const char* shared = "/azureml-share";
constexpr const char* control = "/.ponk/run";
constexpr const char* home = "/.ponk/run/home";
constexpr const char* stub = "/.ponk/stub";
constexpr const char* relay = "/.ponk/relay";
constexpr const char* python_modules = "/.ponk/python";

// Labels of a container of ours.
constexpr const char* run_label = "ponk.run";
constexpr const char* token_label = "ponk.token";

}  // namespace ponk::executor::docker::layout
