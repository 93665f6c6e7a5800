// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "executor/job/environment_report.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// The environments of all targets together.
namespace ponk::engine {

// Newest use first.
executor::EnvironmentList list_environments(const Context& context, const std::stop_token& stop);

struct FoundEnvironment {
    executor::Environments* environments = nullptr;  // of the executor that keeps it
    executor::EnvironmentEntry entry;
};
// What names this machine where a machine can be named.
inline constexpr std::string_view this_machine = "here";
// By its id or the beginning of one, on `machine` when that is not empty; fails when none or
// several match.
Result<FoundEnvironment> find_environment(const Context& context,
                                          const std::string& name,
                                          const std::string& machine,
                                          const std::stop_token& stop);
// The same among those `found`; `problems` are machines that could not be asked.
Result<FoundEnvironment> choose_environment(std::vector<FoundEnvironment> found,
                                            const std::string& name,
                                            const std::string& machine,
                                            const std::vector<std::string>& problems);

// PONK_ENV_KEEP_DAYS and PONK_ENV_KEEP_SIZE (bytes), as the daemon was started with them; 0
// switches one off. docs/design/environments.md has the defaults.
executor::EnvironmentRules environment_rules(const std::vector<std::string>& variables);

executor::EnvironmentGarbage collect_environments(const Context& context,
                                                  const executor::EnvironmentRules& rules,
                                                  const std::stop_token& stop);

}  // namespace ponk::engine
