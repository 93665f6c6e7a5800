// SPDX-License-Identifier: Apache-2.0
#include "api/native/imports.hpp"

#include "api/native/handlers.hpp"
#include "base/id.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "engine/files/run_files.hpp"

namespace ponk::api {

namespace {

constexpr std::size_t most_sessions = 4;
// A client asks for the next step as soon as it has the answer to the one before.
constexpr std::int64_t forgotten_after_ms = std::int64_t{60} * 1000;
constexpr auto step_time = std::chrono::milliseconds(300);

tl::unexpected<Error> not_absolute(std::string_view field)
{
    return fail(ErrorKind::invalid_argument, "'{}' must be an absolute path", field);
}

Result<importer::Options> options_of(const Json& body)
{
    importer::Options options;
    options.path = body.text("path");
    if (!options.path.is_absolute()) return not_absolute("path");
    if (!body["format"].is_null()) {
        options.format = importer::parse_format(body.text("format"));
        if (!options.format)
            return fail(ErrorKind::invalid_argument,
                        "'{}' is not a format: use jsonl, csv, mlflow-db or mlflow-files",
                        printable(body.text("format")));
    }
    if (!body["artifacts"].is_null()) {
        options.artifacts = os::Path(body.text("artifacts"));
        if (!options.artifacts->is_absolute()) return not_absolute("artifacts");
    }
    if (body.boolean("dry_run")) options.mode = store::Copies::Mode::look;
    if (body["experiments"].is_object()) {
        for (const auto& [name, other] : body["experiments"].as_object()) {
            if (!other.is_string() || other.as_string().empty())
                return fail(ErrorKind::invalid_argument,
                            "'experiments' must give each experiment another name");
            options.experiments[name] = other.as_string();
        }
    }
    return options;
}

Result<Imports*> imports_of(const Services& services)
{
    if (services.imports == nullptr)
        return fail(ErrorKind::unavailable, "this server does not support imports");
    return services.imports;
}

importer::Destination destination_of(const Services& services)
{
    const auto& objects = services.context().objects;
    return {services.history(),
            engine::client_files(services.context()),
            [&objects](const std::string& text) {
                Digest digest;
                return parse_digest(text, digest) && objects.contains(digest).value_or(false);
            }};
}

}  // namespace

Result<std::string> Imports::add(std::unique_ptr<importer::Import> import)
{
    auto session = std::make_shared<Session>();
    session->import = std::move(import);
    session->used = boot_milliseconds();
    auto sessions = sessions_.lock();
    std::erase_if(*sessions, [now = session->used.load()](const auto& each) {
        const std::unique_lock idle(each.second->stepping, std::try_to_lock);
        return idle && now - each.second->used > forgotten_after_ms;
    });
    if (sessions->size() >= most_sessions)
        return fail(ErrorKind::unavailable,
                    "{} imports are already running: wait for one of them",
                    sessions->size());
    auto id = RunId::make().text();
    sessions->emplace(id, std::move(session));
    return id;
}

Result<std::shared_ptr<Imports::Session>> Imports::get(const std::string& id)
{
    auto sessions = sessions_.lock();
    const auto found = sessions->find(id);
    if (found == sessions->end())
        return fail(ErrorKind::not_found, "there is no import '{}'", printable(id));
    found->second->used = boot_milliseconds();
    return found->second;
}

void Imports::remove(const std::string& id)
{
    sessions_.lock()->erase(id);
}

Result<net::Response> begin_import(const Services& services, const Call& call)
{
    auto options = TRY(options_of(TRY(body_of(call))));
    const bool look = options.mode == store::Copies::Mode::look;
    auto import = TRY(importer::Import::open(destination_of(services), std::move(options)));
    const auto* const format = importer::to_string(import->format());
    const auto id = TRY(TRY(imports_of(services))->add(std::move(import)));
    return net::json_response(JsonObject{{"import", id}, {"format", format}, {"dry_run", look}},
                              201);
}

Result<net::Response> step_import(const Services& services, const Call& call)
{
    const auto& id = call.variables.at(0);
    auto* const imports = TRY(imports_of(services));
    const auto session = TRY(imports->get(id));
    const std::unique_lock lock(session->stepping, std::try_to_lock);
    if (!lock)
        return fail(ErrorKind::conflict, "another request is using the import '{}'", printable(id));
    const auto deadline = after(step_time);
    bool done = false;
    do {
        const auto more = session->import->step();
        if (!more) {
            imports->remove(id);
            return tl::unexpected(more.error());
        }
        done = !*more;
    } while (!done && Deadline::clock::now() < deadline);
    session->used = boot_milliseconds();
    if (done) imports->remove(id);
    const auto& report = session->import->report();
    return net::json_response(JsonObject{
        {"done", done},
        {"fraction", done ? 1.0 : session->import->fraction()},
        {"report",
         report.to_json(done ? importer::Report::Detail::all : importer::Report::Detail::counts)}});
}

Result<net::Response> end_import(const Services& services, const Call& call)
{
    TRY(imports_of(services))->remove(call.variables.at(0));
    return net::json_response(JsonObject{{"ended", call.variables.at(0)}});
}

}  // namespace ponk::api
