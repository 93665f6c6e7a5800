// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/endpoint.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "dockerapi/client_settings.hpp"

#include <fmt/format.h>

#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::dockerapi {

namespace {

// How messages about an engine that is not to be had begin; they may come from another machine, as
// text.
constexpr std::string_view absent = "no Docker engine: there is no socket ";
constexpr std::string_view closed = "this user has no access to the Docker engine at ";
constexpr std::string_view silent = "no Docker engine listens at ";

bool listens_at(const Path& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

Result<Path> socket_of(const std::string& address, const std::string& named_by)
{
    constexpr std::string_view scheme = "unix://";
    if (address.starts_with(scheme)) return Path(address.substr(scheme.size()));
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("{} is '{}', which is not a Unix socket", named_by, address),
              "Attach that machine as a target: 'ponk computetarget attach remotedocker …'."));
}

// The context's description is in a folder named by the digest of its name.
Result<Path> socket_of_context(const std::string& name, const Path& settings)
{
    const auto file = settings / "contexts" / "meta" / sha256(name).text() / "meta.json";
    const auto text = TRY(os::read_file_if_any(file, 1 << 20));
    if (!text) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("the Docker context '{}' does not exist", name),
                                    "'docker context ls' lists the contexts."));
    }
    const auto meta = TRY(parse_json(*text).map_error(while_doing("{}", os::in_quotes(file))));
    return socket_of(meta["Endpoints"]["docker"].text("Host"),
                     fmt::format("the Docker context '{}'", name));
}

}  // namespace

Result<Path> find_socket(const std::vector<std::string>& environment)
{
    const auto host = variable(environment, "DOCKER_HOST");
    if (!host.empty()) return socket_of(host, "DOCKER_HOST");
    const auto settings = settings_folder(environment);
    auto context = variable(environment, "DOCKER_CONTEXT");
    if (context.empty()) context = TRY(read_settings(settings)).text("currentContext");
    if (!context.empty() && context != "default") return socket_of_context(context, settings);

    const Path system = "/var/run/docker.sock";
    const auto runtime = variable(environment, "XDG_RUNTIME_DIR");
    const Path own =
        runtime.empty() ? Path(fmt::format("/run/user/{}", ::getuid())) : Path(runtime);
    for (const auto& place : {system, own / "docker.sock", own / "podman" / "podman.sock"})
        if (listens_at(place) && ::access(place.c_str(), W_OK) == 0) return place;
    // There, but closed to this user: connecting says what to do.
    return system;
}

Error explain_unreachable(const Path& socket, const Error& error)
{
    const auto place = os::in_quotes(socket);
    struct stat info {};
    if (::stat(socket.c_str(), &info) != 0) {
        return {ErrorKind::unreachable,
                fmt::format("{}{}", absent, place),
                "Install Docker or Podman and start it, or set DOCKER_HOST to its socket."};
    }
    if (::access(socket.c_str(), W_OK) != 0) {
        return {ErrorKind::unreachable,
                fmt::format("{}{}", closed, place),
                "Run 'sudo usermod -aG docker $USER' and log in again, or use a rootless engine."};
    }
    const bool broke = error.message().find("broke") != std::string::npos;
    if (error.kind() == ErrorKind::unavailable && !broke) {
        return {ErrorKind::unreachable,
                fmt::format("{}{}", silent, place),
                "Start it with 'sudo systemctl start docker'."};
    }
    return broke ? error.of_kind(ErrorKind::unreachable) : error;
}

bool is_engine_missing(const Error& error)
{
    for (const auto begin : {absent, closed, silent})
        if (error.message().find(begin) != std::string::npos) return true;
    return false;
}

}  // namespace ponk::dockerapi
