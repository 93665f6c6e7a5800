// SPDX-License-Identifier: Apache-2.0
#include "engine/run/trim_copies.hpp"

#include "executor/run_directory/leftovers.hpp"
#include "executor/run_directory/working_copy.hpp"
#include "model/run_spec.hpp"
#include "model/run_state.hpp"
#include "os/directory.hpp"

#include <optional>

namespace ponk::engine {

namespace {

// nullopt where the copy must be left alone: it is in a container or on another machine, or
// processes of the run may still use it.
std::optional<executor::Leftovers> find_leftovers(const Context& context, const model::Run& run)
{
    const auto spec = model::parse_run_spec(run.configuration);
    if (!spec || spec->location.kind != model::Location::Kind::here ||
        run.evidence.integer("unkillable") > 0)
        return std::nullopt;
    const auto& container = spec->runtime.container;
    if (container && container->tree != model::Container::Tree::mounted) return std::nullopt;
    const auto directory = context.run_directory(run.id);
    const auto staged = executor::staged_time(directory);
    Digest snapshot{};
    if (!staged || !parse_digest(run.snapshot, snapshot)) return std::nullopt;
    const auto before = context.objects.read_manifest(snapshot);
    if (!before) return std::nullopt;
    std::vector<std::string> inputs;
    for (const auto& input : spec->inputs)
        inputs.push_back(input.path);
    auto found = executor::find_leftovers(directory.work(), *before, inputs, *staged);
    if (!found) return std::nullopt;
    return std::move(*found);
}

}  // namespace

Result<std::size_t> trim_copies(const Context& context, const std::stop_token& stop)
{
    std::size_t trimmed = 0;
    for (const auto& entry : TRY(os::list_directory(context.home / "runs"))) {
        if (stop.stop_requested()) break;
        const auto id = RunId::parse(entry.name);
        if (!id || !executor::staged_time(context.run_directory(*id))) continue;
        const auto run = TRY(context.history.find_run(*id));
        if (!run || !model::is_terminal(run->state)) continue;
        const auto directory = context.run_directory(*id);
        // Until its processes have ended, some may be left.
        const bool ended = run->state != model::RunState::lost;
        if (const auto found = ended ? find_leftovers(context, *run) : std::nullopt) {
            executor::remove_unchanged(directory.work(), *found);
            ++trimmed;
        }
        executor::note_trimmed(directory);
    }
    return trimmed;
}

}  // namespace ponk::engine
