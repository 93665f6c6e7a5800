// SPDX-License-Identifier: Apache-2.0
// The files of a project, for who edits them in the page.
#include "engine/files/project_files.hpp"

#include "api/http/file_source.hpp"
#include "api/native/handlers.hpp"
#include "api/native/project_folder.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "config/project/check.hpp"
#include "config/project/config_file.hpp"
#include "config/schema/json_schema.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

// Of an entry of a list, beside its name.
constexpr std::size_t item_size = 120;

Result<os::Path> path_of(const Call& call)
{
    auto path = call.request.parameter("path");
    if (!path || path->empty()) return fail(ErrorKind::invalid_argument, "'path' is missing");
    return os::Path(std::move(*path));
}

// What it was read with: "null" is a file that is not there yet.
Result<std::optional<Digest>> read_digest(const Json& body)
{
    if (body["digest"].is_null()) return std::optional<Digest>();
    Digest digest;
    if (!body["digest"].is_string() || !parse_digest(body.text("digest"), digest))
        return fail(ErrorKind::invalid_argument, "'digest' must be 64 hex digits, or null");
    return std::optional(digest);
}

Result<std::string> text_of(const Json& body)
{
    if (!body["text"].is_string())
        return fail(ErrorKind::invalid_argument, "'text' is needed, as a text");
    return body.text("text");
}

}  // namespace

Result<os::Path> folder_of(const Services& services, const std::string& id)
{
    const auto project = TRY(services.history().find_project(id));
    if (!project)
        return fail(ErrorKind::not_found, "there is no project '{}' in history", printable(id));
    os::Path folder = project->project.path;
    if (!folder.is_absolute()) {
        return fail(ErrorKind::not_found,
                    "the project '{}' has no folder on this machine",
                    printable(project->project.name));
    }
    return folder;
}

Result<net::Response> list_project_files(const Services& services, const Call& call)
{
    const os::Path path = call.request.parameter("path").value_or("");
    const auto list =
        TRY(engine::list_folder(TRY(folder_of(services, call.variables.at(0))), path));
    JsonArray entries;
    for (const auto& entry : list.entries) {
        TRY(charge_answer(entry.name.size() + entry.leads_to.size() + item_size));
        const bool is_file = entry.kind == engine::FolderEntry::Kind::file;
        entries.emplace_back(
            JsonObject{{"name", entry.name},
                       {"kind", to_string(entry.kind)},
                       {"size", is_file ? Json(entry.size) : Json()},
                       {"changed", entry.changed == 0 ? Json() : Json(utc_text(entry.changed))},
                       {"link", entry.leads_to.empty() ? Json() : Json(entry.leads_to)}});
    }
    return net::json_response(JsonObject{
        {"path", path.native()}, {"entries", std::move(entries)}, {"left_out", list.left_out}});
}

Result<net::Response> show_project_file(const Services& services, const Call& call)
{
    const auto folder = TRY(folder_of(services, call.variables.at(0)));
    auto file = TRY(engine::open_project_file(folder, TRY(path_of(call))));
    const bool is_part = !call.request.header("Range").empty() || call.request.parameter("offset");
    if (file.size > engine::longest_text || is_part)
        return file_response(call.request, std::move(file));
    // Bytes and digest are of one reading: what is sent back with the digest was made from these.
    net::Response response;
    response.type = "application/octet-stream";
    response.body = TRY(file.read(0, engine::longest_text));
    response.headers.emplace_back("Ponk-Size", std::to_string(response.body.size()));
    response.headers.emplace_back("Ponk-Digest", sha256(response.body).text());
    return response;
}

Result<net::Response> write_project_file(const Services& services, const Call& call)
{
    const auto folder = TRY(folder_of(services, call.variables.at(0)));
    const auto body = TRY(body_of(call));
    engine::FileText text;
    text.text = TRY(text_of(body));
    text.read = TRY(read_digest(body));
    const auto ends = body.text("line_ends", "keep");
    if (ends != "keep" && ends != "given")
        return fail(ErrorKind::invalid_argument, "'line_ends' must be keep or given");
    if (ends == "given") text.line_ends = engine::FileText::LineEnds::as_given;
    const auto stored = TRY(engine::store_text(folder, TRY(path_of(call)), text));
    return net::json_response(JsonObject{{"digest", stored.digest.text()}, {"size", stored.size}},
                              text.read ? 200 : 201);
}

Result<net::Response> check_project_text(const Services& services, const Call& call)
{
    const auto folder = TRY(folder_of(services, call.variables.at(0)));
    const auto body = TRY(body_of(call));
    const os::Path path = body.text("path");
    const bool leaves =
        path.empty() || path.is_absolute() || path.native().find('\0') != std::string::npos ||
        std::ranges::any_of(path, [](const os::Path& part) { return part == ".."; });
    if (leaves) {
        return fail(ErrorKind::invalid_argument,
                    "'path' must be a file of the project, relative to its folder");
    }
    const auto text = TRY(text_of(body));
    const auto kind = config::kind_by_name(path);
    if (kind == config::FileKind::unknown)
        return net::json_response(JsonObject{{"kind", nullptr}, {"remarks", JsonArray()}});
    return net::json_response(
        JsonObject{{"kind", config::to_string(kind)},
                   {"remarks", config::to_json(config::check_text(folder, path, text))}});
}

Result<net::Response> show_schema(const Services& /*services*/, const Call& call)
{
    const auto& kind = call.variables.at(0);
    auto schema = config::find_json_schema(kind);
    if (!schema) {
        std::vector<std::string> known;
        for (const auto each : config::json_schema_kinds())
            known.emplace_back(each);
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("there is no schema '{}'", printable(kind)),
                                    fmt::format("There are: {}.", join(known, ", "))));
    }
    return net::json_response(std::move(*schema));
}

}  // namespace ponk::api
