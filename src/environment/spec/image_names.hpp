// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// How environments are named on a container engine and inside of its images.
namespace ponk::environment {

constexpr const char* environment_label = "ponk.environment";
constexpr const char* base_label = "ponk.base";
constexpr const char* builder_label = "ponk.builder";
constexpr const char* image_prefix = "/opt/ponk/env";
// Where the steps of a build see what they need; their commands name it.
constexpr const char* build_mount = "/ponk-build/";
constexpr const char* image_lock = "/opt/ponk/lock.json";

inline std::string image_tag(const std::string& key)
{
    return "ponk-env:" + key;
}

// While something is built on an image that is known by its id or digest only.
inline std::string base_tag(const std::string& word)
{
    return "ponk-base:" + word;
}

}  // namespace ponk::environment
