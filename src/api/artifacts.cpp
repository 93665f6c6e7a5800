// SPDX-License-Identifier: Apache-2.0
#include "engine/artifacts.hpp"

#include "api/handlers.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::api {

namespace {

constexpr std::size_t block = std::size_t{1} << 20;

Result<model::Run> run_record(const Services& services, const Call& call)
{
    return services.history().get_run(TRY(run_of(services, call)));
}

// A stored file, piece by piece. A piece that turns out damaged cuts the body short, which the
// client sees as a broken connection, never as a complete file; asking from there on it hears why.
class ArtifactSource final : public net::BodySource {
public:
    ArtifactSource(const Services& services,
                   model::Run run,
                   std::string path,
                   std::uint64_t from,
                   std::uint64_t size,
                   std::string first)
        : services_(services), run_(std::move(run)), path_(std::move(path)), at_(from), left_(size),
          first_(std::move(first))
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        if (left_ == 0) return Step::end;
        auto bytes =
            first_.empty()
                ? engine::read_artifact(
                      services_.context(), run_, path_, at_, std::min<std::uint64_t>(left_, block))
                : Result<std::string>(std::exchange(first_, {}));
        if (!bytes || bytes->empty()) return Step::broken;
        at_ += bytes->size();
        left_ -= bytes->size();
        out += *bytes;
        return Step::data;
    }

private:
    const Services& services_;
    model::Run run_;
    std::string path_;
    std::uint64_t at_;
    std::uint64_t left_;
    std::string first_;
};

struct Range {
    std::uint64_t from = 0;
    std::uint64_t size = 0;
    bool partial = false;
};

// One range of bytes ("bytes=5-9", "bytes=5-", "bytes=-5"); anything else means the whole file.
Result<Range> range_of(const std::string& header, std::uint64_t size)
{
    Range range{0, size, false};
    if (!header.starts_with("bytes=") || header.find(',') != std::string::npos) return range;
    const auto parts = split(std::string_view(header).substr(6), '-');
    if (parts.size() != 2) return range;
    const auto first = parse_integer(parts[0]);
    const auto last = parse_integer(parts[1]);
    if (parts[0].empty() && last && *last > 0) {
        range.size = std::min<std::uint64_t>(size, static_cast<std::uint64_t>(*last));
        range.from = size - range.size;
    } else if (first && *first >= 0 && static_cast<std::uint64_t>(*first) < size) {
        range.from = static_cast<std::uint64_t>(*first);
        const auto end =
            last ? std::min<std::uint64_t>(
                       size - 1, static_cast<std::uint64_t>(std::max<std::int64_t>(*last, 0)))
                 : size - 1;
        if (end < range.from) return Range{0, size, false};
        range.size = end - range.from + 1;
    } else {
        return fail(
            ErrorKind::invalid_argument, "the range lies outside the file of {} bytes", size);
    }
    range.partial = true;
    return range;
}

}  // namespace

Result<net::Response> list_artifacts(const Services& services, const Call& call)
{
    const auto run = TRY(run_record(services, call));
    JsonArray items;
    const auto list = engine::list_artifacts(services.context(), run);
    for (const auto& artifact : list.artifacts) {
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
    if (engine::is_log_artifact(path)) return show_log(services, call);
    const auto run = TRY(run_record(services, call));
    const auto artifact = TRY(engine::find_artifact(services.context(), run, path));
    auto range = TRY(range_of(call.request.header("Range"), artifact.size));
    if (const auto offset = call.request.parameter("offset")) {
        const auto from = parse_integer(*offset);
        if (!from || *from < 0 || static_cast<std::uint64_t>(*from) > artifact.size)
            return fail(ErrorKind::invalid_argument, "'offset' must lie in the file");
        range.from = static_cast<std::uint64_t>(*from);
        range.size = artifact.size - range.from;
    }
    // The first piece is read now, while a failure can still be told.
    auto first = TRY(engine::read_artifact(services.context(),
                                           run,
                                           artifact.path,
                                           range.from,
                                           std::min<std::uint64_t>(range.size, block)));
    net::Response response;
    response.type = "application/octet-stream";
    response.headers.emplace_back("Accept-Ranges", "bytes");
    response.headers.emplace_back("Ponk-Size", std::to_string(artifact.size));
    if (range.partial) {
        response.status = 206;
        response.headers.emplace_back(
            "Content-Range",
            fmt::format("bytes {}-{}/{}", range.from, range.from + range.size - 1, artifact.size));
    }
    response.stream = std::make_unique<ArtifactSource>(
        services, run, artifact.path, range.from, range.size, std::move(first));
    return response;
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
    Digest id;
    if (!parse_digest(run.snapshot, id))
        return fail(ErrorKind::not_found, "run '{}' has no snapshot", run.id.text());
    const auto manifest = TRY(services.context().objects.read_manifest(id));
    JsonArray files;
    for (const auto& entry : manifest.entries()) {
        if (entry.kind == snapshot::EntryKind::folder) continue;
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
    return net::json_response(
        JsonObject{{"freed_bytes", TRY(engine::clean_run(services.context(), run))},
                   {"elsewhere", run.target_type.starts_with("remote")}});
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
