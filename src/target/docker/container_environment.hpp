// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "environment/prepare.hpp"
#include "target/executor.hpp"

#include <optional>

namespace ponk::target::docker {

// The image with the packages that the run's conda file names, built when it is not there and the
// run allows it; nullopt when the run names none. The file is read from the run's own copy of the
// project.
Result<std::optional<environment::Prepared>>
container_environment(const Path& home,
                      const dockerapi::Engine& engine,
                      const std::optional<dockerapi::Login>& login,
                      const JobSpec& spec,
                      const Progress& progress,
                      std::stop_token stop);

}  // namespace ponk::target::docker
