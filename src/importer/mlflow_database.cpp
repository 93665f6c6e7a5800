// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_database.hpp"

#include "base/keyed_hash.hpp"
#include "base/take.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "importer/mlflow_words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ponk::importer {

using store::PointColumns;

Result<MlflowSchema> MlflowSchema::read(db::Connection& database)
{
    MlflowSchema schema;
    // Views and virtual tables, which MLflow has none of, are not read.
    auto tables = TRY(database.prepare_once(
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        " AND sql LIKE 'CREATE TABLE %' AND name NOT LIKE 'sqlite\\_%' ESCAPE "
        "'\\'"));
    while (TRY(tables.step()))
        schema.tables_[tables.text(0)];
    for (auto& [table, columns] : schema.tables_) {
        auto info = TRY(database.prepare_once("SELECT name FROM pragma_table_info(?)"));
        info.bind(table);
        while (TRY(info.step()))
            columns.insert(info.text(0));
    }
    for (const auto* table : {"experiments", "runs", "metrics", "params", "tags"}) {
        if (!schema.has(table))
            return fail(ErrorKind::invalid_argument,
                        "{} is not an MLflow database: it has no table '{}'",
                        os::in_quotes(database.file()),
                        table);
    }
    return schema;
}

bool MlflowSchema::has(std::string_view table) const
{
    return tables_.find(table) != tables_.end();
}

bool MlflowSchema::has(std::string_view table, std::string_view column) const
{
    const auto found = tables_.find(table);
    return found != tables_.end() && found->second.find(column) != found->second.end();
}

std::string MlflowSchema::column(std::string_view table,
                                 std::string_view name,
                                 std::string_view otherwise) const
{
    return std::string(has(table, name) ? name : otherwise);
}

std::string MlflowSchema::own_workspace(std::string_view table) const
{
    return has(table, "workspace") ? "WHERE workspace = 'default'" : "WHERE 1";
}

Result<store::Pairs>
read_foreign_pairs(db::Connection& database, const std::string& sql, const std::string& owner)
{
    auto rows = TRY(database.prepare(sql));
    rows.bind(owner);
    store::Pairs pairs;
    while (TRY(rows.step()))
        pairs.emplace_back(rows.text(0), rows.text(1));
    return pairs;
}

namespace {

class MlflowDatabase final : public Source {
public:
    MlflowDatabase(os::Path file,
                   std::unique_ptr<db::Connection> database,
                   MlflowSchema schema,
                   ArtifactPlaces places)
        : shown_(printable(file.native())), database_(std::move(database)),
          schema_(std::move(schema)), places_(std::move(places)),
          models_(*database_, schema_, shown_)
    {
    }

    Result<> list()
    {
        TRY(list_experiments());
        TRY(count_others());
        auto runs = TRY(database_->prepare_once(
            "SELECT run_uuid FROM runs WHERE experiment_id IN (SELECT experiment_id FROM "
            "experiments " +
            schema_.own_workspace("experiments") + ") ORDER BY start_time, run_uuid"));
        while (TRY(runs.step()))
            runs_.push_back(runs.text(0));
        TRY(models_.list());
        all_ = runs_.size() + models_.left() + 1;
        return {};
    }

    Result<std::optional<Item>> next() override
    {
        if (!ready_.empty()) return std::optional(take_front(ready_));
        if (runs_.empty()) return models_.next(places_);
        const auto id = take_front(runs_);
        auto item = read_in_a_moment(id);
        if (item) return std::optional(std::move(*item));
        // Somebody who holds the database is no damage of this run.
        if (item.error().kind() == ErrorKind::unavailable) return tl::unexpected(item.error());
        return std::optional(
            Item{where(id), LeftOut{LeftOut::Severity::problem, item.error().message()}});
    }

    [[nodiscard]] double fraction() const override
    {
        const auto left = runs_.size() + models_.left();
        return 1 - static_cast<double>(left) / static_cast<double>(all_);
    }

private:
    [[nodiscard]] std::string where(const std::string& run) const
    {
        return fmt::format("{}: run '{}'", shown_, printable(run));
    }

