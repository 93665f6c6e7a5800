// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::store {

Result<std::optional<RunPlace>> Tracking::find_place(const RunId& id) const
{
    return history_.impl_->database->read(
        [&](db::Connection& reader) -> Result<std::optional<RunPlace>> {
            auto statement =
                TRY(reader.prepare("SELECT project.row, project.location, run.deleted FROM run "
                                   "JOIN project ON project.row = run.project WHERE run.id = ?"));
            statement.bind(id.text());
            if (!TRY(statement.step())) return std::optional<RunPlace>();
            return std::optional(RunPlace{
                statement.integer(0), std::string(statement.text(1)), statement.integer(2) != 0});
        });
}

}  // namespace ponk::store
