// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "db/connection.hpp"
#include "model/run.hpp"

#include <optional>
#include <string>
#include <string_view>

// A run as a row of the table `run`: searched fields are columns, the rest is the JSON object
// `details`. Used inside transactions.
namespace ponk::store {

// What `read_run` expects; tags come from their own table.
extern const std::string_view select_runs;  // "SELECT … FROM run CROSS JOIN project …"

// A page ends early where its runs have very long texts: the next one goes on there.
inline constexpr std::size_t enough_text = std::size_t{16} << 20;

struct StoredRun {
    std::size_t bytes = 0;  // of its texts
    std::int64_t row = 0;
    model::Run run;
};

// The row that `statement`, begun with `select_runs`, stands on.
Result<StoredRun> read_run(db::Connection& connection, const db::Statement& statement);
Result<std::optional<StoredRun>> find_stored_run(db::Connection& connection, const RunId& id);
// `not_found` when absent.
Result<StoredRun> get_stored_run(db::Connection& connection, const RunId& id);
Result<std::int64_t> get_run_row(db::Connection& connection, const RunId& id);

// Whose a run is: a client's state changes as the client says, and the engine never looks at it.
enum class Origin { engine, client };
const char* to_string(Origin origin);

Result<bool> is_client_run(db::Connection& connection, std::int64_t row);

// The next number of the project, which nobody gets again.
Result<std::int64_t> next_run_number(db::Connection& writer, std::int64_t project_row);
// Inserts the run with the number it has; the project is known by row. Returns the run's row.
Result<std::int64_t> insert_run(db::Connection& connection,
                                std::int64_t project_row,
                                const model::Run& run,
                                Origin origin = Origin::engine);
// Writes every field but id, project and number.
Result<> overwrite_run(db::Connection& connection, const StoredRun& stored);

std::string reversed(std::string_view text);

}  // namespace ponk::store
