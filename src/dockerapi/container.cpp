// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/container.hpp"

#include <fmt/format.h>

#include <chrono>

namespace ponk::dockerapi {

using namespace std::chrono_literals;

namespace {

// An engine on a busy disk is silent for long while it copies.
constexpr auto copy_patience = 10min;

JsonArray array_of(const std::vector<std::string>& texts)
{
    return {texts.begin(), texts.end()};
}

JsonObject object_of(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    JsonObject object;
    for (const auto& [name, value] : pairs)
        object.set(name, value);
    return object;
}

JsonArray mounts_of(const ContainerSpec& spec)
{
    JsonArray mounts;
    for (const auto& mount : spec.mounts) {
        mounts.emplace_back(JsonObject{{"Type", "bind"},
                                       {"Source", mount.source},
                                       {"Target", mount.target},
                                       {"ReadOnly", mount.access == Mount::Access::read_only}});
    }
    return mounts;
}

JsonObject host_config_of(const ContainerSpec& spec)
{
    JsonObject host{
        {"Mounts", mounts_of(spec)},
        {"AutoRemove", false},
        {"RestartPolicy", JsonObject{{"Name", "no"}}},
        // Our own file holds the log; the engine's is for what happens before our first word.
        {"LogConfig",
         JsonObject{{"Type", "json-file"},
                    {"Config", JsonObject{{"max-size", "1m"}, {"max-file", "1"}}}}},
        {"SecurityOpt", JsonArray{"no-new-privileges"}},
        {"CapDrop", JsonArray{"ALL"}},
    };
    if (!spec.network.empty()) host.set("NetworkMode", spec.network);
    if (!spec.runtime.empty()) host.set("Runtime", spec.runtime);
    if (spec.shared_memory > 0) host.set("ShmSize", spec.shared_memory);
    if (spec.memory > 0) host.set("Memory", spec.memory);
    if (spec.process_limit > 0) host.set("PidsLimit", spec.process_limit);
    for (const auto& [name, value] : spec.host_settings) {
        auto* ours = host.find(name);
        if (ours != nullptr && ours->is_array() && value.is_array()) {
            // What we set for safety stays; lists add to each other.
            for (const auto& item : value.as_array())
                ours->as_array().push_back(item);
        } else {
            host.set(name, value);
        }
    }
    return host;
}

std::string path_of(const std::string& name, std::string_view action = {})
{
    return fmt::format("/containers/{}{}", url_part(name), action);
}

// Success when the engine says that there is nothing to do.
Result<> ignoring(std::initializer_list<ErrorKind> kinds, const Result<Json>& answer)
{
    if (answer) return {};
    for (const auto kind : kinds)
        if (answer.error().kind() == kind) return {};
    return tl::unexpected(answer.error());
}

}  // namespace

Container container_of(const Json& body)
{
    const auto& state = body["State"];
    Container container{.id = body.text("Id"),
                        .image = body.text("Image"),
                        .status = state.text("Status"),
                        .running = state.boolean("Running"),
                        .oom_killed = state.boolean("OOMKilled"),
                        .exit_code = static_cast<int>(state.integer("ExitCode")),
                        .process = state.integer("Pid"),
                        .error = state.text("Error"),
                        .started = state.text("StartedAt"),
                        .finished = state.text("FinishedAt")};
    if (const auto& labels = body["Config"]["Labels"]; labels.is_object()) {
        for (const auto& [name, value] : labels.as_object())
            if (value.is_string()) container.labels.emplace_back(name, value.as_string());
    }
    return container;
}

std::string without_frames(std::string_view bytes)
{
    std::string text;
    while (bytes.size() >= 8) {
        std::size_t length = 0;
        for (std::size_t i = 4; i < 8; ++i)
            length = length << 8 | static_cast<unsigned char>(bytes[i]);
        bytes.remove_prefix(8);
        text += bytes.substr(0, length);
        bytes.remove_prefix(std::min(length, bytes.size()));
    }
    return text;
}

std::string Container::label(std::string_view name) const
{
    for (const auto& [key, value] : labels)
        if (key == name) return value;
    return {};
}

Result<std::string> create_container(const Engine& engine,
                                     const ContainerSpec& spec,
                                     Deadline deadline,
                                     std::stop_token stop)
{
    JsonObject body{{"Image", spec.image},
                    {"Entrypoint", array_of(spec.command)},
                    {"Cmd", JsonArray()},
                    {"Env", array_of(spec.environment)},
                    {"Labels", object_of(spec.labels)},
                    {"HostConfig", host_config_of(spec)}};
    if (!spec.user.empty()) body.set("User", spec.user);
    if (!spec.directory.empty()) body.set("WorkingDir", spec.directory);
    const auto answer = TRY(engine.json(
        "POST", "/containers/create?name=" + url_part(spec.name), body, deadline, std::move(stop)));
    return answer.text("Id");
}

Result<std::optional<Container>> find_container(const Engine& engine,
                                                const std::string& name,
                                                Deadline deadline,
                                                std::stop_token stop)
{
    const auto answer = engine.json("GET", path_of(name, "/json"), {}, deadline, std::move(stop));
    if (answer) return container_of(*answer);
    if (answer.error().kind() == ErrorKind::not_found) return std::nullopt;
    return tl::unexpected(answer.error());
}

Result<> start_container(const Engine& engine,
                         const std::string& name,
                         Deadline deadline,
                         std::stop_token stop)
{
    TRY(engine.json("POST", path_of(name, "/start"), {}, deadline, std::move(stop)));
    return {};
}

Result<> signal_container(const Engine& engine,
                          const std::string& name,
                          const std::string& signal,
                          Deadline deadline)
{
    return ignoring({ErrorKind::not_found, ErrorKind::conflict},
                    engine.json("POST", path_of(name, "/kill?signal=" + signal), {}, deadline));
}

Result<> remove_container(const Engine& engine, const std::string& name, Deadline deadline)
{
    return ignoring({ErrorKind::not_found},
                    engine.json("DELETE", path_of(name, "?force=true&v=true"), {}, deadline));
}

namespace {

Result<std::vector<std::string>> names_of_containers(const Engine& engine,
                                                     const JsonObject& filters,
                                                     Deadline deadline,
                                                     std::stop_token stop)
{
    const auto answer =
        TRY(engine.json("GET",
                        "/containers/json?all=true&filters=" + url_part(to_json(filters)),
                        {},
                        deadline,
                        std::move(stop)));
    std::vector<std::string> names;
    if (!answer.is_array()) return names;
    for (const auto& container : answer.as_array()) {
        const auto& list = container["Names"];
        if (!list.is_array() || list.as_array().empty()) continue;
        const auto& name = list.as_array().front();
        if (name.is_string() && name.as_string().size() > 1)
            names.push_back(name.as_string().substr(1));  // without the slash
    }
    return names;
}

}  // namespace

Result<std::vector<std::string>> list_containers(const Engine& engine,
                                                 const std::string& label,
                                                 Deadline deadline,
                                                 std::stop_token stop)
{
    return names_of_containers(
        engine, JsonObject{{"label", JsonArray{label}}}, deadline, std::move(stop));
}

Result<std::vector<std::string>> living_containers_of(const Engine& engine,
                                                      const std::string& image,
                                                      Deadline deadline,
                                                      std::stop_token stop)
{
    return names_of_containers(
        engine,
        JsonObject{{"ancestor", JsonArray{image}},
                   {"status", JsonArray{"created", "running", "paused", "restarting"}}},
        deadline,
        std::move(stop));
}

Result<std::vector<std::string>> containers_of(const Engine& engine,
                                               const std::string& image,
                                               Deadline deadline,
                                               std::stop_token stop)
{
    return names_of_containers(
        engine, JsonObject{{"ancestor", JsonArray{image}}}, deadline, std::move(stop));
}

Result<std::string> tail_of_log(const Engine& engine,
                                const std::string& name,
                                int lines,
                                Deadline deadline,
                                std::stop_token stop)
{
    const net::Call call{
        .target = path_of(name, fmt::format("/logs?stdout=true&stderr=true&tail={}", lines))};
    const auto reply = TRY(engine.exchange(call, {}, net::until(deadline), std::move(stop)));
    return without_frames(reply.body);
}

Result<std::vector<std::string>> changed_paths(const Engine& engine,
                                               const std::string& name,
                                               Deadline deadline,
                                               std::stop_token stop)
{
    constexpr std::size_t longest = std::size_t{8} << 20;
    constexpr std::int64_t deleted = 2;
    std::string text;
    const auto asked = engine.exchange(
        {.target = path_of(name, "/changes")},
        [&text](std::string_view bytes) {
            text += bytes;
            return text.size() <= longest;
        },
        net::until(deadline),
        std::move(stop));
    if (text.size() > longest)
        return fail(ErrorKind::unavailable, "container '{}' changed too much to be reported", name);
    TRY(Result<net::Reply>(asked));
    const auto list = TRY(parse_json(text).map_error(while_doing("the Docker engine's answer")));
    std::vector<std::string> paths;
    if (!list.is_array()) return paths;  // null: none
    for (const auto& change : list.as_array()) {
        if (change.integer("Kind") != deleted) paths.push_back(change.text("Path"));
    }
    return paths;
}

Result<> copy_in(const Engine& engine,
                 const std::string& name,
                 const std::string& folder,
                 std::function<Result<>(std::string& out)> source,
                 std::stop_token stop)
{
    net::Call call{.method = "PUT",
                   .target = path_of(name, "/archive?path=" + url_part(folder)),
                   .headers = {{"Content-Type", "application/x-tar"}},
                   .source = std::move(source)};
    TRY(engine.exchange(std::move(call), {}, net::while_moving(copy_patience), std::move(stop)));
    return {};
}

Result<> copy_out(const Engine& engine,
                  const std::string& name,
                  const std::string& path,
                  const net::Sink& sink,
                  std::stop_token stop)
{
    const net::Call call{.target = path_of(name, "/archive?path=" + url_part(path))};
    TRY(engine.exchange(call, sink, net::while_moving(copy_patience), std::move(stop)));
    return {};
}

}  // namespace ponk::dockerapi
