// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/registry.hpp"

#include "base/base64.hpp"
#include "base/text.hpp"
#include "dockerapi/client_settings.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

namespace ponk::dockerapi {

using namespace std::chrono_literals;

namespace {

constexpr const char* docker_hub = "docker.io";
// The name under which Docker's client keeps a login; its own registry has a special one.
std::string key_of(const std::string& registry)
{
    return registry == docker_hub ? fmt::format("https://index.{}/v1/", docker_hub) : registry;
}

// "https://host/v2/" and "host" are the same registry.
std::string bare(std::string_view server)
{
    for (const std::string_view scheme : {"https://", "http://"})
        if (server.starts_with(scheme)) server.remove_prefix(scheme.size());
    return std::string(server.substr(0, server.find('/')));
}

Result<std::optional<Login>> ask_helper(const std::string& helper,
                                        const std::string& server,
                                        const std::vector<std::string>& environment,
                                        std::stop_token stop)
{
    const auto program = "docker-credential-" + helper;
    const auto answer = TRY(
        os::run({.argv = {program, "get"}, .env = environment, .directory = "/", .input = server},
                after(30s),
                std::move(stop))
            .map_error(while_doing("ask for the login of '{}'", server)));
    if (answer.exit.status() != 0) {
        if (answer.out.find("credentials not found") != std::string::npos) return std::nullopt;
        return fail(ErrorKind::unavailable,
                    "'{} get' failed for '{}': {}",
                    program,
                    server,
                    printable(trim(answer.out + answer.err)));
    }
    const auto body = TRY(parse_json(answer.out).map_error(while_doing("'{} get'", program)));
    Login login{.username = body.text("Username"), .server = server};
    (login.username == "<token>" ? login.identity_token : login.password) = body.text("Secret");
    if (!login.identity_token.empty()) login.username.clear();
    return login;
}

std::optional<Login> login_of(const std::string& server, const Json& entry)
{
    Login login{.username = entry.text("username"),
                .password = entry.text("password"),
                .identity_token = entry.text("identitytoken"),
                .server = server};
    if (const auto pair = from_base64(entry.text("auth")); pair && !pair->empty()) {
        const auto colon = pair->find(':');
        if (colon == std::string::npos) return std::nullopt;
        login.username = pair->substr(0, colon);
        login.password = pair->substr(colon + 1);
    }
    if (login.username.empty() && login.identity_token.empty()) return std::nullopt;
    return login;
}

}  // namespace

std::string registry_of(std::string_view image)
{
    const auto slash = image.find('/');
    if (slash == std::string_view::npos) return docker_hub;
    const auto first = image.substr(0, slash);
    const bool is_host =
        first.find_first_of(".:") != std::string_view::npos || first == "localhost";
    if (!is_host || first == fmt::format("index.{}", docker_hub)) return docker_hub;
    return std::string(first);
}

Result<std::optional<Login>> find_login(const std::string& registry,
                                        const std::vector<std::string>& environment,
                                        std::stop_token stop)
{
    const auto settings = TRY(read_settings(settings_folder(environment)));
    const auto key = key_of(registry);
    auto helper = settings["credHelpers"].text(registry);
    if (helper.empty()) helper = settings["credHelpers"].text(key);
    if (helper.empty()) helper = settings.text("credsStore");
    if (!helper.empty()) {
        auto login = TRY(ask_helper(helper, key, environment, stop));
        if (login) return login;
    }
    const auto& auths = settings["auths"];
    if (!auths.is_object()) return std::nullopt;
    for (const auto& [server, entry] : auths.as_object()) {
        if (server != key && bare(server) != bare(key)) continue;
        if (auto login = login_of(server, entry)) return login;
    }
    return std::nullopt;
}

std::string header_of(const Login& login)
{
    JsonObject body{{"serveraddress", login.server}};
    if (login.identity_token.empty()) {
        body.set("username", login.username);
        body.set("password", login.password);
    } else {
        body.set("identitytoken", login.identity_token);
    }
    return to_base64(to_json(body), Base64::url);
}

}  // namespace ponk::dockerapi
