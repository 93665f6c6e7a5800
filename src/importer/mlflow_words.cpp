// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_words.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "model/run_words.hpp"
#include "os/file.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::importer {

namespace {

std::optional<model::RunState> state_of(std::string_view status)
{
    if (status == "RUNNING" || status.empty()) return model::RunState::running;
    if (status == "SCHEDULED") return model::RunState::queued;
    if (status == "FINISHED") return model::RunState::completed;
    if (status == "FAILED") return model::RunState::failed;
    if (status == "KILLED") return model::RunState::canceled;
    return std::nullopt;
}

// A version that was deleted and is kept so that its number is not given again.
constexpr std::string_view deleted_stage = "Deleted_Internal";

// The model that "models:/m-0123" names; empty: none.
std::string model_in_source(std::string_view source)
{
    constexpr std::string_view scheme = "models:/";
    if (!source.starts_with(scheme)) return {};
    const auto id = source.substr(scheme.size());
    return id.starts_with("m-") && is_model_id(id) ? std::string(id) : std::string();
}

}  // namespace

Result<store::RunCopy> make_run(const TrackedFields& fields)
{
    store::RunCopy copy;
    copy.depth = store::RunCopy::Depth::tracked;
    auto& run = copy.run;
    const auto id = RunId::parse(fields.id);
    if (!id)
        return fail(ErrorKind::invalid_argument,
                    "'{}' is not a run id (32 hexadecimal digits)",
                    printable(fields.id));
    run.id = *id;
    const auto state = state_of(fields.status);
    if (!state)
        return fail(ErrorKind::invalid_argument,
                    "run '{}' has the unknown status '{}'",
                    run.id.text(),
                    printable(fields.status));
    run.state = *state;
    run.name = fields.name;
    run.user = fields.user;
    run.started = fields.started;
    run.ended = fields.ended;
    run.created = fields.started != 0 ? fields.started : wall_milliseconds();
    run.target_type = model::client_target;
    if (fields.deleted) copy.deleted = std::max<std::int64_t>(fields.deleted_time, 1);
    for (const auto& [key, value] : fields.tags) {
        if (key == store::run_name_tag) {
            if (run.name.empty()) run.name = value;
            continue;
        }
        if (key == "mlflow.source.name") run.script_name = os::Path(value).filename().native();
        run.tags.emplace_back(model::stored_tag(key), value);
    }
    for (const auto& [key, value] : fields.params)
        run.tags.emplace_back(std::string(model::parameter_prefix) + key, value);
    return copy;
}

std::string run_status(std::int64_t number)
{
    constexpr const char* words[] = {"RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};
    if (number < 1 || number > 5) return fmt::format("{}", number);
    return words[number - 1];
}

Result<std::string> model_status(std::int64_t number)
{
    switch (number) {
    case 0:
    case 1:
        return std::string(store::model_pending);
    case 2:
        return std::string("LOGGED_MODEL_READY");
    case 3:
        return std::string("LOGGED_MODEL_UPLOAD_FAILED");
    default:
        return fail(ErrorKind::invalid_argument, "a model has the unknown status {}", number);
    }
}

bool is_model_id(std::string_view id)
{
    return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-' || c == '_';
    });
}

bool add_version(store::RegisteredCopy& copy, store::ModelVersion version, std::string_view status)
{
    copy.last_version = std::max(copy.last_version, version.version);
    if (version.stage == deleted_stage) return true;
    if (!status.empty() && status != "READY") return false;
    if (version.stage.empty()) version.stage = "None";
    if (version.location.empty()) version.location = version.source;
    if (version.logged_model.empty()) version.logged_model = model_in_source(version.source);
    copy.versions.push_back(std::move(version));
    return true;
}

void add_alias(store::RegisteredCopy& copy, const std::string& alias, std::int64_t version)
{
    const bool came = std::any_of(copy.versions.begin(),
                                  copy.versions.end(),
                                  [version](const auto& each) { return each.version == version; });
    if (came) copy.model.aliases.emplace_back(alias, version);
}

}  // namespace ponk::importer
