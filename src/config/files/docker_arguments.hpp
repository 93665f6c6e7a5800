// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <vector>

// Words of `docker run` as project files have them (environment.docker.arguments of late 2018).
namespace ponk::config {

struct DockerArgument {
    std::string option;  // its long form: "--volume"
    std::string value;   // empty where it takes none

    // "--volume=/data:/data": one word, the same however the file writes it.
    [[nodiscard]] std::string text() const { return value.empty() ? option : option + "=" + value; }
};

// Options with their values. Those without effect on a run (-i, --tty …) are left out. Which
// options there are is not known here: each that is not known to take no value takes one.
Result<std::vector<DockerArgument>> parse_docker_arguments(const std::vector<std::string>& words);

// Whether it gives the container something of the machine that other containers do not have: its
// files, devices, rights or namespaces.
bool reaches_host(const DockerArgument& argument);

}  // namespace ponk::config
