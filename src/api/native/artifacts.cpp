// SPDX-License-Identifier: Apache-2.0
#include "engine/files/artifacts.hpp"

#include "api/http/file_source.hpp"
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"

namespace ponk::api {

namespace {

// Of an entry of a list, beside its name.
constexpr std::size_t item_size = 160;

Result<model::Run> run_record(const Services& services, const Call& call)
{
    return services.history().get_run(TRY(run_of(services, call)));
}

}  // namespace

Result<net::Response> list_artifacts(const Services& services, const Call& call)
{
    const auto run = TRY(run_record(services, call));
    JsonArray items;
    const auto list = engine::list_artifacts(services.context(), run);
    for (const auto& artifact : list.artifacts) {
        TRY(charge_answer(artifact.path.size() + artifact.link.size() + item_size));
        items.emplace_back(
            JsonObject{{"path", artifact.path},
                       {"size", artifact.size},
                       {"digest", artifact.digest.empty() ? Json() : Json(artifact.digest)},
                       {"link", artifact.link.empty() ? Json() : Json(artifact.link)}});
    }
    JsonArray problems;
    for (const auto& problem : list.problems) {
        problems.emplace_back(JsonObject{{"kind", to_string(problem.kind())},
                                         {"message", problem.message()},
                                         {"hint", problem.hint()}});
    }
    JsonArray left_out;
    for (const auto& link : list.left_out)
        left_out.emplace_back(JsonObject{{"path", link.path}, {"link", link.link}});
    return net::json_response(JsonObject{{"artifacts", std::move(items)},
                                         {"left_out", std::move(left_out)},
                                         {"problems", std::move(problems)}});
}

Result<net::Response> download_artifact(const Services& services, const Call& call)
{
    const auto& path = call.variables.at(1);
    const auto run = TRY(run_record(services, call));
    auto found = engine::open_artifact(services.context(), run, path);
    // After the files: a client may have logged one under the log's name.
    if (!found && engine::is_log_artifact(path)) return show_log(services, call);
    return file_response(call.request, TRY(std::move(found)));
}

// The same with the name as a parameter, for names that no address can hold ("a%2Fb").
Result<net::Response> download_named_artifact(const Services& services, const Call& call)
{
    const auto path = call.request.parameter("path");
    if (!path) return fail(ErrorKind::invalid_argument, "'path' is missing");
    return download_artifact(services, {call.request, {call.variables.at(0), *path}});
}

Result<net::Response> show_snapshot(const Services& services, const Call& call)
{
    const auto run = TRY(run_record(services, call));
    const auto id = TRY(engine::snapshot_of(run));
    const auto manifest = TRY(services.context().objects.read_manifest(id));
    JsonArray files;
    for (const auto& entry : manifest.entries()) {
        if (entry.kind == snapshot::EntryKind::folder) continue;
        TRY(charge_answer(entry.path.size() + item_size));
        files.emplace_back(JsonObject{
            {"path", entry.path},
            {"size", entry.size},
            {"mode",
             entry.kind == snapshot::EntryKind::executable ? "executable"
             : entry.kind == snapshot::EntryKind::link     ? "link"
                                                           : "file"},
            {"digest",
             entry.is_file() && entry.chunks.empty() ? Json(entry.digest.text()) : Json()}});
    }
    return net::json_response(
        JsonObject{{"id", run.snapshot}, {"files", std::move(files)}, {"git", run.git}});
}

Result<net::Response> show_snapshot_file(const Services& services, const Call& call)
{
    constexpr std::uint64_t most = std::uint64_t{4} << 20;
    const auto path = call.request.parameter("path");
    if (!path) return fail(ErrorKind::invalid_argument, "'path' is missing");
    const auto run = TRY(run_record(services, call));
    const auto& objects = services.context().objects;
    const auto manifest = TRY(objects.shared_manifest(TRY(engine::snapshot_of(run))));
    const auto* entry = manifest->find(*path);
    if (entry == nullptr || !entry->is_file())
        return fail(ErrorKind::not_found,
                    "the snapshot of run {} has no file '{}'",
                    run.id.text(),
                    printable(*path));
    if (entry->size > most || !entry->chunks.empty())
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("'{}' has {}, more than the {} that are shown",
                                                printable(*path),
                                                byte_size_text(entry->size),
                                                byte_size_text(most)),
                                    "'ponk project restore' restores all files of a run."));
    TRY(charge_answer(static_cast<std::size_t>(entry->size)));
    net::Response response;
    response.type = "application/octet-stream";
    response.body = TRY(objects.read(entry->digest, most));
    return response;
}

Result<net::Response> restore_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto run = TRY(run_record(services, call));
    const os::Path destination = body.text("destination");
    const auto report =
        TRY(engine::restore_snapshot(services.context(), run, destination, umask_of(body)));
    return net::json_response(
        JsonObject{{"destination", destination.native()},
                   {"files", report.files},
                   {"bytes", report.bytes},
                   {"notices", JsonArray(report.notices.begin(), report.notices.end())}});
}

Result<net::Response> return_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto run = TRY(run_record(services, call));
    TRY(engine::snapshot_of(run));
    if (!body["destination"].is_string()) TRY(engine::require_made_here(run));
    const os::Path destination = body.text("destination", run.project_path);
    const auto report = TRY(engine::return_files(services.context(),
                                                 run,
                                                 destination,
                                                 body.boolean("overwrite") ? engine::Overwrite::yes
                                                                           : engine::Overwrite::no,
                                                 umask_of(body)));
    const auto list = [](const std::vector<std::string>& names) {
        return JsonArray(names.begin(), names.end());
    };
    JsonArray failed;
    for (const auto& [path, error] : report.failed) {
        failed.emplace_back(JsonObject{
            {"path", path}, {"kind", to_string(error.kind())}, {"message", error.message()}});
    }
    return net::json_response(JsonObject{{"copied", list(report.copied)},
                                         {"skipped", list(report.skipped)},
                                         {"failed", std::move(failed)}});
}

Result<net::Response> clean_run(const Services& services, const Call& call)
{
    const auto run = TRY(run_record(services, call));
    const auto freed = TRY(engine::clean_run(services.context(), run));
    return net::json_response(
        JsonObject{{"freed_bytes", freed}, {"elsewhere", run.target_type.starts_with("remote")}});
}

Result<net::Response> diagnose_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto run = TRY(run_record(services, call));
    const auto done =
        TRY(engine::write_diagnostics(services.context(), run, body.text("destination")));
    return net::json_response(
        JsonObject{{"path", done.path.native()},
                   {"problems", JsonArray(done.problems.begin(), done.problems.end())}});
}

Result<net::Response> promote_artifact(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto run = TRY(run_record(services, call));
    const auto promoted =
        TRY(engine::promote(services.context(), run, body.text("artifact"), body.text("name")));
    return net::json_response(JsonObject{{"name", promoted.asset.name},
                                         {"version", promoted.asset.version},
                                         {"run_id", run.id.text()},
                                         {"path", promoted.asset.path},
                                         {"link", promoted.link.native()}});
}

}  // namespace ponk::api
