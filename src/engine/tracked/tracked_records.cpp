// SPDX-License-Identifier: Apache-2.0
#include "engine/tracked/tracked_records.hpp"

#include "base/text.hpp"
#include "engine/tracked/child_models.hpp"
#include "engine/tracked/child_of.hpp"
#include "engine/tracked/child_traces.hpp"
#include "model/metric_journal.hpp"
#include "store/tracking/datasets.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>
#include <optional>

namespace ponk::engine {

namespace {

// The relay has answered already.
constexpr auto into = store::Into::any;

std::optional<model::RunState> state_of(const std::string& status)
{
    if (status == "FINISHED") return model::RunState::completed;
    if (status == "FAILED") return model::RunState::failed;
    if (status == "KILLED") return model::RunState::canceled;
    if (status == "RUNNING") return model::RunState::running;
    return std::nullopt;
}

std::optional<std::string> find_text(const Json& record, const char* name)
{
    const auto& value = record[name];
    return value.is_string() ? std::optional(value.as_string()) : std::nullopt;
}

// nullopt: nobody could name it.
std::optional<store::DatasetInput> input_of(const Json& record)
{
    const auto& dataset = record["dataset"];
    store::DatasetInput input{{.name = dataset.text("name"),
                               .digest = dataset.text("digest"),
                               .source_type = dataset.text("source_type"),
                               .source = dataset.text("source"),
                               .schema = find_text(dataset, "schema"),
                               .profile = find_text(dataset, "profile")},
                              {}};
    if (input.dataset.name.empty() || input.dataset.digest.empty()) return std::nullopt;
    if (const auto& tags = record["tags"]; tags.is_array()) {
        for (const auto& tag : tags.as_array())
            input.tags.emplace_back(tag.text("key"), tag.text("value"));
    }
    return input;
}

// Records about one run, one after the other: the one whose journal it is, or one that its script
// made.
class RunRecords {
public:
    RunRecords(const Context& context, const RunId& maker, std::string id)
        : context_(context), tracking_(context.history), maker_(maker), id_(std::move(id)),
          is_maker_(id_ == maker_.text())
    {
    }

    Result<> take(const Json& record)
    {
        if (record["metric"].is_string() && record["model_id"].is_string()) {
            if (auto metric = MadeModels::metric_of(record))
                model_metrics_.push_back(std::move(*metric));
            if (is_maker_) return {};  // as a metric of the run it is with the others
        }
        if (!is_maker_ && collect(record)) return {};
        TRY(store());
        if (takes_or_gives(record)) return TRY(is_ours()) ? add_input(record) : Result<>();
        return is_maker_ ? Result<>() : change(record);
    }

    // What was taken so far.
    Result<> store()
    {
        const bool logs =
            !logged_.points.empty() || !logged_.params.empty() || !logged_.tags.empty();
        if (!logs && model_metrics_.empty()) return {};
        if (TRY(is_ours())) {
            if (logs) TRY(forgive(tracking_.log(id_, logged_, into)));
            if (!model_metrics_.empty())
                TRY(MadeModels(context_, maker_).log_metrics(id_, model_metrics_));
        }
        logged_ = {};
        model_metrics_.clear();
        return {};
    }

private:
    // Points, parameters and tags go together.
    bool collect(const Json& record)
    {
        if (record["metric"].is_string()) {
            const auto value = model::journal_number(record["value"]);
            if (value && !record.text("metric").empty()) {
                logged_.points.add(model::logged_name(record.text("metric")),
                                   *value,
                                   record.integer("step"),
                                   std::max<std::int64_t>(record.integer("time"), 0));
            }
            return true;
        }
        if (record["param"].is_string()) {
            logged_.params.emplace_back(
                model::logged_name(record.text("param")),
                first_characters(record.text("value"), model::limits::logged_text));
            return true;
        }
        if (!record["tag"].is_string()) return false;
        if (record.text("tag") != parent_tag)
            logged_.tags.emplace_back(
                model::logged_name(record.text("tag")),
                first_characters(record.text("value"), model::limits::logged_text));
        return true;
    }