    Result<> list_experiments()
    {
        auto rows = TRY(database_->prepare_once(
            fmt::format("SELECT experiment_id, name, artifact_location, lifecycle_stage, {}, {}"
                        " FROM experiments {} ORDER BY experiment_id",
                        schema_.column("experiments", "creation_time", "NULL"),
                        schema_.column("experiments", "last_update_time", "NULL"),
                        schema_.own_workspace("experiments"))));
        while (TRY(rows.step())) {
            store::ExperimentCopy copy;
            copy.id = rows.integer(0);
            copy.name = rows.text(1);
            copy.location = rows.text(2);
            copy.created = rows.integer(4);
            copy.updated = rows.integer(5);
            if (rows.text(3) == "deleted") copy.deleted = std::max<std::int64_t>(copy.updated, 1);
            if (schema_.has("experiment_tags"))
                copy.tags = TRY(read_foreign_pairs(
                    *database_,
                    "SELECT key, value FROM experiment_tags WHERE experiment_id = ? ORDER BY key",
                    rows.text(0)));
            ready_.push_back({fmt::format("{}: experiment '{}'", shown_, printable(copy.name)),
                              ExperimentItem{rows.text(0), std::move(copy)}});
        }
        return {};
    }

    // What has no place here is said once.
    Result<> count_others()
    {
        const auto say = [this](std::int64_t count, std::string_view what) {
            if (count == 0) return;
            ready_.push_back(
                {shown_, LeftOut{LeftOut::Severity::note, fmt::format("{} {}", count, what)}});
        };
        if (schema_.has("experiments", "workspace"))
            say(TRY(database_->query_integer(
                    "SELECT count(*) FROM experiments WHERE workspace <> 'default'")),
                "experiments of other workspaces than 'default'");
        if (schema_.has("trace_info"))
            say(TRY(database_->query_integer("SELECT count(*) FROM trace_info")), "traces");
        if (schema_.has("evaluation_datasets"))
            say(TRY(database_->query_integer("SELECT count(*) FROM evaluation_datasets")),
                "evaluation datasets");
        return {};
    }

    // All of it is of one moment; a server that writes waits as long as this takes.
    Result<Item> read_in_a_moment(const std::string& id)
    {
        const auto transaction =
            TRY(db::Transaction::begin(*database_, db::Transaction::Kind::read));
        return read_run(id);
    }

    Result<Item> read_run(const std::string& id)
    {
        auto row = TRY(database_->prepare(
            fmt::format("SELECT {}, {}, status, start_time, end_time, lifecycle_stage, {},"
                        " artifact_uri, experiment_id FROM runs WHERE run_uuid = ?",
                        schema_.column("runs", "name", "''"),
                        schema_.column("runs", "user_id", "''"),
                        schema_.column("runs", "deleted_time", "NULL"))));
        row.bind(id);
        if (!TRY(row.step())) return fail(ErrorKind::not_found, "the run was deleted meanwhile");
        TrackedFields fields{.id = id,
                             .name = row.text(0),
                             .user = row.text(1),
                             .status = row.text(2),
                             .started = row.integer(3),
                             .ended = row.integer(4),
                             .deleted = row.text(5) == "deleted",
                             .deleted_time = row.integer(6)};
        const auto address = row.text(7);
        const auto experiment = row.text(8);
        fields.tags = TRY(
            read_foreign_pairs(*database_, "SELECT key, value FROM tags WHERE run_uuid = ?", id));
        fields.params = TRY(
            read_foreign_pairs(*database_, "SELECT key, value FROM params WHERE run_uuid = ?", id));
        auto copy = TRY(make_run(fields));
        RunItem item{experiment, std::move(copy)};
        TRY(read_inputs(id, item.copy.inputs));
        TRY(read_points(id, item.copy.points));
        const auto& name = item.copy.run.id.text();
        item.files = places_.find(
            address, {fmt::format("{}/{}/artifacts", experiment, name), name + "/artifacts"});
        item.location = address;
        return Item{where(id), std::move(item)};
    }

