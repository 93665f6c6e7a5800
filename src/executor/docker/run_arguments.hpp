// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "dockerapi/container.hpp"

#include <string>
#include <vector>

namespace ponk::executor::docker {

// Applies words of `docker run` (environment.docker.arguments of late 2018, `shmSize`) to the
// container. Words that would take it out of our hands (--rm, --name, --restart, --entrypoint, -d…)
// and words that are not known are errors that name them.
Result<> apply_run_arguments(const std::vector<std::string>& words, dockerapi::ContainerSpec& spec);

// "2g", "512m", "1.5GiB", "4096": bytes, as Docker counts them (k is 1024).
Result<std::int64_t> parse_byte_size(std::string_view text);

}  // namespace ponk::executor::docker
