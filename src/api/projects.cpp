// SPDX-License-Identifier: Apache-2.0
#include "api/handlers.hpp"
#include "base/time.hpp"
#include "engine/run_files.hpp"
#include "os/file.hpp"
#include "store/tracking.hpp"

#include <fcntl.h>

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

// A file that is sent as it is.
class FileSource final : public net::BodySource {
public:
    explicit FileSource(os::Fd file) : file_(std::move(file)) {}
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        auto bytes = os::read_at(file_.get(), at_, std::size_t{256} * 1024);
        if (!bytes) return Step::broken;
        at_ += bytes->size();
        out += *bytes;
        return bytes->empty() ? Step::end : Step::data;
    }

private:
    os::Fd file_;
    std::uint64_t at_ = 0;
};

}  // namespace

Result<net::Response> list_projects(const Services& services, const Call& /*call*/)
{
    JsonArray items;
    for (const auto& summary : TRY(services.history().projects()))
        items.push_back(project_json(summary));
    return net::json_response(JsonObject{{"projects", std::move(items)}});
}

Result<net::Response> look_up_project(const Services& services, const Call& call)
{
    const auto path = call.request.parameter("path").value_or("");
    const auto key = TRY(engine::identify_project(path));
    if (const auto known = TRY(services.history().find_project(key.id)))
        return net::json_response(project_json(*known));
    return net::json_response(project_json({{key.id, key.name, key.path.native()}, 0, {}}));
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
        TRY(os::remove_tree(services.context().run_directory(run)));
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
    // Through a file without a name: memory stays small and the database is not held open while
    // a slow client reads.
    auto file = TRY(os::open_file(services.context().home, O_TMPFILE | O_RDWR, 0600));
    store::RunFilter filter;
    filter.project = call.request.parameter("project").value_or("");
    filter.hidden = store::RunFilter::Hidden::include;
    std::string pending;
    TRY(services.history().export_lines(filter, [&](const std::string& line) -> Result<> {
        pending += line + "\n";
        if (pending.size() < std::size_t{1} << 20) return {};
        TRY(os::write_all(file.get(), pending));
        pending.clear();
        return {};
    }));
    TRY(os::write_all(file.get(), pending));
    net::Response response;
    response.type = "application/x-ndjson";
    response.stream = std::make_unique<FileSource>(std::move(file));
    return response;
}

}  // namespace ponk::api
