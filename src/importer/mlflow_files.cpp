// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_files.hpp"

#include "base/text.hpp"
#include "importer/artifact_places.hpp"
#include "importer/mlflow_words.hpp"
#include "importer/store_files.hpp"
#include "store/point_columns.hpp"

#include <algorithm>
#include <charconv>
#include <deque>

namespace ponk::importer {

namespace {

constexpr std::uint64_t largest_series = std::uint64_t{2} << 30;
constexpr const char* trash = ".trash";
constexpr const char* registry = "models";

bool is_number(std::string_view name)
{
    return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

template <class Number>
bool parse_number(std::string_view text, Number& number)
{
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> words_of(std::string_view line)
{
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const auto space = line.find(' ');
        words.push_back(line.substr(0, space));
        line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
    return words;
}

// One line "TIME VALUE [STEP …]" of a metric's file.
struct MetricLine {
    std::int64_t time = 0;
    double value = 0;
    std::int64_t step = 0;
    std::vector<std::string_view> rest;  // behind the step
};

using OnMetric = std::function<Result<>(const MetricLine& line)>;

Result<> read_series(const StoreFiles& files, const std::string& path, const OnMetric& on_line)
{
    const auto text = TRY(files.read(path, largest_series));
    std::size_t number = 0;
    for (std::string_view left = text; !left.empty();) {
        ++number;
        const auto end = left.find('\n');
        auto line = left.substr(0, end);
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        const auto words = words_of(line);
        MetricLine read;
        const auto wrong = [&](std::string_view word, std::string_view wanted) {
            return fail(ErrorKind::invalid_argument,
                        "{}:{}:{}: '{}' is no {}",
                        files.shown(path),
                        number,
                        word.data() - line.data() + 1,
                        printable(word.substr(0, 50)),
                        wanted);
        };
        if (!parse_number(words[0], read.time)) return wrong(words[0], "time in milliseconds");
        if (words.size() < 2) return wrong(line.substr(line.size()), "value");
        if (!parse_number(words[1], read.value)) return wrong(words[1], "number");
        if (words.size() > 2 && !parse_number(words[2], read.step)) return wrong(words[2], "step");
        if (words.size() > 3) read.rest.assign(words.begin() + 3, words.end());
        TRY(on_line(read));
    }
    return {};
}

struct RunEntry {
    std::string experiment;  // its folder
    std::string id;
    std::int64_t started = 0;
};

class MlflowFiles final : public Source {
public:
    MlflowFiles(StoreFiles files, ArtifactPlaces places)
        : files_(std::move(files)), places_(std::move(places))
    {
    }

    Result<> list()
    {
        for (const auto& name : TRY(files_.folders(""))) {
            if (name == trash || name == registry) continue;
            TRY(list_experiment(name, Trash::no));
        }
        for (const auto& name : TRY(files_.folders(trash)))
            TRY(list_experiment(std::string(trash) + "/" + name, Trash::yes));
        std::stable_sort(runs_.begin(), runs_.end(), [](const RunEntry& a, const RunEntry& b) {
            return a.started < b.started;
        });
        for (const auto& name : TRY(files_.folders(registry))) {
            if (files_.has(std::string(registry) + "/" + name + "/meta.yaml"))
                registered_.push_back(name);
        }
        all_ = runs_.size() + models_.size() + registered_.size() + 1;
        return {};
    }

    Result<std::optional<Item>> next() override
    {
        if (!ready_.empty()) {
            auto item = std::move(ready_.front());
            ready_.pop_front();
            return std::optional(std::move(item));
        }
        if (!runs_.empty()) {
            const auto entry = std::move(runs_.front());
            runs_.pop_front();
            return made(read_run(entry), entry.experiment + "/" + entry.id);
        }
        if (!models_.empty()) {
            const auto [experiment, id] = std::move(models_.front());
            models_.pop_front();
            return made(read_model(experiment, id), experiment + "/models/" + id);
        }
        if (registered_.empty()) return std::optional<Item>();
        const auto name = std::move(registered_.front());
        registered_.pop_front();
        return made(read_registered(name), std::string(registry) + "/" + name);
    }

    [[nodiscard]] double fraction() const override
    {
        const auto left = runs_.size() + models_.size() + registered_.size();
        return 1 - static_cast<double>(left) / static_cast<double>(all_);
    }

private:
    enum class Trash { no, yes };

    // What is damaged is left out and named; the others come.
    Result<std::optional<Item>> made(Result<Item> item, const std::string& path)
    {
        if (item) return std::optional(std::move(*item));
        return std::optional(
            Item{files_.shown(path), LeftOut{LeftOut::Severity::problem, item.error().message()}});
    }

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
        for (const auto& name : TRY(files_.folders(folder + "/models")))
            models_.emplace_back(folder, name);
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
                        "{}: it says that it is run '{}'",
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
        item.files = files_of(folder + "/artifacts", item.location, id);
        return Item{files_.shown(folder), std::move(item)};
    }

    // The folder beside the run counts, wherever its store was when it was made.
    Files files_of(const std::string& folder, const std::string& address, const std::string& id)
    {
        const bool elsewhere = !ArtifactPlaces::is_local(address);
        if (!elsewhere) {
            if (auto beside = files_.open_folder(folder))
                return {std::move(*beside), files_.shown(folder), {}};
        }
        return places_.find(address, {id + "/artifacts", folder});
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
            auto name_of_set = TRY(set.text("name"));
            auto digest = TRY(set.text("digest"));
            auto type = TRY(set.text("source_type"));
            auto place = TRY(set.text("source"));
            auto schema = TRY(set.find_text("schema"));
            auto profile = TRY(set.find_text("profile"));
            auto tags = TRY(meta.pairs("tags"));
            inputs.datasets.push_back({{std::move(name_of_set),
                                        std::move(digest),
                                        std::move(type),
                                        std::move(place),
                                        std::move(schema),
                                        std::move(profile)},
                                       std::move(tags)});
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

    Result<Item> read_model(const std::string& experiment, const std::string& id)
    {
        const auto folder = experiment + "/models/" + id;
        const auto meta = TRY(MetaFile::read(files_, folder + "/meta.yaml"));
        if (!is_model_id(id) || TRY(meta.text("model_id")) != id)
            return fail(ErrorKind::invalid_argument,
                        "{}: it says that it is model '{}'",
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
        item.files = files_of(folder + "/artifacts", model.location, "models/" + id);
        return Item{files_.shown(folder), std::move(item)};
    }

    // "TIME VALUE STEP RUN [DATASET DIGEST]"
    Result<> read_model_metrics(const std::string& folder, store::LoggedModel& model)
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

    Result<Item> read_registered(const std::string& name)
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
        for (const auto& [alias, text] : TRY(files_.pairs(folder + "/aliases"))) {
            const auto number = parse_integer(trim(text)).value_or(0);
            const bool known =
                std::any_of(copy.versions.begin(), copy.versions.end(), [number](const auto& each) {
                    return each.version == number;
                });
            if (known) model.aliases.emplace_back(alias, number);
        }
        return Item{files_.shown(folder), RegisteredItem{std::move(copy)}};
    }

    Result<> read_version(const std::string& folder, store::RegisteredCopy& copy)
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
                        "{}: it is no version",
                        files_.shown(folder + "/meta.yaml"));
        copy.last_version = std::max(copy.last_version, version.version);
        if (version.stage == deleted_stage) return {};
        if (const auto status = TRY(meta.text("status")); !status.empty() && status != "READY") {
            note(folder, LeftOut::Severity::note, "the version is " + printable(status));
            return {};
        }
        if (version.stage.empty()) version.stage = "None";
        if (version.location.empty()) version.location = version.source;
        if (version.logged_model.empty()) version.logged_model = model_in_source(version.source);
        copy.versions.push_back(std::move(version));
        return {};
    }

    StoreFiles files_;
    ArtifactPlaces places_;
    std::deque<Item> ready_;
    std::deque<RunEntry> runs_;
    std::deque<std::pair<std::string, std::string>> models_;
    std::deque<std::string> registered_;
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
