// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/history/history_access.hpp"
#include "store/models/registry_row.hpp"
#include "store/search/search_term.hpp"

#include <algorithm>

namespace ponk::store {

using query::search::Comparison;
using query::search::Direction;
using query::search::Entity;
using query::search::Filter;
using query::search::Operator;
using query::search::OrderKey;

namespace {

bool is_about_prompts(const Comparison& comparison)
{
    return comparison.entity == Entity::tag && comparison.key == prompt_tag;
}

// By its first term about them. Clients that want models say "!= 'true'", which holds also for what
// has no such tag.
bool asks_for_prompts(const Filter& filter)
{
    const auto found = std::find_if(filter.begin(), filter.end(), is_about_prompts);
    if (found == filter.end()) return false;
    const auto* value = std::get_if<std::string>(&found->value);
    if (!value) return false;
    return (found->op == Operator::equal && same_ignoring_case(*value, "true")) ||
           (found->op == Operator::not_equal && same_ignoring_case(*value, "false"));
}

std::string registered_column(const std::string& key)
{
    if (key == "creation_timestamp") return "registered_model.created";
    return key == "last_updated_timestamp" ? "registered_model.updated" : "registered_model.name";
}

std::string version_column(const std::string& key)
{
    if (key == "creation_timestamp") return "model_version.created";
    if (key == "last_updated_timestamp") return "model_version.updated";
    if (key == "version_number") return "model_version.version";
    if (key == "run_id") return "model_version.run";
    return key == "source_path" ? "model_version.source" : "registered_model.name";
}

OrderColumn column_of(const OrderKey& key, std::string value)
{
    return {.key = key,
            .type = key.key == "name" ? OrderColumn::Type::text : OrderColumn::Type::integer,
            .value = std::move(value)};
}

std::vector<OrderColumn> columns_of(std::vector<OrderKey> keys,
                                    const std::vector<OrderKey>& last,
                                    std::string (*column)(const std::string& key))
{
    for (const auto& key : last) {
        const bool has = std::any_of(
            keys.begin(), keys.end(), [&key](const auto& other) { return other.key == key.key; });
        if (!has) keys.push_back(key);
    }
    std::vector<OrderColumn> columns;
    for (const auto& key : keys)
        columns.push_back(column_of(key, column(key.key)));
    return columns;
}

void add_conditions(RowSearch& rows,
                    const Filter& filter,
                    const PairTable& tags,
                    std::string (*column)(const std::string& key))
{
    const bool prompts = asks_for_prompts(filter);
    for (const auto& comparison : filter) {
        if (!prompts && is_about_prompts(comparison)) continue;
        rows.where.push_back(comparison.entity == Entity::tag
                                 ? has_pair(tags, rows.row, comparison.key, comparison)
                                 : compare(Sql(column(comparison.key)), comparison));
    }
}

const OrderKey by_name{Entity::attribute, "name", Direction::ascending};
const OrderKey by_version{Entity::attribute, "version_number", Direction::descending};
const OrderKey by_update{Entity::attribute, "last_updated_timestamp", Direction::descending};

}  // namespace

RowSearch registered_rows(const RegistrySearch& search)
{
    RowSearch rows{.row = "registered_model.row",
                   .from = "registered_model",
                   .where = {},
                   .columns = columns_of(search.order_by, {by_name}, registered_column),
                   .page = search.page,
                   .limit = search.limit};
    if (!asks_for_prompts(search.filter)) {
        rows.where.push_back(Sql("NOT EXISTS (SELECT 1 FROM registered_model_tag AS t"
                                 " WHERE t.model = registered_model.row AND t.key = ")
                                 .value(std::string(prompt_tag))
                                 .add(" AND t.value = 'true')"));
    }
    add_conditions(rows, search.filter, registered_tags, registered_column);
    return rows;
}

RowSearch version_rows(const RegistrySearch& search)
{
    auto order = search.order_by;
    if (order.empty()) order = {by_update};
    RowSearch rows{
        .row = "model_version.row",
        .from = "model_version JOIN registered_model ON registered_model.row = model_version.model",
        .where = {},
        .columns = columns_of(std::move(order), {by_name, by_version}, version_column),
        .page = search.page,
        .limit = search.limit};
    if (!asks_for_prompts(search.filter)) {
        // All versions of a name are prompts, or none is.
        rows.where.push_back(
            Sql("model_version.model NOT IN (SELECT v.model FROM model_version_tag AS t"
                " CROSS JOIN model_version AS v ON v.row = t.version WHERE t.key = ")
                .value(std::string(prompt_tag))
                .add(" AND t.value = 'true')"));
    }
    add_conditions(rows, search.filter, version_tags, version_column);
    return rows;
}

Result<RegisteredPage> Registry::search(const RegistrySearch& search) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<RegisteredPage> {
            const auto found = TRY(find_rows(reader, registered_rows(search)));
            RegisteredPage page{.models = {}, .next = found.next};
            for (const auto row : found.rows)
                page.models.push_back(TRY(read_registered(reader, row)));
            return page;
        });
}

Result<VersionPage> Registry::search_versions(const RegistrySearch& search) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<VersionPage> {
            const auto found = TRY(find_rows(reader, version_rows(search)));
            VersionPage page{.versions = {}, .next = found.next};
            for (const auto row : found.rows)
                page.versions.push_back(TRY(read_version(reader, row, Aliases::leave_out)));
            return page;
        });
}

}  // namespace ponk::store
