// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/event_row.hpp"
#include "store/rows/run_row.hpp"

#include <algorithm>

namespace ponk::store {

using model::Run;
using model::RunState;

namespace {

template <class T>
void take(const std::optional<T>& from, T& to)
{
    if (from) to = *from;
}

void apply(const RunChange& change, Run& run)
{
    take(change.name, run.name);
    if (change.exit_code) run.exit_code = change.exit_code;
    if (change.error) run.error = change.error;
    take(change.target_type, run.target_type);
    take(change.framework, run.framework);
    take(change.started, run.started);
    take(change.ended, run.ended);
    take(change.snapshot, run.snapshot);
    take(change.outputs, run.outputs);
    take(change.job, run.job);
    take(change.hidden, run.hidden);
    take(change.cancel_requested, run.cancel_requested);
    for (const auto& [phase, span] : change.timings)
        run.timings[phase] = span;
    take(change.git, run.git);
    take(change.configuration, run.configuration);
    take(change.evidence, run.evidence);
    take(change.environment, run.environment);
    take(change.gpu, run.gpu);
    for (const auto& warning : change.warnings) {
        if (std::find(run.warnings.begin(), run.warnings.end(), warning) == run.warnings.end())
            run.warnings.push_back(warning);
    }
}

}  // namespace

Result<Run>
History::update_state(const RunId& id, RunState from, RunState to, const RunChange& change)
{
    return update_state(id, from, std::vector{to}, change);
}

Result<Run> History::update_state(const RunId& id,
                                  RunState from,
                                  const std::vector<RunState>& path,
                                  const RunChange& change)
{
    std::int64_t row = 0;
    const auto change_state = [&](db::Connection& writer) -> Result<Run> {
        auto stored = TRY(get_stored_run(writer, id));
        row = stored.row;
        if (stored.run.state != from) {
            return fail(ErrorKind::conflict,
                        "run '{}' is {}, not {}",
                        id.text(),
                        model::to_string(stored.run.state),
                        model::to_string(from));
        }
        for (const auto to : path) {
            TRY(model::check_transition(stored.run.state, to)
                    .map_error(while_doing("run '{}'", id.text())));
            stored.run.state = to;
            TRY(insert_event(writer, stored.row, "state", model::to_string(to)));
        }
        apply(change, stored.run);
        TRY(overwrite_run(writer, stored));
        return std::move(stored.run);
    };
    auto run = TRY(impl_->database->write(db::Durability::disk, change_state));
    // Its points are stored in any case, and the next compaction tries again.
    if (model::is_terminal(run.state)) static_cast<void>(impl_->compact(row));
    return run;
}

Result<Run> History::update_run(const RunId& id, const RunChange& change)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<Run> {
        auto stored = TRY(get_stored_run(writer, id));
        apply(change, stored.run);
        TRY(overwrite_run(writer, stored));
        return std::move(stored.run);
    });
}

}  // namespace ponk::store
