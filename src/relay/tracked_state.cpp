// SPDX-License-Identifier: Apache-2.0
#include "relay/tracked_state.hpp"

#include "model/metric_journal.hpp"
#include "relay/experiment_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

namespace ponk::relay {

namespace {

constexpr const char* name_tag = "mlflow.runName";

// NaN counts as 0 where values are compared.
auto rank(const Point& point)
{
    return std::tuple(point.step, point.time, std::isnan(point.value) ? 0.0 : point.value);
}

void add_texts(Texts& texts, const Json& object)
{
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.as_object()) {
        if (value.is_string()) texts[key] = value.as_string();
    }
}

bool has_dataset(const TrackedRun& run, const Json& dataset)
{
    return std::any_of(run.datasets.begin(), run.datasets.end(), [&dataset](const Json& known) {
        return known["dataset"].text("name") == dataset.text("name") &&
               known["dataset"].text("digest") == dataset.text("digest");
    });
}

}  // namespace

bool is_same(const Point& left, const Point& right)
{
    return left.time == right.time && left.step == right.step &&
           std::memcmp(&left.value, &right.value, sizeof left.value) == 0;
}

TrackedState::TrackedState(const model::Tracking& tracking)
{
    own_.id = tracking.run;
    own_.name = tracking.run_name;
    own_.user = tracking.user;
    own_.started = tracking.started;
    for (const auto& [key, value] : tracking.tags)
        own_.tags[key] = value;
    if (!own_.name.empty()) own_.tags[name_tag] = own_.name;
}

const TrackedRun* TrackedState::find_run(std::string_view id) const
{
    if (id == own_.id) return &own_;
    const auto found = others_.find(id);
    return found == others_.end() ? nullptr : &found->second;
}

const TrackedModel* TrackedState::find_model(std::string_view id) const
{
    const auto found = models_.find(id);
    return found == models_.end() ? nullptr : &found->second;
}

void TrackedState::apply(const Json& record)
{
    if (!record.is_object() || !record["journal"].is_null()) return;
    if (record["model"].is_string()) return apply_model(record);
    if (record["trace"].is_string()) {
        traces_.insert(record.text("trace"));
        return;
    }
    if (record["experiment"].is_string()) {
        const auto name = record.text("experiment");
        other_names_[other_experiment_id(name)] = name;
        return;
    }
    // Questions to the daemon are no use of the run either.
    if (record["ask"].is_string() || record["withdrawn"].is_string()) return;
    const auto& of = record["of"];
    if (!of.is_string()) {
        // To name an experiment is no use of the run yet.
        const bool names =
            record.text("tag") == other_name_tag || record.text("untag") == other_name_tag;
        taken_ = taken_ || !names;
        return apply_to(own_, record);
    }
    if (record["made"].is_string()) {
        auto& run = others_[of.as_string()];
        run.id = of.as_string();
        run.name = record.text("made");
        run.user = record.text("user");
        run.started = record.integer("time");
        run.tags[name_tag] = run.name;
        return;
    }
    const auto found = others_.find(of.as_string());
    if (found != others_.end()) apply_to(found->second, record);
}

void TrackedState::apply_to(TrackedRun& run, const Json& record)
{
    if (record["metric"].is_string()) return add_point(run, record);
    if (record["param"].is_string()) {
        run.params.emplace(record.text("param"), record.text("value"));
    } else if (record["tag"].is_string()) {
        const auto key = record.text("tag");
        const auto value = record.text("value");
        if (key == name_tag && value.empty()) return;  // as in history: it keeps its name
        run.tags[key] = value;
        if (key == name_tag) run.name = value;
    } else if (record["untag"].is_string()) {
        run.tags.erase(record.text("untag"));
    } else if (record["deleted"].is_bool()) {
        run.deleted = record.boolean("deleted");
    } else if (record["status"].is_string()) {
        run.status = record.text("status");
        run.ended = record.integer("ended");
    } else if (record["dataset"].is_object()) {
        if (has_dataset(run, record["dataset"])) return;
        JsonObject input{{"dataset", record["dataset"]}};
        const auto& tags = record["tags"];
        if (tags.is_array() && !tags.as_array().empty()) input.append("tags", tags);
        run.datasets.emplace_back(std::move(input));
    } else if (record["model_input"].is_string()) {
        run.model_inputs.insert(record.text("model_input"));
    } else if (record["model_output"].is_string()) {
        run.model_outputs[record.text("model_output")] = record.integer("step");
    }
}

void TrackedState::add_point(TrackedRun& run, const Json& record)
{
    const auto value = model::journal_number(record["value"]);
    if (!value) return;
    const Point point{*value, record.integer("time"), record.integer("step")};
    const auto [series, is_new] = run.metrics.try_emplace(record.text("metric"));
    if (is_new || rank(series->second.latest) <= rank(point)) series->second.latest = point;
    series->second.last = point;
    const auto& subject = series->second.last_subject = {
        record.text("model_id"), record.text("dataset_name"), record.text("dataset_digest")};
    const auto model = models_.find(subject.model);
    if (model == models_.end()) return;
    const auto [latest, first] = model->second.metrics.try_emplace(
        {record.text("metric"), run.id, subject.dataset_name, subject.dataset_digest}, point);
    if (!first && rank(latest->second) <= rank(point)) latest->second = point;
}

void TrackedState::apply_model(const Json& record)
{
    const auto id = record.text("model");
    if (record["name"].is_string()) {
        auto& model = models_[id];
        model.id = id;
        model.name = record.text("name");
        model.type = record.text("type");
        model.run = record.text("run");
        model.created = record.integer("time");
    }
    const auto found = models_.find(id);
    if (found == models_.end()) return;
    if (record.boolean("deleted")) {
        models_.erase(found);
        return;
    }
    auto& model = found->second;
    model.updated = record.integer("time");
    if (record["status"].is_string()) {
        model.status = record.text("status");
        model.status_message = record.text("message");
    }
    add_texts(model.params, record["params"]);
    add_texts(model.tags, record["tags"]);
    if (record["untag"].is_string()) model.tags.erase(record.text("untag"));
}

}  // namespace ponk::relay
