// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/run_arguments.hpp"

#include "base/text.hpp"
#include "config/files/docker_arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

namespace ponk::executor::docker {

namespace {

using dockerapi::ContainerSpec;
using dockerapi::Mount;

tl::unexpected<Error> wrong(const std::string& option, const std::string& value)
{
    return fail(ErrorKind::invalid_argument,
                "docker argument '{}' cannot be '{}'",
                option,
                printable(value));
}

void append(ContainerSpec& spec, const std::string& setting, Json value)
{
    auto* list = spec.host_settings.find(setting);
    if (list == nullptr) list = &spec.host_settings.set(setting, JsonArray());
    list->as_array().push_back(std::move(value));
}

using Apply =
    std::function<Result<>(const std::string& option, const std::string& value, ContainerSpec&)>;

Apply text_setting(const char* setting)
{
    return
        [setting](const std::string&, const std::string& value, ContainerSpec& spec) -> Result<> {
            spec.host_settings.set(setting, value);
            return {};
        };
}

Apply list_setting(const char* setting)
{
    return
        [setting](const std::string&, const std::string& value, ContainerSpec& spec) -> Result<> {
            append(spec, setting, value);
            return {};
        };
}

Apply size_setting(const char* setting)
{
    return
        [setting](const std::string&, const std::string& value, ContainerSpec& spec) -> Result<> {
            spec.host_settings.set(setting, TRY(parse_byte_size(value)));
            return {};
        };
}

Apply number_setting(const char* setting)
{
    return [setting](const std::string& option,
                     const std::string& value,
                     ContainerSpec& spec) -> Result<> {
        const auto number = parse_integer(value);
        if (!number) return wrong(option, value);
        spec.host_settings.set(setting, *number);
        return {};
    };
}

Result<> set_processors(const std::string& option, const std::string& value, ContainerSpec& spec)
{
    const auto number = parse_real(value);
    if (!number || !(*number > 0) || *number > 1e6) return wrong(option, value);
    spec.host_settings.set("NanoCpus", static_cast<std::int64_t>(std::llround(*number * 1e9)));
    return {};
}

Result<> add_variable(const std::string& option, const std::string& value, ContainerSpec& spec)
{
    if (value.find('=') == std::string::npos) return wrong(option, value);
    spec.environment.push_back(value);
    return {};
}

// SOURCE:TARGET[:ro]
Result<> add_volume(const std::string& option, const std::string& value, ContainerSpec& spec)
{
    const auto parts = split(value, ':');
    if (parts.size() < 2 || parts.size() > 3 || !parts[0].starts_with('/') ||
        !parts[1].starts_with('/'))
        return wrong(option, value);
    const auto mode = parts.size() == 3 ? parts[2] : "rw";
    if (mode != "rw" && mode != "ro") return wrong(option, value);
    spec.mounts.push_back(
        {parts[0], parts[1], mode == "ro" ? Mount::Access::read_only : Mount::Access::read_write});
    return {};
}

// NAME=SOFT[:HARD]
Result<> add_limit(const std::string& option, const std::string& value, ContainerSpec& spec)
{
    const auto equals = value.find('=');
    if (equals == std::string::npos) return wrong(option, value);
    const auto numbers = split(value.substr(equals + 1), ':');
    const auto soft = parse_integer(numbers.front());
    const auto hard = parse_integer(numbers.back());
    if (!soft || !hard || numbers.size() > 2) return wrong(option, value);
    append(spec,
           "Ulimits",
           JsonObject{{"Name", value.substr(0, equals)}, {"Soft", *soft}, {"Hard", *hard}});
    return {};
}

// HOST[:CONTAINER[:PERMISSIONS]]
Result<> add_device(const std::string& option, const std::string& value, ContainerSpec& spec)
{
    const auto parts = split(value, ':');
    if (parts.size() > 3 || !parts[0].starts_with('/')) return wrong(option, value);
    append(spec,
           "Devices",
           JsonObject{{"PathOnHost", parts[0]},
                      {"PathInContainer", parts.size() > 1 ? parts[1] : parts[0]},
                      {"CgroupPermissions", parts.size() > 2 ? parts[2] : "rwm"}});
    return {};
}

// FOLDER[:OPTIONS]
Result<> add_tmpfs(const std::string&, const std::string& value, ContainerSpec& spec)
{
    const auto colon = value.find(':');
    auto* folders = spec.host_settings.find("Tmpfs");
    if (folders == nullptr) folders = &spec.host_settings.set("Tmpfs", JsonObject());
    folders->as_object().set(value.substr(0, colon),
                             colon == std::string::npos ? "" : value.substr(colon + 1));
    return {};
}

// The options that take a value.
const std::map<std::string, Apply>& valued_options()
{
    static const std::map<std::string, Apply> table{
        {"--add-host", list_setting("ExtraHosts")},
        {"--cap-add", list_setting("CapAdd")},
        {"--cap-drop", list_setting("CapDrop")},
        {"--cpu-shares", number_setting("CpuShares")},
        {"--cpus", set_processors},
        {"--cpuset-cpus", text_setting("CpusetCpus")},
        {"--device", add_device},
        {"--dns", list_setting("Dns")},
        {"--dns-search", list_setting("DnsSearch")},
        {"--env", add_variable},
        {"--group-add", list_setting("GroupAdd")},
        {"--ipc", text_setting("IpcMode")},
        {"--memory", size_setting("Memory")},
        {"--memory-reservation", size_setting("MemoryReservation")},
        {"--memory-swap", size_setting("MemorySwap")},
        {"--network", text_setting("NetworkMode")},
        {"--pids-limit", number_setting("PidsLimit")},
        {"--runtime", text_setting("Runtime")},
        {"--security-opt", list_setting("SecurityOpt")},
        {"--shm-size", size_setting("ShmSize")},
        {"--tmpfs", add_tmpfs},
        {"--ulimit", add_limit},
        {"--userns", text_setting("UsernsMode")},
        {"--uts", text_setting("UTSMode")},
        {"--volume", add_volume},
    };
    return table;
}

Error refused(const std::string& option)
{
    for (const std::string_view own : {"--rm",
                                       "--name",
                                       "--restart",
                                       "--entrypoint",
                                       "-d",
                                       "--detach",
                                       "--user",
                                       "-u",
                                       "--workdir",
                                       "-w",
                                       "--log-driver",
                                       "--privileged",
                                       "--pid",
                                       "--cidfile",
                                       "--stop-signal"}) {
        if (option == own)
            return {ErrorKind::invalid_argument,
                    fmt::format("docker argument '{}' cannot be used for a run", option),
                    "Remove it: ponk sets this itself, or it would make runs unsafe."};
    }
    std::vector<std::string> names;
    for (const auto& [name, apply] : valued_options())
        names.push_back(name);
    const auto close = nearest(option, names);
    return {ErrorKind::invalid_argument,
            fmt::format("unknown docker argument '{}'", printable(option)),
            close ? fmt::format("Did you mean '{}'?", *close)
                  : fmt::format("Supported: {}.", join(names, ", "))};
}

}  // namespace

Result<std::int64_t> parse_byte_size(std::string_view text)
{
    const auto digits = text.find_first_not_of("0123456789.");
    const auto number = parse_real(text.substr(0, digits));
    auto unit = lower(digits == std::string_view::npos ? "" : trim(text.substr(digits)));
    if (unit.ends_with("ib")) unit.erase(unit.size() - 2);
    if (unit.size() == 2 && unit.ends_with('b')) unit.pop_back();
    if (unit == "b") unit.clear();
    constexpr std::string_view units = "kmgt";
    const auto at = unit.size() == 1 ? units.find(unit) : std::string_view::npos;
    const auto factor = unit.empty() ? 1.0 : std::pow(1024.0, static_cast<double>(at) + 1);
    if (!number || (!unit.empty() && at == std::string_view::npos) || *number * factor > 9e18) {
        return fail(ErrorKind::invalid_argument,
                    "'{}' is not a size such as '2g' or '512m'",
                    printable(text));
    }
    return static_cast<std::int64_t>(*number * factor);
}

Result<> apply_run_arguments(const std::vector<std::string>& words, dockerapi::ContainerSpec& spec)
{
    for (const auto& [option, value] : TRY(config::parse_docker_arguments(words))) {
        if (option == "--read-only") {
            spec.host_settings.set("ReadonlyRootfs", true);
            continue;
        }
        const auto known = valued_options().find(option);
        if (known == valued_options().end()) return tl::unexpected(refused(option));
        TRY(known->second(option, value, spec));
    }
    return {};
}

}  // namespace ponk::executor::docker
