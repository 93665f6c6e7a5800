// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What died since 2017, and what takes its place. Told before anything is built; never a reason to
// refuse a file.
namespace ponk::config {

struct Retired {
    std::string_view name;
    std::string_view what;     // completes "the package 'x' …"
    std::string_view instead;  // a sentence of advice
    // Its replacement when the user asks for substitutions; empty where only a person can
    // choose, `nothing` where the line goes.
    std::string_view substitute = {};
    bool installs = false;         // still there to be installed, though nobody should
    std::string_view module = {};  // of a Spark package: what scripts import that need it

    static constexpr std::string_view nothing = "-";
};

// `name` in the form of Package::name: lower case with dashes.
const Retired* find_retired_package(std::string_view name);
const Retired* find_retired_image(std::string_view image);
// By the host of the address.
const Retired* find_retired_host(std::string_view url);
// By group and artifact, "group:artifact".
const Retired* find_retired_spark_package(std::string_view coordinate);

// A name of Python's standard library, which nobody can or must install.
bool is_standard_module(std::string_view name);
// The distribution that people mean by the name of its import ("sklearn"), or empty.
std::string_view distribution_for_import(std::string_view name);

}  // namespace ponk::config