    Result<> read_points(const std::string& id, store::PointsByKey& all)
    {
        // In the order of arrival.
        auto rows = TRY(database_->prepare(
            fmt::format("SELECT key, value, timestamp, {}, {} FROM metrics WHERE run_uuid = ?"
                        " ORDER BY rowid",
                        schema_.column("metrics", "step", "0"),
                        schema_.column("metrics", "is_nan", "0"))));
        rows.bind(id);
        KeyedMap<PointColumns> keys;
        std::vector<const std::string*> order;
        while (TRY(rows.step())) {
            const auto [key, is_new] = keys.try_emplace(rows.text(0));
            if (is_new) order.push_back(&key->first);
            auto& points = key->second;
            const bool nan = rows.integer(4) != 0 || rows.is_null(1);
            points.values.push_back(nan ? std::numeric_limits<double>::quiet_NaN() : rows.real(1));
            points.times.push_back(rows.integer(2));
            points.steps.push_back(rows.integer(3));
            points.kinds.push_back(0);
        }
        for (const auto* key : order)
            all.append(*key, keys[*key]);
        return {};
    }

    Result<> read_inputs(const std::string& id, store::RunInputs& inputs)
    {
        if (!schema_.has("inputs") || !schema_.has("datasets")) return {};
        auto rows = TRY(database_->prepare(
            "SELECT inputs.input_uuid, name, digest, dataset_source_type, dataset_source,"
            " dataset_schema, dataset_profile FROM inputs"
            " JOIN datasets ON datasets.dataset_uuid = inputs.source_id"
            " WHERE destination_type = 'RUN' AND destination_id = ? AND source_type = 'DATASET'"
            " ORDER BY inputs.rowid"));
        rows.bind(id);
        while (TRY(rows.step())) {
            store::DatasetInput input{{rows.text(1),
                                       rows.text(2),
                                       rows.text(3),
                                       rows.text(4),
                                       rows.text_if_any(5),
                                       rows.text_if_any(6)},
                                      {}};
            if (schema_.has("input_tags"))
                input.tags = TRY(read_foreign_pairs(
                    *database_,
                    "SELECT name, value FROM input_tags WHERE input_uuid = ? ORDER BY name",
                    rows.text(0)));
            inputs.datasets.push_back(std::move(input));
        }
        return read_model_links(id, inputs);
    }

    Result<> read_model_links(const std::string& id, store::RunInputs& inputs)
    {
        auto rows = TRY(database_->prepare(fmt::format(
            "SELECT destination_type, destination_id, {} FROM inputs WHERE source_id = ?"
            " AND source_type IN ('RUN_INPUT', 'RUN_OUTPUT') ORDER BY destination_id",
            schema_.column("inputs", "step", "0"))));
        rows.bind(id);
        while (TRY(rows.step())) {
            if (rows.text(0) == "MODEL_INPUT") {
                inputs.models.push_back(rows.text(1));
            } else if (rows.text(0) == "MODEL_OUTPUT") {
                inputs.outputs.push_back({rows.text(1), rows.integer(2)});
            }
        }
        return {};
    }

    std::string shown_;
    std::unique_ptr<db::Connection> database_;
    MlflowSchema schema_;
    ArtifactPlaces places_;
    MlflowModels models_;
    std::deque<Item> ready_;
    std::deque<std::string> runs_;
    std::size_t all_ = 1;
};

}  // namespace

Result<std::unique_ptr<Source>> open_mlflow_database(const os::Path& file,
                                                     const std::optional<os::Path>& artifacts)
{
    auto database = TRY(db::Connection::open_foreign(file));
    auto schema = TRY(MlflowSchema::read(*database));
    auto places = TRY(ArtifactPlaces::open(file.parent_path(), artifacts));
    auto source = std::make_unique<MlflowDatabase>(
        file, std::move(database), std::move(schema), std::move(places));
    TRY(source->list());
    return source;
}

}  // namespace ponk::importer