    static bool takes_or_gives(const Json& record)
    {
        return record["dataset"].is_object() || record["model_input"].is_string() ||
               record["model_output"].is_string();
    }

    Result<> add_input(const Json& record)
    {
        store::Datasets datasets(context_.history);
        if (record["dataset"].is_object()) {
            const auto input = input_of(record);
            return input ? forgive(datasets.log_inputs(id_, {*input}, {}, into)) : Result<>();
        }
        if (record["model_input"].is_string())
            return forgive(datasets.log_inputs(id_, {}, {record.text("model_input")}, into));
        return forgive(datasets.log_outputs(
            id_, {{record.text("model_output"), record.integer("step")}}, into));
    }

    Result<bool> is_ours()
    {
        if (is_maker_) return true;
        const auto run = tracking_.get_run(id_);
        if (!run && is_their_fault(run.error())) return false;
        if (!run) return tl::unexpected(run.error());
        return run->parent == maker_.text();
    }

    Result<> change(const Json& record)
    {
        if (record["made"].is_string()) return make(record);
        const auto state = state_of(record.text("status"));
        const bool untags = record["untag"].is_string() && record.text("untag") != parent_tag;
        if ((!state && !untags) || !TRY(is_ours())) return {};
        if (untags) return forgive(tracking_.delete_tag(id_, record.text("untag"), into));
        return forgive(tracking_.update_run(
            id_, {.state = state, .ended = record.integer("ended"), .name = std::nullopt}, into));
    }

    Result<> make(const Json& record)
    {
        const auto id = RunId::parse(id_);
        if (!id) return {};
        const auto own = TRY(tracking_.get_run(maker_.text()));
        return forgive(tracking_.create_run({.experiment = own.experiment,
                                             .name = record.text("made"),
                                             .user = record.text("user"),
                                             .started = record.integer("time"),
                                             .parent = maker_.text(),
                                             .id = *id}));
    }

    const Context& context_;
    store::Tracking tracking_;
    const RunId& maker_;
    std::string id_;
    bool is_maker_;
    store::Logged logged_;
    std::vector<store::ModelMetric> model_metrics_;
};

}  // namespace

Result<>
bring_tracked_records(const Context& context, const RunId& run, const std::vector<Json>& records)
{
    MadeModels models(context, run);
    std::optional<RunRecords> subject;
    std::string id;
    for (const auto& record : records) {
        if (record["model"].is_string()) {
            TRY(models.take(record));
            continue;
        }
        if (record["trace"].is_string()) {
            TRY(bring_trace(context, run, record));
            continue;
        }
        const auto about = record.text("of", run.text());
        if (!subject || about != id) {
            if (subject) TRY(subject->store());
            id = about;
            subject.emplace(context, run, id);
        }
        TRY(subject->take(record));
    }
    return subject ? subject->store() : Result<>();
}

Result<std::vector<RunId>>
child_runs(const Context& context, const RunId& maker, std::optional<model::RunState> state)
{
    store::RunFilter filter;
    filter.parent = maker.text();
    filter.state = state;
    filter.hidden = store::RunFilter::Hidden::include;
    std::vector<RunId> made;
    for (;;) {
        const auto page = TRY(context.history.list_runs(filter));
        for (const auto& run : page.runs)
            made.push_back(run.id);
        if (!page.next) return made;
        filter.before = page.next;
    }
}

Result<> end_child_runs(const Context& context,
                        const RunId& maker,
                        model::RunState state,
                        std::int64_t ended)
{
    store::Tracking tracking(context.history);
    for (const auto& id : TRY(child_runs(context, maker, model::RunState::running)))
        TRY(forgive(tracking.update_run(
            id.text(), {.state = state, .ended = ended, .name = std::nullopt}, into)));
    return {};
}

}  // namespace ponk::engine
