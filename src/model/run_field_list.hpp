// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/field_json.hpp"
#include "model/run_fields.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <span>
#include <tuple>

// The list itself, for run_fields.cpp and for the test that compares the API's document with it.
namespace ponk::model {

inline std::span<const std::string_view> names_of(RunState /*of*/)
{
    return run_state_words;
}

}  // namespace ponk::model

namespace ponk::model::run_fields {

inline constexpr unsigned details = static_cast<unsigned>(RunForm::details);
inline constexpr unsigned note = static_cast<unsigned>(RunForm::note);
inline constexpr unsigned copy = static_cast<unsigned>(RunForm::copy);
inline constexpr unsigned api = static_cast<unsigned>(RunForm::api);
inline constexpr unsigned shown = copy | api;
inline constexpr unsigned all = details | note | shown;

template <class Member>
struct RunField {
    std::string_view name;
    Member Run::*member;
    unsigned forms;
    // In the forms that are shown, an empty text is null.
    enum class Empty { kept, null } empty = Empty::kept;
};
// A time in words, which are not read back: `copy` has numbers beside them.
struct ShownTime {
    std::string_view name;
    std::int64_t Run::*member;
    unsigned forms;
};

// What others make of the fields.
struct Computed {
    std::string_view name;
    Json (*value)(const Run&);
    unsigned forms;
};

template <class Member>
constexpr RunField<Member> f(std::string_view name, Member Run::*member, unsigned forms)
{
    return {name, member, forms};
}
constexpr RunField<std::string>
or_null(std::string_view name, std::string Run::*member, unsigned forms)
{
    return {name, member, forms, RunField<std::string>::Empty::null};
}

inline Json duration_json(const Run& run)
{
    // The supervisor measured it by a clock that does not jump.
    if (const auto found = run.timings.find("run"); found != run.timings.end())
        return found->second;
    if (run.started == 0 || run.ended == 0) return {};
    return std::max<std::int64_t>(0, run.ended - run.started);
}

constexpr auto list()
{
    return std::tuple(f("run_id", &Run::id, note | shown),
                      f("run_number", &Run::number, note | shown),
                      f("name", &Run::name, note | shown),
                      f("state", &Run::state, note),
                      f("status", &Run::state, shown),
                      f("exit_code", &Run::exit_code, note | shown),
                      f("error", &Run::error, all),
                      f("project", &Run::project, note | shown),
                      f("project_path", &Run::project_path, all),
                      f("script_name", &Run::script_name, shown),
                      f("arguments", &Run::arguments, details | shown),
                      f("target", &Run::target, shown),
                      f("target_type", &Run::target_type, details | shown),
                      f("run_configuration", &Run::run_configuration, details | shown),
                      f("framework", &Run::framework, details | shown),
                      f("user", &Run::user, all),
                      f("host", &Run::host, all),
                      f("created", &Run::created, note),
                      f("started", &Run::started, note),
                      f("ended", &Run::ended, note),
                      ShownTime{"created_utc", &Run::created, shown},
                      ShownTime{"start_time_utc", &Run::started, shown},
                      ShownTime{"end_time_utc", &Run::ended, shown},
                      Computed{"duration_ms", duration_json, copy},
                      or_null("snapshot", &Run::snapshot, note | shown),
                      or_null("outputs", &Run::outputs, note | shown),
                      or_null("rerun_of", &Run::rerun_of, all),
                      or_null("parent", &Run::parent, shown),
                      f("tracked", &Run::tracked, details | copy),
                      f("hidden", &Run::hidden, note | shown),
                      f("cancel_requested", &Run::cancel_requested, shown),
                      f("job", &Run::job, note),
                      f("imported", &Run::imported, details),
                      Computed{"params", params_json, shown},
                      Computed{"tags", tags_json, shown},
                      f("tags", &Run::tags, note),
                      f("timings", &Run::timings, all),
                      f("git", &Run::git, all),
                      f("configuration", &Run::configuration, details | note | copy),
                      f("environment", &Run::environment, all),
                      f("evidence", &Run::evidence, all),
                      f("gpu", &Run::gpu, details | note | copy),
                      Computed{"gpu_verdict", gpu_verdict_json, shown},
                      Computed{"gpu_evidence", gpu_evidence_json, shown},
                      f("warnings", &Run::warnings, all));
}

}  // namespace ponk::model::run_fields
