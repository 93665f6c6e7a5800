// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "store/records.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

// What is exported: docs/design/history-lines.md.
struct ExportScope {
    std::optional<RunId> run = std::nullopt;  // this one's line alone
    std::string project = {};                 // its id; empty: everything, with the registry
};

// The lines of an export in pieces: a run may have more points than there is memory. What is no
// point comes whole, as large as clients made it, so each piece is charged (`charge_answer`) before
// it is appended, and nothing of it is kept between two calls. Experiments first, then runs from
// the oldest on, each read in a moment of its own, then models. One thread at a time; the history
// must outlive it.
class ExportLines {
public:
    ExportLines(const History& history, ExportScope scope);

    // Appends the next bytes; false when there are no more. `unavailable` when there is no room for
    // them: nothing was appended, and the next call tries again.
    Result<bool> next(std::string& out);

private:
    enum class Part { begin, experiments, runs, models, registry, end };

    Result<> list();
    Result<> add_experiment(std::string& out);
    Result<> begin_run(std::string& out);
    Result<> go_on(std::string& out);
    Result<> end_run(std::string& out);
    Result<> add_points(std::string& out);
    Result<> add_model(std::string& out);
    Result<> add_registered(std::string& out);

    const History& history_;
    ExportScope scope_;
    Part part_ = Part::begin;
    std::deque<std::int64_t> experiments_;
    std::deque<RunId> runs_;
    std::deque<std::string> models_;
    std::deque<std::string> registered_;
    // Of the run whose line is open.
    std::optional<RunId> open_;
    std::deque<LatestMetric> keys_;
    std::optional<std::string> last_key_;
    bool all_keys_ = false;
    bool first_key_ = true;
    std::optional<LatestMetric> key_;
    std::int64_t given_ = 0;  // points of that key
};

}  // namespace ponk::store
