// SPDX-License-Identifier: Apache-2.0
#include "model/run_fields.hpp"

#include "base/field_json.hpp"
#include "base/time.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <span>

namespace ponk::model {

static std::span<const std::string_view> names_of(RunState /*of*/)
{
    return run_state_words;
}

namespace {

constexpr unsigned details = static_cast<unsigned>(RunForm::details);
constexpr unsigned note = static_cast<unsigned>(RunForm::note);
constexpr unsigned copy = static_cast<unsigned>(RunForm::copy);
constexpr unsigned api = static_cast<unsigned>(RunForm::api);
constexpr unsigned shown = copy | api;
constexpr unsigned all = details | note | shown;

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

Json duration_json(const Run& run)
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

class Writer {
public:
    Writer(const Run& run, unsigned form) : run_(run), form_(form) {}

    template <class Member>
    void add(const RunField<Member>& field)
    {
        const auto& value = run_.*field.member;
        if (form_ == details && is_usual(value, usual_.*field.member)) return;
        if constexpr (std::same_as<Member, std::string>) {
            if ((form_ & shown) != 0 && value.empty() &&
                field.empty == RunField<Member>::Empty::null) {
                out_.append(std::string(field.name), Json());
                return;
            }
        }
        out_.append(std::string(field.name), fields::write(value));
    }
    void add(const ShownTime& field)
    {
        const auto time = run_.*field.member;
        out_.append(std::string(field.name), time == 0 ? Json() : Json(utc_text(time)));
    }
    void add(const Computed& field) { out_.append(std::string(field.name), field.value(run_)); }

    JsonObject take() { return std::move(out_); }

private:
    template <class Member>
    static bool is_usual(const Member& value, const Member& usual)
    {
        if constexpr (is_optional<Member>)
            return value.has_value() == usual.has_value();
        else
            return value == usual;
    }

    const Run& run_;
    const Run usual_{};
    unsigned form_;
    JsonObject out_;
};

class Reader {
public:
    Reader(const Json& json, Run& run) : json_(json), run_(run) {}

    template <class Member>
    void take(const RunField<Member>& field)
    {
        const auto& given = json_[field.name];
        if (given.is_null()) return;
        auto value = run_.*field.member;
        const auto read = fields::read(given, value, std::string(field.name));
        if (read) run_.*field.member = std::move(value);
        if (!read && done_) done_ = read;
    }
    void take(const ShownTime& /*field*/) {}
    void take(const Computed& /*field*/) {}

    [[nodiscard]] Result<> done() const { return done_; }

private:
    const Json& json_;
    Run& run_;
    Result<> done_;
};

}  // namespace

JsonObject write_run(const Run& run, RunForm form)
{
    const auto bit = static_cast<unsigned>(form);
    Writer writer(run, bit);
    const auto add = [&](const auto& field) {
        if ((field.forms & bit) != 0) writer.add(field);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, list());
    return writer.take();
}

Result<> read_run(const Json& json, RunForm form, Run& out)
{
    const auto bit = static_cast<unsigned>(form);
    if (!json.is_object()) return fields::wrong("run", "an object");
    Reader reader(json, out);
    const auto take = [&](const auto& field) {
        if ((field.forms & bit) != 0) reader.take(field);
    };
    std::apply([&](const auto&... field) { (take(field), ...); }, list());
    return reader.done();
}

}  // namespace ponk::model
