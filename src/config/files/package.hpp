// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::config {

enum class Installer { conda, pip };

// Takes one item of a dependency list apart.
Package parse_package(std::string_view text, Place place, Installer installer);

// The tags of a wheel's file name: "cntk-2.1-cp35-cp35m-linux_x86_64.whl".
struct WheelTags {
    std::string name;
    std::string version;
    std::string python;
    std::string abi;
    std::string platform;
};
// Absent when the path or address names no wheel.
std::optional<WheelTags> wheel_tags(std::string_view address);
bool wheel_fits_python(const WheelTags& tags, std::string_view python_version);
bool wheel_fits_linux(const WheelTags& tags);

// Remarks about one package: names that died or were never packages, addresses that expired, items
// that the installer cannot read.
void check_package(const Package& package, Installer installer, Report& report);

}  // namespace ponk::config
