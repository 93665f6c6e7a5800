// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/container.hpp"
#include "dockerapi/image.hpp"
#include "environment/prepare.hpp"
#include "executor/job/job.hpp"
#include "executor/supervisor/embedded.hpp"

namespace ponk::executor::docker {

struct DescribedContainer {
    dockerapi::ContainerSpec spec;
    std::string program;        // what the supervisor executes in it
    std::string other_program;  // when that is not there
    std::vector<std::string> argv;
    std::string environment;  // of the script: words ended by NUL; never given to the engine
};

// The container of a run: what it executes, what is mounted, as whom, under which limits.
// `prepared` is what the image contains besides what its maker put there; may be null.
Result<DescribedContainer> describe_container(const Job& job,
                                              const dockerapi::Image& image,
                                              const environment::Prepared* prepared,
                                              const dockerapi::Info& engine,
                                              const Installed& installed);

// Writes what the supervisor reads when the container starts; `key` is for the seals of what it
// writes.
Result<>
write_control_files(const Job& job, const DescribedContainer& container, const std::string& key);

}  // namespace ponk::executor::docker
