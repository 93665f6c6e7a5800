// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// How environments are named on a container engine and inside of its images.
namespace ponk::environment {

constexpr const char* environment_label = "ponk.environment";
constexpr const char* base_label = "ponk.base";
constexpr const char* builder_label = "ponk.builder";
constexpr const char* image_prefix = "/opt/ponk/env";
constexpr const char* image_lock = "/opt/ponk/lock.json";

inline std::string image_tag(const std::string& key)
{
    return "ponk-env:" + key;
}

}  // namespace ponk::environment
