// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::engine {

// Advice for a script that failed on a module or a name which its package no longer has. `log` is
// the end of the run's log.
std::optional<std::string> advise_on_old_names(std::string_view log, const model::RunSpec& spec);

}  // namespace ponk::engine
