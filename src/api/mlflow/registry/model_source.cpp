// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/registry/model_source.hpp"

#include "api/mlflow/limits.hpp"
#include "api/mlflow/registry/registry_fields.hpp"
#include "api/mlflow/registry/uri_text.hpp"
#include "base/text.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

constexpr std::size_t longest_source = 2048;

// What was said with the source.
struct Wanted {
    std::string source;
    UriText uri;
    std::optional<std::string> run;
    std::optional<std::string> model;
};

Error invalid_source(const std::string& source, std::string_view why)
{
    return {ErrorKind::invalid_argument,
            fmt::format("Invalid model version source: '{}'. {}", printable(source), why)};
}

tl::unexpected<Error> not_contained(const Wanted& wanted, std::string_view field)
{
    return tl::unexpected(invalid_source(
        wanted.source,
        fmt::format("The {} request parameter must identify the resource that contains the source.",
                    field)));
}

// Addresses of this server's own store, in either form.
bool is_in_store(const UriText& uri)
{
    static const std::vector<std::string> route{"api", "2.0", "mlflow-artifacts", "artifacts"};
    if (uri.scheme == "mlflow-artifacts") return true;
    if (uri.scheme != "http" && uri.scheme != "https") return false;
    return std::search(uri.segments.begin(), uri.segments.end(), route.begin(), route.end()) !=
           uri.segments.end();
}

// Where the artifacts are of the run or model that is said to contain the source; nullopt when
// there is none.
Result<std::optional<std::string>> root_of(const Services& services, const Wanted& wanted)
{
    if (wanted.model)
        return std::optional(TRY(store::Models(services.history()).get(*wanted.model)).location);
    if (!wanted.run || wanted.run->empty()) return std::optional<std::string>();
    const auto run = store::Tracking(services.history()).get_run(*wanted.run);
    if (run) return std::optional(store::artifact_uri(*run));
    if (run.error().kind() != ErrorKind::not_found) return tl::unexpected(run.error());
    return std::optional<std::string>();
}

Result<> check_local(const Services& services, const Wanted& wanted)
{
    const auto root = TRY(root_of(services, wanted));
    const auto place = parse_uri_text(root.value_or(""));
    if (root && place.is_local() && wanted.uri.is_absolute() && wanted.uri.is_within(place))
        return {};
    return tl::unexpected(invalid_source(
        wanted.source,
        fmt::format(
            "To use a local path as a model version source, the {0} request parameter has to"
            " be specified and the local path has to be contained within the artifact"
            " directory of the run specified by the {0}.",
            wanted.model ? "model_id" : "run_id")));
}

Result<> check_place(const Services& services, const Wanted& wanted)
{
    const auto& uri = wanted.uri;
    if (uri.is_local()) return check_local(services, wanted);
    if (!uri.is_absolute())
        return tl::unexpected(invalid_source(
            wanted.source,
            "If supplying a source as an http, https, local file path, ftp, objectstore, or"
            " mlflow-artifacts uri, an absolute path must be provided without relative path"
            " references present. Please provide an absolute path."));
    const auto* const field = wanted.model ? "model_id" : "run_id";
    if (uri.scheme == "runs") {
        const bool own = !wanted.model && wanted.run && uri.authority.empty() &&
                         !uri.segments.empty() && uri.segments.front() == *wanted.run;
        if (!own) return not_contained(wanted, field);
    }
    if (is_in_store(uri)) {
        const auto root = TRY(root_of(services, wanted));
        if (!root || !uri.is_within(parse_uri_text(*root))) return not_contained(wanted, field);
    }
    return {};
}

// "models:/m-0123…"
bool names_logged_model(const UriText& uri)
{
    return uri.segments.size() == 1 && uri.segments.front().find('@') == std::string::npos;
}

