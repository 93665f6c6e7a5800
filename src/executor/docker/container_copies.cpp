// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_copies.hpp"

#include "dockerapi/container.hpp"
#include "executor/docker/copied_tree.hpp"
#include "executor/docker/run_image.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/working_copy.hpp"

namespace ponk::executor::docker {

namespace {

using dockerapi::Engine;

// Somebody changes the tree in the container, or is about to. A run that was lost left no record,
// and its files all the same.
Result<bool> is_at_work(const Engine& engine,
                        const std::string& run,
                        const RunDirectory& directory,
                        const std::stop_token& stop)
{
    if (is_locked(directory.task()) || is_monitor_alive(directory.task())) return true;
    const auto container = TRY(find_container(engine, run, after(patience), stop));
    return container && !container->is_over();
}

}  // namespace

Result<std::optional<Digest>> ContainerCopies::fetch(const std::string& handle,
                                                     const RunDirectory& directory,
                                                     std::stop_token stop)
{
    const auto note = TRY(notes_.find(handle));
    if (!note || note->tree != Container::Tree::copied) return std::nullopt;
    const auto engine = TRY(Engine::connect(note->socket, after(patience), stop));
    const SealedFiles files(directory.task(), keys_.of(handle));
    if (!TRY(files.find(control::exit)) && TRY(is_at_work(engine, handle, directory, stop))) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    "the run's files are in its container ('sharedVolumes: "
                                    "false') and are copied after its end",
                                    "Wait for its end, or cancel it."));
    }
    const auto tree = TRY(copy_tree_home(engine, handle, directory, stop));
    return TRY(trees_.store(tree.root(), stop)).outputs;
}

bool ContainerCopies::may_have_outputs(const RunDirectory& directory) const
{
    // What was copied is in the container, and any other is removed once its outputs are stored.
    const auto note = notes_.find(directory.name());
    return !note || *note || has_outputs(directory);
}

}  // namespace ponk::executor::docker
