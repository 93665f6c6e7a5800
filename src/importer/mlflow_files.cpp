// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_files.hpp"

#include "base/take.hpp"
#include "base/text.hpp"
#include "importer/mlflow_model_files.hpp"
#include "importer/mlflow_series.hpp"
#include "importer/mlflow_words.hpp"
#include "store/points/point_columns.hpp"

#include <algorithm>
#include <deque>

namespace ponk::importer {

namespace {

constexpr const char* trash = ".trash";

bool is_number(std::string_view name)
{
    return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

struct RunEntry {
    std::string experiment;  // its folder
    std::string id;
    std::int64_t started = 0;
};

class MlflowFiles final : public Source {
public:
    MlflowFiles(StoreFiles files, ArtifactPlaces places)
        : files_(std::move(files)), places_(std::move(places)), models_(files_, places_)
    {
    }

    Result<> list()
    {
        for (const auto& name : TRY(files_.folders(""))) {
            if (name == trash || name == MlflowModelFiles::registry) continue;
            TRY(list_experiment(name, Trash::no));
        }
        for (const auto& name : TRY(files_.folders(trash)))
            TRY(list_experiment(std::string(trash) + "/" + name, Trash::yes));
        std::stable_sort(runs_.begin(), runs_.end(), [](const RunEntry& a, const RunEntry& b) {
            return a.started < b.started;
        });
        TRY(models_.list_registry());
        all_ = runs_.size() + models_.left() + 1;
        return {};
    }

    Result<std::optional<Item>> next() override
    {
        if (!ready_.empty()) return std::optional(take_front(ready_));
        if (runs_.empty()) return models_.next();
        const auto entry = take_front(runs_);
        return std::optional(
            item_or_problem(read_run(entry), files_.shown(entry.experiment + "/" + entry.id)));
    }

    [[nodiscard]] double fraction() const override
    {
        const auto left = runs_.size() + models_.left();
        return 1 - static_cast<double>(left) / static_cast<double>(all_);
    }

private:
    enum class Trash { no, yes };

    void note(const std::string& path, LeftOut::Severity severity, std::string why)
    {
        ready_.push_back({files_.shown(path), LeftOut{severity, std::move(why)}});
    }

    Result<> list_experiment(const std::string& folder, Trash in_trash)
    {
        const auto meta = MetaFile::read(files_, folder + "/meta.yaml");
        if (!meta) {
            // A folder that is nothing of MLflow's does not matter.
            if (is_number(os::Path(folder).filename().native()))
                note(folder, LeftOut::Severity::problem, meta.error().message());
            return {};
        }
        auto copy = read_experiment(folder, *meta, in_trash);
        if (!copy) {
            note(folder, LeftOut::Severity::problem, copy.error().message());
            return {};
        }
        ready_.push_back({files_.shown(folder), ExperimentItem{folder, std::move(*copy)}});
        return list_inside(folder);
    }

    Result<> list_inside(const std::string& folder)
    {
        for (const auto& name : TRY(files_.folders(folder))) {
            if (!RunId::parse(name)) continue;
            const auto meta = MetaFile::read(files_, folder + "/" + name + "/meta.yaml");
            const auto started = meta ? meta->integer("start_time") : Result<std::int64_t>(0);
            runs_.push_back({folder, name, started.value_or(0)});
        }
        TRY(models_.list_models(folder));
        const auto traces = TRY(files_.folders(folder + "/traces")).size();
        if (traces > 0)
            note(folder + "/traces", LeftOut::Severity::note, fmt::format("{} traces", traces));
        return {};
    }

    Result<store::ExperimentCopy>
    read_experiment(const std::string& folder, const MetaFile& meta, Trash in_trash)
    {
        store::ExperimentCopy copy;
        copy.id = parse_integer(os::Path(folder).filename().native()).value_or(-1);
        copy.name = TRY(meta.text("name"));
        if (copy.name.empty())
            return fail(ErrorKind::invalid_argument, "its meta.yaml has no name");
        copy.location = TRY(meta.text("artifact_location"));
        copy.created = TRY(meta.integer("creation_time"));
        copy.updated = TRY(meta.integer("last_update_time"));
        const bool deleted =
            in_trash == Trash::yes || TRY(meta.text("lifecycle_stage")) == "deleted";
        if (deleted) copy.deleted = std::max<std::int64_t>(copy.updated, 1);
        copy.tags = TRY(files_.pairs(folder + "/tags"));
        return copy;
    }

    Result<Item> read_run(const RunEntry& entry)
    {
        const auto folder = entry.experiment + "/" + entry.id;
        const auto meta = TRY(MetaFile::read(files_, folder + "/meta.yaml"));
        auto id = TRY(meta.text("run_id"));
        if (id.empty()) id = TRY(meta.text("run_uuid"));
        if (id != entry.id)
            return fail(ErrorKind::invalid_argument,
                        "{}: its content names another run, '{}'",
                        files_.shown(folder + "/meta.yaml"),
                        printable(id));
        const auto status = TRY(meta.text("status"));
        const auto number = parse_integer(status);
        TrackedFields fields;
        fields.id = id;
        fields.name = TRY(meta.text("run_name"));
        if (fields.name.empty()) fields.name = TRY(meta.text("name"));
        fields.user = TRY(meta.text("user_id"));
        fields.status = number ? run_status(*number) : status;
        fields.started = TRY(meta.integer("start_time"));
        fields.ended = TRY(meta.integer("end_time"));
        fields.deleted = TRY(meta.text("lifecycle_stage")) == "deleted";
        fields.deleted_time = TRY(meta.integer("deleted_time"));
        fields.tags = TRY(files_.pairs(folder + "/tags"));
        fields.params = TRY(files_.pairs(folder + "/params"));
        auto copy = TRY(make_run(fields));
        RunItem item{entry.experiment, std::move(copy)};
        TRY(read_points(folder, item.copy.points));
        TRY(read_inputs(entry.experiment, folder, item.copy.inputs));
        item.location = TRY(meta.text("artifact_uri"));
        item.files = files_beside(files_, places_, folder + "/artifacts", item.location, id);
        return Item{files_.shown(folder), std::move(item)};
    }

    Result<> read_points(const std::string& folder, store::PointsByKey& all)
    {
        return files_.walk(
            folder + "/metrics", [&](const std::string& key, const std::string& path) -> Result<> {
                store::PointColumns points;
                TRY(read_series(files_, path, [&points](const MetricLine& line) -> Result<> {
                    points.values.push_back(line.value);
                    points.times.push_back(line.time);
                    points.steps.push_back(line.step);
                    points.kinds.push_back(0);
                    return {};
                }));
                all.append(key, points);
                return {};
            });
    }

    Result<>
    read_inputs(const std::string& experiment, const std::string& folder, store::RunInputs& inputs)
    {
        for (const auto& name : TRY(files_.folders(folder + "/inputs"))) {
            const auto meta =
                TRY(MetaFile::read(files_, folder + "/inputs/" + name + "/meta.yaml"));
            const auto source = TRY(meta.text("source_id"));
            if (TRY(meta.text("source_type")) != "DATASET") {
                inputs.models.push_back(source);
                continue;
            }
            // A name, not a way: it must be a folder of the experiment's datasets.
            const auto sets = TRY(files_.folders(experiment + "/datasets"));
            if (std::find(sets.begin(), sets.end(), source) == sets.end())
                return fail(ErrorKind::invalid_argument,
                            "{}: there is no dataset '{}'",
                            files_.shown(folder + "/inputs/" + name),
                            printable(source));
            const auto set =
                TRY(MetaFile::read(files_, experiment + "/datasets/" + source + "/meta.yaml"));
            auto& input = inputs.datasets.emplace_back();
            input.dataset.name = TRY(set.text("name"));
            input.dataset.digest = TRY(set.text("digest"));
            input.dataset.source_type = TRY(set.text("source_type"));
            input.dataset.source = TRY(set.text("source"));
            input.dataset.schema = TRY(set.find_text("schema"));
            input.dataset.profile = TRY(set.find_text("profile"));
            input.tags = TRY(meta.pairs("tags"));
        }
        for (const auto& name : TRY(files_.folders(folder + "/outputs"))) {
            const auto meta =
                TRY(MetaFile::read(files_, folder + "/outputs/" + name + "/meta.yaml"));
            auto model = TRY(meta.text("destination_id"));
            const auto step = TRY(meta.integer("step"));
            inputs.outputs.push_back({std::move(model), step});
        }
        return {};
    }

    StoreFiles files_;
    ArtifactPlaces places_;
    MlflowModelFiles models_;
    std::deque<Item> ready_;
    std::deque<RunEntry> runs_;
    std::size_t all_ = 1;
};

}  // namespace

Result<std::unique_ptr<Source>> open_mlflow_files(const os::Path& folder,
                                                  const std::optional<os::Path>& artifacts)
{
    auto files = TRY(StoreFiles::open(folder));
    auto places = TRY(ArtifactPlaces::open(folder, artifacts));
    auto source = std::make_unique<MlflowFiles>(std::move(files), std::move(places));
    TRY(source->list());
    return source;
}

}  // namespace ponk::importer