Result<ModelSource> from_logged_model(const Services& services, const Wanted& wanted)
{
    if (wanted.model != wanted.uri.segments.front()) return not_contained(wanted, "model_id");
    const auto model = TRY(store::Models(services.history()).get(*wanted.model));
    auto run = wanted.run.value_or("");
    return ModelSource{
        wanted.source, model.location, run.empty() ? model.source_run : run, model.id};
}

// "models:/name/7", "models:/name/latest", "models:/name/Staging", "models:/name@alias"
Result<store::ModelVersion> referred_version(const Services& services, const Wanted& wanted)
{
    const store::Registry registry(services.history());
    const auto& parts = wanted.uri.segments;
    const auto at = parts.front().rfind('@');
    const bool by_alias = parts.size() == 1 && at != std::string::npos;
    const auto name = by_alias ? parts.front().substr(0, at) : parts.front();
    if (store::is_prompt(TRY(registry.get(name)).tags))
        return tl::unexpected(invalid_source(
            wanted.source, "Prompt versions cannot be used as model version sources."));
    if (by_alias) return registry.get_by_alias(name, parts.front().substr(at + 1));
    if (const auto version = parse_integer(parts[1])) return registry.get_version(name, *version);
    if (same_ignoring_case(parts[1], "latest")) return registry.get_by_alias(name, "latest");
    const auto found = TRY(registry.latest_versions(name, {TRY(parse_stage(parts[1]))}));
    if (!found.empty()) return found.front();
    return fail(ErrorKind::not_found,
                "No versions of model with name '{}' and stage '{}' found",
                printable(name),
                printable(parts[1]));
}

Result<ModelSource> from_registry(const Services& services, const Wanted& wanted)
{
    if (!wanted.uri.authority.empty())
        return tl::unexpected(invalid_source(
            wanted.source, "Registered model sources must use the active model registry."));
    const auto& parts = wanted.uri.segments;
    if (!wanted.uri.is_absolute() || parts.empty() || parts.size() > 2)
        return not_contained(wanted, "model_id");
    if (names_logged_model(wanted.uri)) return from_logged_model(services, wanted);
    const auto version = TRY(referred_version(services, wanted));
    if (wanted.run.value_or(version.run) != version.run ||
        wanted.model.value_or(version.logged_model) != version.logged_model)
        return tl::unexpected(invalid_source(wanted.source,
                                             "The run_id and model_id request parameters must match"
                                             " the referenced model version."));
    return ModelSource{fmt::format("models:/{}/{}", version.name, version.version),
                       version.location,
                       version.run,
                       version.logged_model};
}

}  // namespace

Result<ModelSource>
source_of(const Services& services, const Fields& fields, const store::Pairs& tags)
{
    Wanted wanted;
    wanted.source = TRY(fields.text("source"));
    wanted.run = TRY(fields.find_text("run_id"));
    wanted.model = TRY(fields.find_text("model_id"));
    TRY(check_length("source", wanted.source, longest_source));
    if (store::is_prompt(tags)) {
        // Their texts are tags; clients fill the field with one of two words.
        if (wanted.source != "dummy-source" && wanted.source != "prompt-template")
            return fail(ErrorKind::invalid_argument,
                        "Invalid prompt source: '{}'. Prompt sources must use an MLflow"
                        " placeholder.",
                        printable(wanted.source));
        return ModelSource{wanted.source, wanted.source, wanted.run.value_or(""), ""};
    }
    wanted.uri = parse_uri_text(wanted.source);
    if (wanted.uri.scheme == "models") return from_registry(services, wanted);
    if (wanted.model && wanted.model->empty()) wanted.model.reset();
    TRY(check_place(services, wanted));
    ModelSource source{
        wanted.source, wanted.source, wanted.run.value_or(""), wanted.model.value_or("")};
    if (!source.logged_model.empty() && source.run.empty())
        source.run = TRY(store::Models(services.history()).get(source.logged_model)).source_run;
    return source;
}

}  // namespace ponk::api::mlflow
