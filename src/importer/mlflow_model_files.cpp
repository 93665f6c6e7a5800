// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_model_files.hpp"

#include "base/take.hpp"
#include "base/text.hpp"
#include "importer/mlflow_series.hpp"
#include "importer/mlflow_words.hpp"

#include <algorithm>

namespace ponk::importer {

Item item_or_problem(Result<Item> item, std::string where)
{
    if (item) return std::move(*item);
    return {std::move(where), LeftOut{LeftOut::Severity::problem, item.error().message()}};
}

Files files_beside(const StoreFiles& files,
                   const ArtifactPlaces& places,
                   const std::string& folder,
                   const std::string& address,
                   const std::string& id)
{
    if (ArtifactPlaces::is_local(address)) {
        if (auto beside = files.open_folder(folder))
            return {std::move(*beside), files.shown(folder), {}};
    }
    return places.find(address, {id + "/artifacts", folder});
}

Result<> MlflowModelFiles::list_models(const std::string& experiment)
{
    for (const auto& name : TRY(files_.folders(experiment + "/models")))
        models_.emplace_back(experiment, name);
    return {};
}

Result<> MlflowModelFiles::list_registry()
{
    for (const auto& name : TRY(files_.folders(std::string(registry)))) {
        if (files_.has(fmt::format("{}/{}/meta.yaml", registry, name))) registered_.push_back(name);
    }
    return {};
}

Result<std::optional<Item>> MlflowModelFiles::next()
{
    if (!notes_.empty()) return std::optional(take_front(notes_));
    if (!models_.empty()) {
        const auto [experiment, id] = take_front(models_);
        return std::optional(item_or_problem(read_model(experiment, id),
                                             files_.shown(experiment + "/models/" + id)));
    }
    if (registered_.empty()) return std::optional<Item>();
    const auto name = take_front(registered_);
    return std::optional(
        item_or_problem(read_registered(name), files_.shown(fmt::format("{}/{}", registry, name))));
}

Result<Item> MlflowModelFiles::read_model(const std::string& experiment, const std::string& id)
{
    const auto folder = experiment + "/models/" + id;
    const auto meta = TRY(MetaFile::read(files_, folder + "/meta.yaml"));
    if (!is_model_id(id) || TRY(meta.text("model_id")) != id)
        return fail(ErrorKind::invalid_argument,
                    "{}: its content names another model, '{}'",
                    files_.shown(folder + "/meta.yaml"),
                    printable(TRY(meta.text("model_id"))));
    ModelItem item{experiment, {}};
    auto& model = item.copy.model;
    model.id = id;
    model.name = TRY(meta.text("name"));
    model.type = TRY(meta.text("model_type"));
    model.status = TRY(model_status(TRY(meta.integer("status"))));
    model.source_run = TRY(meta.text("source_run_id"));
    model.location = TRY(meta.text("artifact_location"));
    model.created = TRY(meta.integer("creation_timestamp"));
    model.updated = TRY(meta.integer("last_updated_timestamp"));
    item.copy.deleted = TRY(meta.text("lifecycle_stage")) == "deleted";
    model.params = TRY(files_.pairs(folder + "/params"));
    model.tags = TRY(files_.pairs(folder + "/tags"));
    TRY(read_model_metrics(folder, model));
    item.files =
        files_beside(files_, places_, folder + "/artifacts", model.location, "models/" + id);
    return Item{files_.shown(folder), std::move(item)};
}

// "TIME VALUE STEP RUN [DATASET DIGEST]"
Result<> MlflowModelFiles::read_model_metrics(const std::string& folder, store::LoggedModel& model)
{
    const auto on_file = [&](const std::string& key, const std::string& path) {
        return read_series(files_, path, [&](const MetricLine& line) -> Result<> {
            if (line.rest.empty())
                return fail(
                    ErrorKind::invalid_argument, "{}: a value has no run", files_.shown(path));
            store::ModelMetric metric{.model = model.id,
                                      .key = key,
                                      .value = line.value,
                                      .time = line.time,
                                      .step = line.step,
                                      .run = std::string(line.rest[0])};
            if (line.rest.size() > 2) {
                metric.dataset_name = std::string(line.rest[1]);
                metric.dataset_digest = std::string(line.rest[2]);
            }
            model.metrics.push_back(std::move(metric));
            return {};
        });
    };
    return files_.walk(folder + "/metrics", on_file);
}

Result<Item> MlflowModelFiles::read_registered(const std::string& name)
{
    const auto folder = std::string(registry) + "/" + name;
    const auto meta = TRY(MetaFile::read(files_, folder + "/meta.yaml"));
    store::RegisteredCopy copy;
    auto& model = copy.model;
    model.name = TRY(meta.text("name"));
    if (model.name.empty()) model.name = name;
    model.description = TRY(meta.text("description"));
    model.created = TRY(meta.integer("creation_timestamp"));
    model.updated = TRY(meta.integer("last_updated_timestamp"));
    model.tags = TRY(files_.pairs(folder + "/tags"));
    for (const auto& inside : TRY(files_.folders(folder))) {
        if (inside.starts_with("version-")) TRY(read_version(folder + "/" + inside, copy));
    }
    std::sort(copy.versions.begin(), copy.versions.end(), [](const auto& a, const auto& b) {
        return a.version < b.version;
    });
    for (const auto& [alias, text] : TRY(files_.pairs(folder + "/aliases")))
        add_alias(copy, alias, parse_integer(trim(text)).value_or(0));
    return Item{files_.shown(folder), RegisteredItem{std::move(copy)}};
}

Result<> MlflowModelFiles::read_version(const std::string& folder, store::RegisteredCopy& copy)
{
    const auto meta = TRY(MetaFile::read(files_, folder + "/meta.yaml"));
    store::ModelVersion version;
    version.name = copy.model.name;
    version.version = TRY(meta.integer("version"));
    version.created = TRY(meta.integer("creation_timestamp"));
    version.updated = TRY(meta.integer("last_updated_timestamp"));
    version.description = TRY(meta.find_text("description"));
    version.stage = TRY(meta.text("current_stage"));
    version.source = TRY(meta.text("source"));
    version.location = TRY(meta.text("storage_location"));
    version.run = TRY(meta.text("run_id"));
    version.run_link = TRY(meta.text("run_link"));
    version.logged_model = TRY(meta.text("model_id"));
    version.tags = TRY(files_.pairs(folder + "/tags"));
    if (version.version <= 0)
        return fail(ErrorKind::invalid_argument,
                    "{}: it is not a version",
                    files_.shown(folder + "/meta.yaml"));
    const auto status = TRY(meta.text("status"));
    if (!add_version(copy, std::move(version), status)) {
        notes_.push_back({files_.shown(folder),
                          LeftOut{LeftOut::Severity::note, "the version is " + printable(status)}});
    }
    return {};
}

}  // namespace ponk::importer
