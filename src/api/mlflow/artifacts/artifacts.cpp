// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/artifact_place.hpp"
#include "api/mlflow/artifacts/artifact_sink.hpp"
#include "api/mlflow/artifacts/file_answer.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"

// Files of runs, models and traces: docs/design/artifacts.md.
namespace ponk::api::mlflow {

namespace {

using store::ArtifactPath;
using Entry = store::ArtifactFolder::Entry;

constexpr std::uint64_t most_from_browser = std::uint64_t{10} << 20;

// A path that a field has; absent is the root.
Result<ArtifactPath> path_of(const Fields& fields, std::string_view name)
{
    const auto text = TRY(fields.find_text(name));
    return ArtifactPath::parse(text.value_or(""));
}

// The same where a file has to be named.
Result<ArtifactPath> file_path_of(const Fields& fields, std::string_view name)
{
    auto path = TRY(ArtifactPath::parse(TRY(fields.text(name))));
    return path;
}

// `prefix` stands before each name.
JsonArray files_json(const std::vector<Entry>& entries, const std::string& prefix)
{
    JsonArray files;
    for (const auto& entry : entries) {
        const bool is_folder = entry.kind == Entry::Kind::folder;
        JsonObject file{{"path", prefix + entry.name}, {"is_dir", is_folder}};
        if (!is_folder && entry.size > 0) file.set("file_size", entry.size);
        files.emplace_back(std::move(file));
    }
    return files;
}

// Names with their way from the owner's folder, and where that is.
Result<net::Response> list_below(const Services& services, const ArtifactPlace& place)
{
    JsonObject answer{{"root_uri", place.root_uri()}};
    const auto entries = TRY(list_place(services, place));
    const auto prefix = place.inside.is_root() ? std::string() : place.inside.text() + "/";
    if (entries && !entries->empty()) answer.set("files", files_json(*entries, prefix));
    return reply(std::move(answer));
}

Result<net::Response>
send_file(const Services& services, const Call& call, const ArtifactPlace& place)
{
    auto file = TRY(open_place(services, place));
    return file_answer(call.request, std::move(file), place.inside.name());
}

// The proxy ---------------------------------------------------------------------------------------

Result<net::Response> list_folder(const Services& services, const Call& call)
{
    const auto place = TRY(find_place(services, TRY(path_of(call.fields, "path"))));
    const auto entries = TRY(list_place(services, place));
    if (!entries || entries->empty()) return reply();
    return reply({{"files", files_json(*entries, "")}});
}

Result<net::Response> download(const Services& services, const Call& call)
{
    const auto path = TRY(ArtifactPath::parse(call.variables.at(0)));
    return send_file(services, call, TRY(find_place(services, path)));
}

Result<net::Response> remove_artifact(const Services& services, const Call& call)
{
    const auto path = TRY(ArtifactPath::parse(call.variables.at(0)));
    const auto place = TRY(find_place(services, path));
    TRY(check_writable(place));
    TRY(remove_place(services, place));
    return reply();
}

std::optional<std::uint64_t> announced_size(const net::Request& request)
{
    const auto length = parse_integer(request.header("Content-Length"));
    if (!length || *length < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*length);
}

Result<std::unique_ptr<net::BodySink>> upload(const Services& services, const Call& call)
{
    const auto path = TRY(ArtifactPath::parse(call.variables.at(0)));
    Upload wanted;
    wanted.find = [&services, path] { return find_place(services, path); };
    wanted.announced = announced_size(call.request);
    return make_artifact_sink(services, std::move(wanted));
}

// By run ------------------------------------------------------------------------------------------

Result<net::Response> list_of_run(const Services& services, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    const auto path = TRY(path_of(call.fields, "path"));
    return list_below(services, TRY(place_in_run(services, run, path)));
}

Result<net::Response> download_of_run(const Services& services, const Call& call)
{
    const auto run = TRY(call.fields.run_id());
    const auto path = TRY(file_path_of(call.fields, "path"));
    return send_file(services, call, TRY(place_in_run(services, run, path)));
}

Result<std::string> parameter_of(const Call& call, std::string_view name)
{
    auto value = call.request.parameter(name).value_or("");
    if (value.empty()) return fail(ErrorKind::invalid_argument, "Request must specify {}", name);
    return value;
}

// What a browser sends; all but the bytes is in the query.
Result<std::unique_ptr<net::BodySink>> upload_to_run(const Services& services, const Call& call)
{
    const auto run = TRY(parameter_of(call, "run_uuid"));
    const auto path = TRY(ArtifactPath::parse(TRY(parameter_of(call, "path"))));
    Upload wanted;
    wanted.find = [&services, run, path] { return place_in_run(services, run, path); };
    wanted.announced = announced_size(call.request);
    wanted.most = most_from_browser;
    wanted.empty = Upload::Empty::refused;
    return make_artifact_sink(services, std::move(wanted));
}

// By model ----------------------------------------------------------------------------------------

Result<ArtifactPlace>
place_in_model(const Services& services, const std::string& id, const ArtifactPath& inside)
{
    const auto model =
        TRY(store::Models(services.history()).get(id, store::Models::Deleted::include));
    return place_at(services, model.location, inside);
}

Result<net::Response> list_of_model(const Services& services, const Call& call)
{
    const auto path = TRY(path_of(call.fields, "artifact_directory_path"));
    return list_below(services, TRY(place_in_model(services, call.variables.at(0), path)));
}

Result<net::Response> download_of_model(const Services& services, const Call& call)
{
    const auto path = TRY(file_path_of(call.fields, "artifact_file_path"));
    return send_file(services, call, TRY(place_in_model(services, call.variables.at(0), path)));
}

Result<net::Response> download_of_version(const Services& services, const Call& call)
{
    const auto name = TRY(call.fields.text("name"));
    const auto number = TRY(call.fields.integer("version"));
    const auto path = TRY(file_path_of(call.fields, "path"));
    const auto version = TRY(store::Registry(services.history()).get_version(name, number));
    return send_file(services, call, TRY(place_at(services, version.location, path)));
}

// What only stores elsewhere can do ---------------------------------------------------------------

// Clients know this sentence and send the file in one piece then.
Result<net::Response> refuse_parts(const Services& /*services*/, const Call& /*call*/)
{
    return refuse(501,
                  not_implemented,
                  "Multipart upload is not supported for the current artifact repository");
}

Result<net::Response> refuse_presigned(const Services& /*services*/, const Call& /*call*/)
{
    return refuse(501,
                  not_implemented,
                  "Presigned addresses are not supported for the current artifact repository");
}

}  // namespace

std::span<const Route> artifact_routes()
{
    using enum Permission;
    constexpr auto raw = Route::Body::raw;
    static constexpr Route table[] = {
        {"GET", "/api/2.0/mlflow-artifacts/artifacts", read, list_folder},
        {"GET", "/api/2.0/mlflow-artifacts/artifacts/{path}", read, download, raw},
        {"PUT", "/api/2.0/mlflow-artifacts/artifacts/{path}", write, nullptr, raw, upload},
        {"DELETE", "/api/2.0/mlflow-artifacts/artifacts/{path}", write, remove_artifact, raw},
        {"POST", "/api/2.0/mlflow-artifacts/mpu/create/{path}", write, refuse_parts, raw},
        {"POST", "/api/2.0/mlflow-artifacts/mpu/complete/{path}", write, refuse_parts, raw},
        {"POST", "/api/2.0/mlflow-artifacts/mpu/abort/{path}", write, refuse_parts, raw},
        {"GET", "/api/2.0/mlflow-artifacts/presigned/{path}", read, refuse_presigned, raw},
        {"POST", "/api/2.0/mlflow/artifacts/presigned-upload-url", write, refuse_presigned, raw},
        {"POST", "/api/2.0/mlflow/artifacts/presigned-download-url", read, refuse_presigned, raw},
        {"GET", "/api/2.0/mlflow/artifacts/list", read, list_of_run},
        {"GET", "/get-artifact", read, download_of_run},
        {"POST", "/ajax-api/2.0/mlflow/upload-artifact", write, nullptr, raw, upload_to_run},
        {"GET", "/api/2.0/mlflow/logged-models/{id}/artifacts/directories", read, list_of_model},
        {"GET", "/ajax-api/2.0/mlflow/logged-models/{id}/artifacts/files", read, download_of_model},
        {"GET", "/model-versions/get-artifact", read, download_of_version},
    };
    return table;
}

}  // namespace ponk::api::mlflow
