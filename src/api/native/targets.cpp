// SPDX-License-Identifier: Apache-2.0
#include "api/native/asker.hpp"
#include "api/native/handlers.hpp"
#include "api/native/own_command.hpp"
#include "api/native/project_folder.hpp"
#include "engine/maintenance/look_at_target.hpp"

namespace ponk::api {

namespace {

using Look = Result<Json>(const engine::Context&,
                          const engine::TargetRequest&,
                          const std::stop_token&);

Result<net::Response> look(const Services& services, const Call& call, Look* with)
{
    const auto body = TRY(body_of(call));
    const os::Path project = body.text("project");
    if (!project.is_absolute())
        return fail(ErrorKind::invalid_argument, "'project' must be an absolute path");
    const engine::TargetRequest request{
        project, body.text("target", "local"), environment_of(body)};
    return net::json_response(TRY(with(services.context(), request, {})));
}

// Several logins may be tried, and the machine is looked at afterwards.
constexpr std::chrono::minutes attach_limit{10};
constexpr std::chrono::minutes host_key_limit{3};

// "--username=ann" for "username" in the body. An empty text says nothing.
void add_option(std::vector<std::string>& words,
                const Json& body,
                const char* field,
                const char* option)
{
    if (const auto value = body.text(field); !value.empty())
        words.push_back(fmt::format("--{}={}", option, value));
}

}  // namespace

// As 'ponk computetarget attach' would, which is what does it.
Result<net::Response> attach_target(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto folder = TRY(folder_of(services, call.variables.at(0)));
    for (const char* needed : {"type", "name"}) {
        if (body.text(needed).empty())
            return fail(ErrorKind::invalid_argument, "'{}' is needed", needed);
    }
    if (!body.text("address").empty() && body.text("fingerprint").empty()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  "a machine that is reached by SSH needs 'fingerprint'",
                  "'POST /targets/host-key' shows it. Somebody has to compare it."));
    }
    std::vector<std::string> words{
        "computetarget", "attach", fmt::format("--project={}", folder.native())};
    for (const char* same :
         {"type", "name", "address", "username", "fingerprint", "image", "python"})
        add_option(words, body, same, same);
    add_option(words, body, "private_key_file", "private-key-file");
    auto password = body.text("password");
    if (!password.empty()) words.emplace_back("--password-stdin");
    const auto made =
        TRY(run_own_command(services, std::move(words), attach_limit, std::move(password)));
    return net::json_response(
        JsonObject{
            {"name", made["name"]},
            {"type", made["type"]},
            {"ready", made["ready"]},
            {"problems", made["problems"].is_array() ? made["problems"] : Json(JsonArray{})}},
        201);
}

// Before anything else is sent to the machine.
Result<net::Response> show_host_key(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    if (body.text("address").empty())
        return fail(ErrorKind::invalid_argument, "'address' is needed");
    std::vector<std::string> words{"computetarget", "attach", "--show-host-key"};
    add_option(words, body, "address", "address");
    add_option(words, body, "username", "username");
    const auto shown = TRY(run_own_command(services, std::move(words), host_key_limit));
    return net::json_response(JsonObject{{"address", shown["address"]},
                                         {"type", shown["type"]},
                                         {"fingerprint", shown["fingerprint"]},
                                         {"known", shown["known"]}});
}

Result<net::Response> check_target(const Services& services, const Call& call)
{
    return look(services, call, engine::check_target);
}

Result<net::Response> list_gpus(const Services& services, const Call& call)
{
    return look(services, call, engine::list_gpus);
}

}  // namespace ponk::api
