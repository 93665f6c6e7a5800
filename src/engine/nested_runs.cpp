// SPDX-License-Identifier: Apache-2.0
#include "engine/nested_runs.hpp"

#include "store/tracking.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace ponk::engine {

namespace {

// Whose script made the run; only that one's journals may speak of it.
constexpr std::string_view maker_tag = "ponk.made_by";

// What a client could have got wrong, and a script may have written on purpose, holds nobody up.
bool is_their_fault(const Error& error)
{
    return error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::not_found ||
           error.kind() == ErrorKind::conflict;
}

std::optional<model::RunState> state_of(const std::string& status)
{
    if (status == "FINISHED") return model::RunState::completed;
    if (status == "FAILED") return model::RunState::failed;
    if (status == "KILLED") return model::RunState::canceled;
    if (status == "RUNNING") return model::RunState::running;
    return std::nullopt;
}

std::optional<double> number_of(const Json& value)
{
    if (value.is_number()) return value.as_double();
    if (!value.is_string()) return std::nullopt;
    if (value.as_string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (value.as_string() == "Infinity") return std::numeric_limits<double>::infinity();
    if (value.as_string() == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

// Records about one run, one after the other.
class NestedRun {
public:
    NestedRun(store::Tracking& tracking, const RunId& parent, std::string id)
        : tracking_(tracking), parent_(parent), id_(std::move(id))
    {
    }

    Result<> take(const Json& record)
    {
        if (record["metric"].is_string()) {
            const auto value = number_of(record["value"]);
            if (value && !record.text("metric").empty()) {
                logged_.points.add(
                    record.text("metric"), *value, record.integer("step"), record.integer("time"));
            }
        } else if (record["param"].is_string()) {
            logged_.params.emplace_back(record.text("param"), record.text("value"));
        } else if (record["tag"].is_string()) {
            if (record.text("tag") != maker_tag)
                logged_.tags.emplace_back(record.text("tag"), record.text("value"));
        } else {
            TRY(store());
            return change(record);
        }
        return {};
    }

    // What was taken so far.
    Result<> store()
    {
        if (logged_.points.empty() && logged_.params.empty() && logged_.tags.empty()) return {};
        if (TRY(is_ours())) TRY(forgive(tracking_.log(id_, logged_)));
        logged_ = {};
        return {};
    }

private:
    static Result<> forgive(Result<> result)
    {
        if (!result && is_their_fault(result.error())) return {};
        return result;
    }

    Result<bool> is_ours()
    {
        const auto run = tracking_.get_run(id_);
        if (!run && is_their_fault(run.error())) return false;
        if (!run) return tl::unexpected(run.error());
        return std::ranges::find(run->tags, std::pair(std::string(maker_tag), parent_.text())) !=
               run->tags.end();
    }

    Result<> change(const Json& record)
    {
        if (record["made"].is_string()) return make(record);
        const auto state = state_of(record.text("status"));
        const bool untags = record["untag"].is_string() && record.text("untag") != maker_tag;
        if ((!state && !untags) || !TRY(is_ours())) return {};
        if (untags) return forgive(tracking_.delete_tag(id_, record.text("untag")));
        const auto done = tracking_.update_run(
            id_, {.state = state, .ended = record.integer("ended"), .name = std::nullopt});
        return done ? Result<>() : forgive(tl::unexpected(done.error()));
    }

    Result<> make(const Json& record)
    {
        const auto id = RunId::parse(id_);
        if (!id) return {};
        const auto own = TRY(tracking_.get_run(parent_.text()));
        const auto made = tracking_.create_run({.experiment = own.experiment,
                                                .name = record.text("made"),
                                                .user = record.text("user"),
                                                .started = record.integer("time"),
                                                .tags = {{std::string(maker_tag), parent_.text()}},
                                                .id = *id});
        return made ? Result<>() : forgive(tl::unexpected(made.error()));
    }

    store::Tracking& tracking_;
    const RunId& parent_;
    std::string id_;
    store::Logged logged_;
};

}  // namespace

Result<>
bring_nested_runs(const Context& context, const RunId& parent, const std::vector<Json>& records)
{
    store::Tracking tracking(context.history);
    std::optional<NestedRun> run;
    std::string id;
    for (const auto& record : records) {
        if (!run || record.text("of") != id) {
            if (run) TRY(run->store());
            id = record.text("of");
            run.emplace(tracking, parent, id);
        }
        TRY(run->take(record));
    }
    return run ? run->store() : Result<>();
}

}  // namespace ponk::engine
