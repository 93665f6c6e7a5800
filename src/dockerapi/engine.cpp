// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/engine.hpp"

#include "base/text.hpp"
#include "dockerapi/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace ponk::dockerapi {

namespace {

// Known to work; an engine that is newer still speaks it.
constexpr const char* newest_api = "1.47";

// "1.41" → 1041; 0 for anything else.
int order_of(std::string_view api)
{
    const auto dot = api.find('.');
    if (dot == std::string_view::npos) return 0;
    const auto major = parse_integer(api.substr(0, dot));
    const auto minor = parse_integer(api.substr(dot + 1));
    return major && minor ? static_cast<int>(*major * 1000 + *minor) : 0;
}

// Advice for what engines say in their own words.
std::string advice_for(std::string_view message)
{
    const auto says = [message](std::string_view part) {
        return message.find(part) != std::string_view::npos;
    };
    if (says("no space left on device"))
        return "Free space where the engine keeps its data ('docker system df' shows the usage).";
    if (says("pull access denied") || says("unauthorized") || says("no basic auth credentials"))
        return "Check the image's name; for a private registry log in with 'docker login'.";
    if (says("no such host") || says("connection refused") || says("i/o timeout"))
        return "The engine cannot reach the registry: check its network and proxy settings.";
    return {};
}

Error refused(const net::Reply& reply)
{
    const auto body = parse_json(reply.body);
    auto message = body ? body->text("message") : std::string();
    if (message.empty() && body) message = body->text("cause");  // Podman
    if (message.empty()) message = fmt::format("status {}", reply.status);
    const auto kind = reply.status == 404   ? ErrorKind::not_found
                      : reply.status == 409 ? ErrorKind::conflict
                      : reply.status == 400 ? ErrorKind::invalid_argument
                                            : ErrorKind::unavailable;
    return {kind, "the Docker engine says: " + printable(message), advice_for(message)};
}

}  // namespace

std::vector<std::string> texts_of(const Json& list)
{
    std::vector<std::string> texts;
    if (!list.is_array()) return texts;
    for (const auto& item : list.as_array())
        if (item.is_string()) texts.push_back(item.as_string());
    return texts;
}

std::string url_part(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
            std::string_view("-._~").find(c) != std::string_view::npos)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

Engine::Engine(Path socket, Version version)
    : socket_(std::move(socket)), version_(std::move(version))
{
    const bool newer = order_of(version_.api) > order_of(newest_api);
    prefix_ = fmt::format("/v{}", newer ? newest_api : version_.api.c_str());
}

Result<Engine> Engine::connect(Path socket, Deadline deadline, std::stop_token stop)
{
    net::HttpClient http(socket, "the Docker engine");
    const net::Call call{.target = "/version", .headers = {{"Host", "docker"}}};
    const auto reply =
        TRY(http.exchange(call, {}, net::until(deadline), stop)
                .map_error([&socket](const Error& error) {
                    // This needs no work: silence means that nobody is there.
                    return explain_unreachable(socket,
                                               error.kind() == ErrorKind::timeout
                                                   ? error.of_kind(ErrorKind::unreachable)
                                                   : error);
                }));
    if (reply.status >= 400) return tl::unexpected(refused(reply));
    const auto body = TRY(parse_json(reply.body).map_error([&socket](const Error&) {
        return Error(ErrorKind::unavailable,
                     fmt::format("the server at {} is not a Docker engine", os::in_quotes(socket)));
    }));
    Version version{.engine = body.text("Version"),
                    .api = body.text("ApiVersion"),
                    .os = body.text("Os"),
                    .architecture = body.text("Arch"),
                    .kernel = body.text("KernelVersion")};
    if (const auto& parts = body["Components"]; parts.is_array()) {
        for (const auto& part : parts.as_array())
            version.podman |= part.text("Name").starts_with("Podman");
    }
    if (order_of(version.api) < order_of(oldest_api)) {
        return tl::unexpected(Error(
            ErrorKind::unavailable,
            fmt::format("the Docker engine {} is too old: its API version is {}, ponk needs {}",
                        printable(version.engine),
                        printable(version.api),
                        oldest_api),
            "Update it to Docker 20.10 or newer."));
    }
    return Engine(std::move(socket), std::move(version));
}

Result<net::Reply> Engine::exchange(net::Call call,
                                    const net::Sink& sink,
                                    const net::Limit& limit,
                                    std::stop_token stop) const
{
    call.target = prefix_ + call.target;
    call.headers.emplace_back("Host", "docker");
    net::HttpClient http(socket_, "the Docker engine");
    const auto reply =
        TRY(http.exchange(call, sink, limit, std::move(stop)).map_error([this](const Error& error) {
            return explain_unreachable(socket_, error);
        }));
    if (reply.status >= 400) return tl::unexpected(refused(reply));
    return reply;
}

Result<Json> Engine::json(const std::string& method,
                          const std::string& target,
                          const Json& body,
                          Deadline deadline,
                          std::stop_token stop) const
{
    net::Call call{.method = method, .target = target};
    if (!body.is_null()) {
        call.body = to_json(body);
        call.headers.emplace_back("Content-Type", "application/json");
    }
    const auto reply = TRY(exchange(std::move(call), {}, net::until(deadline), std::move(stop)));
    if (trim(reply.body).empty()) return Json();
    return parse_json(reply.body).map_error(while_doing("the Docker engine's answer"));
}

Result<Info> Engine::info(Deadline deadline, std::stop_token stop) const
{
    const auto body = TRY(json("GET", "/info", {}, deadline, std::move(stop)));
    Info info{.id = body.text("ID"),
              .root_directory = body.text("DockerRootDir"),
              .storage_driver = body.text("Driver"),
              .operating_system = body.text("OperatingSystem"),
              .cgroup_version = body.text("CgroupVersion"),
              .default_runtime = body.text("DefaultRuntime"),
              .cdi_directories = texts_of(body["CDISpecDirs"]),
              .memory = body.integer("MemTotal"),
              .processors = body.integer("NCPU"),
              .limits_memory = body.boolean("MemoryLimit"),
              .live_restore = body.boolean("LiveRestoreEnabled"),
              .warnings = texts_of(body["Warnings"])};
    if (const auto& runtimes = body["Runtimes"]; runtimes.is_object()) {
        for (const auto& [name, details] : runtimes.as_object())
            info.runtimes.push_back(name);
    }
    // Podman makes up another id for each answer; its store on its machine is what lasts.
    if (version_.podman) info.id = "podman:" + body.text("Name") + ":" + info.root_directory;
    for (const auto& option : texts_of(body["SecurityOptions"]))
        info.rootless |= option.find("rootless") != std::string::npos;
    return info;
}

}  // namespace ponk::dockerapi
