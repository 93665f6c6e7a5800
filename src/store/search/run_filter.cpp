// SPDX-License-Identifier: Apache-2.0
#include "store/search/run_filter.hpp"

#include "model/run_words.hpp"
#include "store/rows/run_row.hpp"

namespace ponk::store {

namespace {

std::string conditions(const RunFilter& filter)
{
    // Always one, so that the others can begin with AND.
    std::string sql = "WHERE 1";
    for (const auto& condition : visibility(filter))
        sql += " AND " + condition;
    if (!filter.project.empty()) sql += " AND run.project = (SELECT row FROM project WHERE id = ?)";
    if (filter.state) sql += " AND state = ?";
    if (!filter.script.empty()) sql += " AND script_name = ?";
    if (!filter.target.empty()) sql += " AND target = ?";
    if (!filter.gpu_verdict.empty()) {
        sql += " AND gpu_verdict = ?";
        // So that the indexes serve, which have only those.
        if (filter.gpu_verdict != model::gpu_not_requested)
            sql += " AND gpu_verdict <> 'not-requested'";
    }
    if (filter.tag) sql += " AND run.row IN (SELECT run FROM tag WHERE key = ? AND value = ?)";
    // So that the index serves, which has only those that have one.
    if (!filter.parent.empty()) sql += " AND run.parent = ? AND run.parent <> ''";
    if (filter.before) sql += " AND run.row < ?";
    return sql;
}

}  // namespace

std::vector<std::string> visibility(const RunFilter& filter)
{
    std::vector<std::string> conditions;
    const bool every = filter.hidden == RunFilter::Hidden::include;
    if (!every) conditions.emplace_back("run.hidden = 0");
    const auto lifecycle = filter.lifecycle.value_or(every ? Lifecycle::all : Lifecycle::active);
    if (lifecycle != Lifecycle::all) {
        conditions.emplace_back(lifecycle == Lifecycle::active ? "run.deleted = 0"
                                                               : "run.deleted <> 0");
    }
    return conditions;
}

std::string filtered_sql(const RunFilter& filter, Order order)
{
    return fmt::format("{}{} ORDER BY run.row {} LIMIT ?",
                       select_runs,
                       conditions(filter),
                       order == Order::newest_first ? "DESC" : "ASC");
}

Result<db::Statement>
select_filtered(db::Connection& connection, const RunFilter& filter, Order order, std::size_t limit)
{
    auto statement = TRY(connection.prepare(filtered_sql(filter, order)));
    if (!filter.project.empty()) statement.bind(filter.project);
    if (filter.state) statement.bind(model::to_string(*filter.state));
    if (!filter.script.empty()) statement.bind(filter.script);
    if (!filter.target.empty()) statement.bind(filter.target);
    if (!filter.gpu_verdict.empty()) statement.bind(filter.gpu_verdict);
    if (filter.tag) statement.bind(filter.tag->first, filter.tag->second);
    if (!filter.parent.empty()) statement.bind(filter.parent);
    if (filter.before) statement.bind(TRY(get_run_row(connection, *filter.before)));
    statement.bind(static_cast<std::int64_t>(limit));
    return statement;
}

}  // namespace ponk::store
