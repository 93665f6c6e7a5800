// SPDX-License-Identifier: Apache-2.0
// Projects that the page makes or gets to know.
#include "api/native/handlers.hpp"
#include "api/native/own_command.hpp"
#include "api/native/project_folder.hpp"
#include "base/text.hpp"
#include "config/project/project.hpp"
#include "engine/plan/project_key.hpp"
#include "os/file.hpp"

namespace ponk::api {

namespace {

constexpr std::chrono::minutes clone_limit{30};

Result<os::Path> absolute_folder(const Json& body, const char* field)
{
    os::Path folder = body.text(field);
    if (!folder.is_absolute() || folder.native().find('\0') != std::string::npos)
        return fail(
            ErrorKind::invalid_argument, "'{}' must be the absolute path of a folder", field);
    return folder;
}

// History knows it from now on, with the id that its runs will have.
Result<net::Response> known_now(const Services& services, const os::Path& folder)
{
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem))
        return fail(ErrorKind::not_found, "there is no folder {}", os::in_quotes(folder));
    const auto key = TRY(engine::identify_project(services.history(), folder));
    // The id may be in a file of the folder, which may be a copy of another project's.
    const auto known = TRY(services.history().find_project(key.id));
    if (known && known->project.path != key.path.native() &&
        std::filesystem::is_directory(known->project.path, problem)) {
        return tl::unexpected(Error(
            ErrorKind::conflict,
            fmt::format("{} has the id of the project '{}', whose folder is {}",
                        os::in_quotes(key.path),
                        printable(known->project.name),
                        os::in_quotes(known->project.path)),
            "Remove '.azureml/project.json' from the copy: it is a project of its own then."));
    }
    TRY(services.history().put_project(
        {key.id, key.name, key.path.native(), key.place, key.repository}));
    return net::json_response(
        JsonObject{{"id", key.id}, {"name", key.name}, {"path", key.path.native()}}, 201);
}

}  // namespace

// {path}: a folder that is there. {name, folder, sample | from}: as 'ponk project create'.
Result<net::Response> add_project(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    if (body["path"].is_string()) return known_now(services, TRY(absolute_folder(body, "path")));
    const auto name = body.text("name");
    if (name.empty())
        return fail(ErrorKind::invalid_argument, "'path' is needed, or 'name' and 'folder'");
    const auto folder = TRY(absolute_folder(body, "folder"));
    std::vector<std::string> words{
        "project", "create", "--name=" + name, "--path=" + folder.native()};
    for (const char* field : {"sample", "from"}) {
        if (const auto value = body.text(field); !value.empty())
            words.push_back(fmt::format("--{}={}", field, value));
    }
    const auto made = TRY(run_own_command(services, std::move(words), clone_limit));
    return known_now(services, made.text("path"));
}

Result<net::Response> list_samples(const Services& services, const Call& /*call*/)
{
    auto samples =
        TRY(run_own_command(services, {"project", "sample", "list"}, std::chrono::minutes(1)));
    return net::json_response(JsonObject{{"samples", std::move(samples)}});
}

// Where its runs can go, by its files.
Result<net::Response> list_project_targets(const Services& services, const Call& call)
{
    const auto project = TRY(config::open_project(TRY(folder_of(services, call.variables.at(0)))));
    JsonArray targets;
    for (const auto& name : project.targets) {
        const auto target = config::load_target(project, name);
        targets.emplace_back(
            JsonObject{{"name", name},
                       {"type", target ? Json(config::to_string(*target->type)) : Json()},
                       {"problem", target ? Json() : Json(target.error().message())}});
    }
    JsonArray configurations;
    for (const auto& name : project.run_configurations)
        configurations.emplace_back(name);
    return net::json_response(JsonObject{{"targets", std::move(targets)},
                                         {"run_configurations", std::move(configurations)}});
}

}  // namespace ponk::api
