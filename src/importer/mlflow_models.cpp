// SPDX-License-Identifier: Apache-2.0
#include "base/take.hpp"
#include "base/text.hpp"
#include "importer/mlflow_database.hpp"
#include "importer/mlflow_words.hpp"

#include <algorithm>
#include <limits>

namespace ponk::importer {

MlflowModels::MlflowModels(db::Connection& database, const MlflowSchema& schema, std::string shown)
    : database_(database), schema_(schema), shown_(std::move(shown))
{
}

Result<> MlflowModels::list()
{
    if (schema_.has("logged_models")) {
        auto rows = TRY(database_.prepare_once(
            "SELECT model_id FROM logged_models WHERE experiment_id IN (SELECT experiment_id FROM"
            " experiments " +
            schema_.own_workspace("experiments") + ") ORDER BY creation_timestamp_ms, model_id"));
        while (TRY(rows.step()))
            models_.push_back(rows.text(0));
    }
    if (schema_.has("registered_models") && schema_.has("model_versions")) {
        auto rows = TRY(database_.prepare_once("SELECT name FROM registered_models " +
                                               schema_.own_workspace("registered_models") +
                                               " ORDER BY creation_time, name"));
        while (TRY(rows.step()))
            registered_.push_back(rows.text(0));
    }
    return {};
}

Result<std::optional<Item>> MlflowModels::next(const ArtifactPlaces& places)
{
    if (!notes_.empty()) return std::optional(take_front(notes_));
    if (models_.empty() && registered_.empty()) return std::optional<Item>();
    const bool logged = !models_.empty();
    const auto name = take_front(logged ? models_ : registered_);
    auto item = logged ? read_model(name, places) : read_registered(name);
    if (item) return std::optional(std::move(*item));
    if (item.error().kind() == ErrorKind::unavailable) return tl::unexpected(item.error());
    return std::optional(Item{fmt::format("{}: model '{}'", shown_, printable(name)),
                              LeftOut{LeftOut::Severity::problem, item.error().message()}});
}

Result<Item> MlflowModels::read_model(const std::string& id, const ArtifactPlaces& places)
{
    if (!is_model_id(id))
        return fail(ErrorKind::invalid_argument, "'{}' is not a model id", printable(id));
    auto row = TRY(database_.prepare(
        "SELECT experiment_id, name, artifact_location, creation_timestamp_ms,"
        " last_updated_timestamp_ms, status, lifecycle_stage, model_type, source_run_id"
        " FROM logged_models WHERE model_id = ?"));
    row.bind(id);
    if (!TRY(row.step())) return fail(ErrorKind::not_found, "the model was deleted meanwhile");
    ModelItem item{row.text(0), {}};
    auto& model = item.copy.model;
    model.id = id;
    model.name = row.text(1);
    model.location = row.text(2);
    model.created = row.integer(3);
    model.updated = row.integer(4);
    model.status = TRY(model_status(row.integer(5)));
    item.copy.deleted = row.text(6) == "deleted";
    model.type = row.text(7);
    model.source_run = row.text(8);
    model.params = TRY(read_foreign_pairs(
        database_,
        "SELECT param_key, param_value FROM logged_model_params WHERE model_id = ?",
        id));
    model.tags = TRY(read_foreign_pairs(
        database_, "SELECT tag_key, tag_value FROM logged_model_tags WHERE model_id = ?", id));
    auto metrics = TRY(database_.prepare(
        "SELECT metric_name, metric_value, metric_timestamp_ms, metric_step, dataset_name,"
        " dataset_digest, run_id FROM logged_model_metrics WHERE model_id = ?"));
    metrics.bind(id);
    while (TRY(metrics.step())) {
        model.metrics.push_back(
            {id,
             metrics.text(0),
             metrics.is_null(1) ? std::numeric_limits<double>::quiet_NaN() : metrics.real(1),
             metrics.integer(2),
             metrics.integer(3),
             metrics.text_if_any(4),
             metrics.text_if_any(5),
             metrics.text(6)});
    }
    item.files =
        places.find(model.location, {fmt::format("{}/models/{}/artifacts", item.experiment, id)});
    return Item{fmt::format("{}: model '{}'", shown_, id), std::move(item)};
}

Result<> MlflowModels::read_versions(store::RegisteredCopy& copy)
{
    const auto& name = copy.model.name;
    auto rows = TRY(database_.prepare(fmt::format(
        "SELECT version, creation_time, last_updated_time, description, current_stage, source,"
        " {}, run_id, {}, {} FROM model_versions {} AND name = ? ORDER BY version",
        schema_.column("model_versions", "storage_location", "NULL"),
        schema_.column("model_versions", "run_link", "NULL"),
        schema_.column("model_versions", "status", "'READY'"),
        schema_.own_workspace("model_versions"))));
    rows.bind(name);
    while (TRY(rows.step())) {
        const auto number = rows.integer(0);
        const auto status = rows.text(9);
        store::ModelVersion version{.name = name,
                                    .version = number,
                                    .created = rows.integer(1),
                                    .updated = rows.integer(2),
                                    .description = rows.text_if_any(3),
                                    .stage = rows.text(4),
                                    .source = rows.text(5),
                                    .location = rows.text(6),
                                    .run = rows.text(7),
                                    .run_link = rows.text(8)};
        if (schema_.has("model_version_tags")) {
            auto tags = TRY(database_.prepare(
                fmt::format("SELECT key, value FROM model_version_tags {} AND name = ?"
                            " AND version = ? ORDER BY key",
                            schema_.own_workspace("model_version_tags"))));
            tags.bind(name, number);
            while (TRY(tags.step()))
                version.tags.emplace_back(tags.text(0), tags.text(1));
        }
        if (!add_version(copy, std::move(version), status)) {
            notes_.push_back({fmt::format("{}: model '{}'", shown_, printable(name)),
                              LeftOut{LeftOut::Severity::note,
                                      fmt::format("version {} is {}", number, printable(status))}});
        }
    }
    return {};
}

Result<Item> MlflowModels::read_registered(const std::string& name)
{
    auto row = TRY(database_.prepare(
        fmt::format("SELECT creation_time, last_updated_time, {} FROM registered_models {}"
                    " AND name = ?",
                    schema_.column("registered_models", "description", "NULL"),
                    schema_.own_workspace("registered_models"))));
    row.bind(name);
    if (!TRY(row.step())) return fail(ErrorKind::not_found, "the model was deleted meanwhile");
    store::RegisteredCopy copy;
    auto& model = copy.model;
    model.name = name;
    model.created = row.integer(0);
    model.updated = row.integer(1);
    model.description = row.text(2);
    if (schema_.has("registered_model_tags"))
        model.tags = TRY(read_foreign_pairs(
            database_,
            fmt::format("SELECT key, value FROM registered_model_tags {} AND name = ? ORDER BY key",
                        schema_.own_workspace("registered_model_tags")),
            name));
    TRY(read_versions(copy));
    if (schema_.has("registered_model_aliases")) {
        auto aliases = TRY(database_.prepare(fmt::format(
            "SELECT alias, version FROM registered_model_aliases {} AND name = ? ORDER BY alias",
            schema_.own_workspace("registered_model_aliases"))));
        aliases.bind(name);
        while (TRY(aliases.step()))
            add_alias(copy, aliases.text(0), aliases.integer(1));
    }
    return Item{fmt::format("{}: registered model '{}'", shown_, printable(name)),
                RegisteredItem{std::move(copy)}};
}

}  // namespace ponk::importer
