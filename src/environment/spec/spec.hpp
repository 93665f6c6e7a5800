// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "environment/spec/package_request.hpp"

#include <string>

namespace ponk::environment {

// prefix: a folder on the machine where runs execute; image: for container engines.
enum class Form { prefix, image };

const char* to_string(Form form);

// Everything that decides what an environment holds. docs/design/environments.md describes how it
// becomes a key.
struct EnvironmentSpec {
    Form form = Form::prefix;
    std::string platform;  // "linux-64", "linux-aarch64"
    // Its base: the image's digest, or the interpreter of a venv; empty for a conda
    // prefix, which brings its own.
    std::string base;
    PackageRequest packages;
    std::string lock_digest;  // when it is built from a lock; else empty
};

// The platform's conda name of an architecture ("x86_64", "amd64", "arm64"…).
std::string conda_platform(std::string_view architecture);
std::string this_platform();

// The canonical form, without secrets: equal specs give equal bytes.
Json describe(const EnvironmentSpec& spec);
// 32 hex digits: the first half of the canonical form's SHA-256.
std::string key_of(const EnvironmentSpec& spec);
bool is_key(std::string_view text);

// What changed between two canonical forms, for people: "the pip list changed: added
// 'numpy==1.26', removed 'numpy==1.25'"; empty when nothing did.
std::string describe_change(const Json& before, const Json& after);

}  // namespace ponk::environment
