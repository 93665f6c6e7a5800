// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "db/connection.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

// What somebody thinks of a trace, or of one of its spans.
struct Assessment {
    std::string id = {};  // made when it is empty
    std::string trace = {};
    std::string name = {};
    std::string kind = {};  // feedback, expectation, issue
    Json value = {};        // of an issue its name
    Json error = {};        // of feedback that could not be given; else null
    std::string source_type = {};
    std::string source = {};
    std::optional<std::string> span = std::nullopt;
    std::optional<std::string> rationale = std::nullopt;
    Pairs metadata = {};
    std::optional<std::string> overrides = std::nullopt;  // the id of the one that it replaces
    bool valid = true;                                    // not replaced
    std::int64_t created = 0;
    std::int64_t updated = 0;

    // Bytes of its texts.
    [[nodiscard]] std::size_t size() const;
};

// Absent: as it is.
struct AssessmentChange {
    std::optional<std::string> kind = std::nullopt;  // what `value` and `error` are about
    Json value = {};
    Json error = {};
    std::optional<std::string> name = std::nullopt;
    std::optional<std::string> rationale = std::nullopt;
    Pairs metadata = {};  // added to what is there
};

// Of one trace.
inline constexpr std::int64_t most_assessments = 1000;
inline constexpr std::int64_t most_assessment_bytes = std::int64_t{4} << 20;

// Assessments of traces. Safe to call from any thread; every write is durable on return, and of a
// call that fails nothing was stored. Errors are in MLflow's words. Those that a run made are not
// shown while the run is deleted.
class Assessments {
public:
    explicit Assessments(const History& history) : history_(history) {}

    Result<Assessment> add(const Assessment& assessment);
    Result<Assessment> get(const std::string& trace, const std::string& id) const;
    Result<Assessment>
    update(const std::string& trace, const std::string& id, const AssessmentChange& change);
    // What it replaced is valid again. One that is not there is gone already.
    Result<> remove(const std::string& trace, const std::string& id);

private:
    const History& history_;
};

// What a deleted run thought of a trace is set aside with it: a condition about `assessment`.
inline constexpr std::string_view assessment_is_shown =
    "NOT EXISTS (SELECT 1 FROM run WHERE run.id = assessment.run AND run.deleted <> 0)";

// Inside transactions, by the row of the trace; in the order of their making.
Result<std::vector<Assessment>>
read_assessments(db::Connection& connection, std::int64_t trace, const std::string& trace_id);
// Replaces one of the same id.
Result<> put_assessment(db::Connection& writer, std::int64_t trace, const Assessment& assessment);

}  // namespace ponk::store
