// SPDX-License-Identifier: Apache-2.0
#include "api/http/project_access.hpp"
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "api/native/run_scope.hpp"
#include "base/text.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/run/run_note.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "engine/tracked/tracked_records.hpp"
#include "model/run_words.hpp"
#include "query/search/filter.hpp"
#include "query/search/grammar.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

// Whoever loads the model would find nothing.
Result<> check_versions(const Services& services, const RunId& id)
{
    store::RegistrySearch search;
    search.filter = TRY(query::search::parse_filter(query::search::model_versions,
                                                    fmt::format("run_id = '{}'", id.text())));
    search.limit = 1;
    const auto found = TRY(store::Registry(services.history()).search_versions(search));
    if (found.versions.empty()) return {};
    const auto& version = found.versions.front();
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("run {} holds the files of version {} of the model '{}'",
                          id.text(),
                          version.version,
                          printable(version.name)),
              "Delete the model versions first, or use 'ponk history delete --force': the versions "
              "then lose their files."));
}

Result<> delete_one(const Services& services, const RunId& id)
{
    const auto place = TRY(store::Tracking(services.history()).find_place(id));
    TRY(services.history().delete_run(id));
    // History first: a folder without a record is garbage, a record without its log would be a lie.
    TRY(os::remove_tree(services.context().run_directory(id).root()));
    if (!place) return {};
    return engine::client_files(services.context())
        .remove(engine::client_folder(place->experiment, id));
}

Result<store::RunFilter> filter_of(const Services& services, const net::Request& request)
{
    auto filter =
        TRY(run_scope([&request](std::string_view name) { return request.parameter(name); }));
    if (const auto before = request.parameter("before"))
        filter.before = TRY(services.history().resolve_run(*before));
    return filter;
}

}  // namespace

Result<net::Response> list_runs(const Services& services, const Call& call)
{
    const auto page = TRY(services.history().list_runs(TRY(filter_of(services, call.request))));
    auto runs = TRY(runs_json(services, page.runs));
    return net::json_response(JsonObject{{"runs", std::move(runs)},
                                         {"next", page.next ? Json(page.next->text()) : Json()}});
}

Result<net::Response> show_run(const Services& services, const Call& call)
{
    auto run = TRY(services.history().get_run(TRY(run_of(services, call))));
    const auto list = engine::list_artifacts(services.context(), run);
    for (const auto& problem : list.problems) {
        if (std::find(run.warnings.begin(), run.warnings.end(), problem.message()) ==
            run.warnings.end())
            run.warnings.push_back(problem.message());
    }
    auto json = TRY(run_json(services, run));
    std::vector<std::string> names;
    for (const auto& artifact : list.artifacts)
        names.push_back(artifact.path);
    json.as_object().set("attachments", join(names, ","));
    json.as_object().set("configuration", run.configuration);
    return net::json_response(json);
}

namespace {

// Who may not restore the run's experiment restores the run alone.
Result<store::Tracking::OfDeletedExperiment>
its_experiment(const Services& services, const Call& call, const RunId& run)
{
    using Its = store::Tracking::OfDeletedExperiment;
    const store::Tracking tracking(services.history());
    const auto place = TRY(tracking.find_place(run));
    if (!place) return Its::leave;
    const auto experiment = TRY(tracking.get_experiment(place->experiment));
    return find_refusal(services, call.request, experiment) ? Its::leave : Its::restore_both;
}

}  // namespace

Result<net::Response> change_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto id = TRY(run_of(services, call));
    const auto secrets =
        TRY(engine::RunSecrets::load(services.context(), TRY(services.history().get_run(id))));
    store::RunChange change;
    if (body["hidden"].is_bool()) change.hidden = body.boolean("hidden");
    if (body["name"].is_string()) change.name = secrets.hide(body.text("name"));
    if (body["tags"].is_object()) {
        for (const auto& [key, value] : body["tags"].as_object()) {
            TRY(services.history().set_tag(
                id,
                model::stored_tag(secrets.hide(key)),
                value.is_string() ? std::optional(secrets.hide(value.as_string())) : std::nullopt));
        }
    }
    if (body["deleted"].is_bool()) {
        store::Tracking tracking(services.history());
        TRY(body.boolean("deleted")
                ? tracking.delete_run(id.text())
                : tracking.restore_run(id.text(), TRY(its_experiment(services, call, id))));
    }
    const auto run = TRY(services.history().update_run(id, change));
    // Its folder remembers the change too; history is what counts.
    if (model::is_terminal(run.state))
        static_cast<void>(
            engine::write_last_note(services.context().run_directory(id).root(), run));
    return net::json_response(TRY(run_json(services, run)));
}

Result<net::Response> delete_run(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    // Their files are among those of the run whose script made them, and go with it.
    const auto made = TRY(engine::child_runs(services.context(), id));
    if (call.request.parameter("force").value_or("") != "1") {
        TRY(check_versions(services, id));
        for (const auto& one : made)
            TRY(check_versions(services, one));
    }
    // Refused for one that has not ended: first, then.
    TRY(delete_one(services, id));
    JsonArray gone;
    for (const auto& one : made) {
        TRY(delete_one(services, one));
        gone.emplace_back(one.text());
    }
    return net::json_response(JsonObject{{"deleted", id.text()}, {"child_runs", std::move(gone)}});
}

Result<net::Response> cancel_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto id = TRY(run_of(services, call));
    if (!body["grace_seconds"].is_null() && !body["grace_seconds"].is_integer())
        return fail(ErrorKind::invalid_argument, "'grace_seconds' must be a whole number");
    const auto usual = model::grace_of(TRY(services.history().get_run(id)).configuration);
    const auto grace = std::chrono::seconds(
        std::clamp<std::int64_t>(body.integer("grace_seconds", usual.count()), 0, 86'400));
    const auto run = TRY(services.engine.cancel(id, grace));
    return net::json_response(TRY(run_json(services, run)));
}

}  // namespace ponk::api
