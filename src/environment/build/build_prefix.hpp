// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/spec/lock.hpp"
#include "environment/spec/spec.hpp"
#include "environment/tools/rattler.hpp"
#include "environment/tools/tools.hpp"

#include <optional>

namespace ponk::environment {

struct BuiltPrefix {
    Path prefix;
    Path interpreter;
    Lock lock;
};

// Builds an environment into `context.folder`, which is empty. With a lock exactly what it lists is
// installed, or nothing. What a failed build left is the caller's to remove.
Result<BuiltPrefix> build_prefix(const EnvironmentSpec& spec,
                                 const BuildPlan& plan,
                                 const std::optional<Lock>& lock,
                                 const BuildContext& context);

// Everything in the packages that must not be printed.
Redactor redactor_for(const PackageRequest& packages, const Settings& settings);

// Bytes that such an environment may take, roughly; more where packages are known to be large.
std::uint64_t space_needed(const PackageRequest& packages, const Settings& settings);
// Fails when the file system of `folder` has less.
Result<> check_space(const Path& folder, std::uint64_t needed);

}  // namespace ponk::environment
