// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/container.hpp"
#include "executor/job/run_directory.hpp"

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

// `sharedVolumes: false`: the tree lives inside the container. It is copied in before the start and
// its outputs are copied out after the end, never while the container runs.
namespace ponk::executor::docker {

using os::Path;

// Copies `work/` of the run directory into the container that was created but not started, where
// all of it belongs to the user as whom the container runs.
Result<> copy_tree_in(const dockerapi::Engine& engine,
                      const dockerapi::ContainerSpec& container,
                      const RunDirectory& directory,
                      std::stop_token stop);

// Brings `outputs/` back to `work/outputs` of the run directory; repeating it is harmless. Returns
// what was left out, by name: pipes, devices and sockets.
Result<std::vector<std::string>> copy_outputs_home(const dockerapi::Engine& engine,
                                                   const std::string& container,
                                                   const RunDirectory& directory,
                                                   std::stop_token stop);

// A copy of the tree that a run left in its container; gone with this.
class CopiedTree {
public:
    explicit CopiedTree(Path folder) : folder_(std::move(folder)) {}
    ~CopiedTree();
    CopiedTree(CopiedTree&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
    CopiedTree& operator=(CopiedTree&&) = delete;

    [[nodiscard]] Path root() const;

private:
    Path folder_;
};

// Copies all of the tree to a new folder of the run directory, which has nothing else beside it.
// `not_found` when there is no such container.
Result<CopiedTree> copy_tree_home(const dockerapi::Engine& engine,
                                  const std::string& container,
                                  const RunDirectory& directory,
                                  std::stop_token stop);

// Removes what calls that were killed left behind.
Result<> remove_unfinished_copies(const RunDirectory& directory);

}  // namespace ponk::executor::docker
