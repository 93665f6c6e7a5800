// SPDX-License-Identifier: Apache-2.0
#include "api/http/project_access.hpp"
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "engine/files/run_files.hpp"
#include "os/file.hpp"
#include "store/copy/export_lines.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::api {

namespace {

Json project_json(const store::ProjectSummary& summary)
{
    return JsonObject{
        {"id", summary.project.id},
        {"name", summary.project.name},
        {"path", summary.project.path},
        {"runs", summary.runs},
        {"last_run", summary.last_run.empty() ? Json() : Json(summary.last_run.text())}};
}

class ExportSource final : public net::BodySource {
public:
    ExportSource(const store::History& history, store::ExportScope scope)
        : lines_(history, std::move(scope))
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        const auto more = lines_.next(out);
        if (!more)
            return more.error().kind() == ErrorKind::unavailable ? Step::no_room : Step::broken;
        return *more ? Step::data : Step::end;
    }

private:
    store::ExportLines lines_;
};

}  // namespace

Result<net::Response> list_projects(const Services& services, const Call& /*call*/)
{
    JsonArray items;
    for (const auto& summary : TRY(services.history().projects()))
        items.push_back(project_json(summary));
    return net::json_response(JsonObject{{"projects", std::move(items)}});
}

Result<net::Response> restore_experiment(const Services& services, const Call& call)
{
    store::Tracking tracking(services.history());
    const auto experiment = TRY(tracking.get_experiment_named(TRY(body_of(call)).text("name")));
    if (const auto refusal = find_refusal(services, call.request, experiment))
        return net::error_response(refusal->error, refusal->status);
    if (!experiment.deleted)
        return fail(
            ErrorKind::conflict, "The experiment '{}' was not deleted", printable(experiment.name));
    TRY(tracking.restore_experiment(experiment.id));
    return net::json_response(JsonObject{{"restored", experiment.name}});
}

Result<net::Response> look_up_project(const Services& services, const Call& call)
{
    const auto path = call.request.parameter("path").value_or("");
    const auto key = TRY(engine::identify_project(services.history(), path));
    if (const auto known = TRY(services.history().find_project(key.id)))
        return net::json_response(project_json(*known));
    return net::json_response(project_json({{key.id, key.name, key.path.native()}, 0, {}}));
}

Result<net::Response> relink_project(const Services& services, const Call& call)
{
    const auto& id = call.variables.at(0);
    const auto project = TRY(services.history().find_project(id));
    if (!project)
        return fail(ErrorKind::not_found, "there is no project '{}' in history", printable(id));
    const auto key = TRY(engine::identify_project(TRY(body_of(call)).text("path")));
    const auto there = TRY(services.history().find_project_at(key.path.native()));
    if (there && there->project.id != id && there->runs > 0) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("{} has {} runs of its own", os::in_quotes(key.path), there->runs),
                  "Delete them first with 'ponk project delete', or use another folder."));
    }
    TRY(services.history().put_project(
        {id, project->project.name, key.path.native(), key.place, key.repository}));
    return net::json_response(JsonObject{{"id", id}, {"path", key.path.native()}});
}

Result<net::Response> delete_project(const Services& services, const Call& call)
{
    const auto& id = call.variables.at(0);
    store::RunFilter filter;
    filter.project = id;
    filter.hidden = store::RunFilter::Hidden::include;
    filter.limit = 10'000;
    std::vector<RunId> runs;
    for (;;) {
        const auto page = TRY(services.history().list_runs(filter));
        for (const auto& run : page.runs)
            runs.push_back(run.id);
        if (!page.next) break;
        filter.before = page.next;
    }
    const auto place = runs.empty()
                           ? std::nullopt
                           : TRY(store::Tracking(services.history()).find_place(runs.front()));
    TRY(services.history().delete_project(id));
    for (const auto& run : runs)
        TRY(os::remove_tree(services.context().run_directory(run).root()));
    if (place) {
        TRY(engine::client_files(services.context())
                .remove(TRY(store::ArtifactPath::parse(std::to_string(place->experiment)))));
    }
    return net::json_response(JsonObject{{"deleted", id}, {"runs", runs.size()}});
}

Result<net::Response> list_assets(const Services& services, const Call& call)
{
    const auto& project = call.variables.at(0);
    const auto name = call.request.parameter("name");
    const auto assets = TRY(name ? services.history().asset_versions(project, *name)
                                 : services.history().assets(project));
    JsonArray items;
    for (const auto& asset : assets) {
        items.emplace_back(JsonObject{{"name", asset.name},
                                      {"version", asset.version},
                                      {"run_id", asset.run.text()},
                                      {"path", asset.path},
                                      {"size", asset.size},
                                      {"created_utc", utc_text(asset.created)}});
    }
    return net::json_response(JsonObject{{"assets", std::move(items)}});
}

Result<net::Response> export_history(const Services& services, const Call& call)
{
    store::ExportScope scope;
    scope.project = call.request.parameter("project").value_or("");
    if (const auto run = call.request.parameter("run"))
        scope.run = TRY(services.history().resolve_run(*run, scope.project));
    net::Response response;
    response.type = "application/x-ndjson";
    response.stream = std::make_unique<ExportSource>(services.history(), std::move(scope));
    return response;
}

}  // namespace ponk::api
