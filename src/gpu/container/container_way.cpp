// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/container_way.hpp"

#include "base/text.hpp"
#include "gpu/container/cdi.hpp"
#include "gpu/container/toolkit.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ponk::gpu {

namespace {

constexpr const char* library_folder = "/ponk/driver/lib";
constexpr const char* program_folder = "/ponk/driver/bin";
constexpr std::int64_t first_engine_with_cdi = 25;

bool contains(const std::vector<std::string>& list, const std::string& word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

bool all_from(const std::vector<Device>& devices, std::string_view vendor)
{
    return std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
        return device.vendor == vendor;
    });
}

std::vector<std::string> uuids_of(const std::vector<Device>& devices)
{
    std::vector<std::string> uuids;
    uuids.reserve(devices.size());
    for (const auto& device : devices)
        uuids.push_back(device.uuid);
    return uuids;
}

bool has_hook(const DriverSearch& search)
{
    struct stat info {};
    for (const auto* folder : {"usr/bin", "usr/local/bin", "usr/local/nvidia/toolkit"}) {
        const auto hook = search.root / folder / "nvidia-container-runtime-hook";
        if (::stat(hook.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return true;
    }
    return false;
}

bool speaks_cdi(const ContainerQuestion& question)
{
    const auto major = parse_integer(question.engine.engine.substr(
        0, std::min(question.engine.engine.find('.'), question.engine.engine.size())));
    return !question.engine.podman && major && *major >= first_engine_with_cdi &&
           !question.info.cdi_directories.empty();
}

// What the toolkit offers, and why it is used or not.
struct ToolkitOffer {
    std::optional<ContainerGpus> gpus;
    std::string refusal;  // a sentence; empty when there is no toolkit at all
};

ContainerGpus by_runtime(const ContainerQuestion& question, const Toolkit& toolkit)
{
    ContainerGpus gpus{.way = "nvidia-runtime",
                       .reason = "The engine has NVIDIA's runtime, toolkit " + toolkit.text + ".",
                       .runtime = "nvidia"};
    gpus.environment = {"NVIDIA_VISIBLE_DEVICES=" + join(uuids_of(question.devices), ","),
                        "NVIDIA_DRIVER_CAPABILITIES=compute,utility"};
    return gpus;
}

JsonArray request_of(const char* driver, const std::vector<std::string>& ids)
{
    JsonObject request{
        {"Driver", driver}, {"Count", 0}, {"DeviceIDs", JsonArray(ids.begin(), ids.end())}};
    if (std::string_view(driver).empty()) {
        JsonArray alternatives;  // one list of what is needed together
        alternatives.emplace_back(JsonArray{"gpu", "compute", "utility"});
        request.set("Capabilities", std::move(alternatives));
    }
    JsonArray requests;
    requests.emplace_back(std::move(request));
    return requests;
}

ContainerGpus by_request(const ContainerQuestion& question, const Toolkit& toolkit)
{
    ContainerGpus gpus{.way = "device-request",
                       .reason = "The engine's machine has NVIDIA's container hook, toolkit " +
                                 toolkit.text + "."};
    gpus.host_settings.set("DeviceRequests", request_of("", uuids_of(question.devices)));
    return gpus;
}

ContainerGpus by_cdi(const std::vector<std::string>& names, const Toolkit& toolkit)
{
    ContainerGpus gpus{.way = "cdi",
                       .reason = "The engine has CDI descriptions of these GPUs, toolkit " +
                                 toolkit.text + "."};
    gpus.host_settings.set("DeviceRequests", request_of("cdi", names));
    return gpus;
}

ToolkitOffer ask_toolkit(const ContainerQuestion& question)
{
    if (!all_from(question.devices, "nvidia")) return {};
    const bool runtime = !question.engine.podman && contains(question.info.runtimes, "nvidia");
    const bool hook = !question.engine.podman && has_hook(question.search);
    std::optional<std::vector<std::string>> names;
    if (speaks_cdi(question))
        names = cdi_names(question.devices,
                          list_cdi(question.search.root, question.info.cdi_directories));
    if (!runtime && !hook && !names) return {};
    const auto toolkit = find_toolkit(question.search.ask);
    if (!toolkit)
        return {.gpus = std::nullopt,
                .refusal =
                    "The version of NVIDIA's container toolkit is unknown (neither 'nvidia-ctk' "
                    "nor 'nvidia-container-cli' reports it), so the toolkit is not used."};
    if (const auto holes = holes_of(*toolkit); !holes.empty())
        return {.gpus = std::nullopt,
                .refusal = fmt::format(
                    "NVIDIA's container toolkit {} allows an image to break out of its container "
                    "({}), so the toolkit is not used; update it to {} or newer.",
                    toolkit->text,
                    holes,
                    sound_toolkit)};
    if (runtime) return {.gpus = by_runtime(question, *toolkit), .refusal = {}};
    if (hook) return {.gpus = by_request(question, *toolkit), .refusal = {}};
    return {.gpus = by_cdi(*names, *toolkit), .refusal = {}};
}

void add_nodes(const ContainerQuestion& question, const DriverFiles& files, ContainerGpus& gpus)
{
    JsonArray devices;
    JsonArray groups;
    JsonArray rules;
    for (const auto& node : files.nodes) {
        const auto file = (question.search.root / Path(node).relative_path()).string();
        devices.emplace_back(JsonObject{
            {"PathOnHost", file}, {"PathInContainer", node}, {"CgroupPermissions", "rw"}});
        struct stat info {};
        if (::stat(file.c_str(), &info) != 0) continue;
        // Not for everybody: whoever the image's user is, it gets the group of the file.
        if ((info.st_mode & 06U) != 06U) {
            const Json group = std::to_string(info.st_gid);
            if (info.st_gid != 0 && std::find(groups.begin(), groups.end(), group) == groups.end())
                groups.push_back(group);
            if (question.info.rootless)
                gpus.warnings.push_back(fmt::format(
                    "The engine is rootless, and not all users may open '{}': the run may not see "
                    "the GPU. An administrator can allow it with: chmod a+rw {}",
                    printable(file),
                    shell_word(file)));
        }
        // A systemd that reloads looks devices up in /dev/char, and takes those away that it does
        // not find; a rule for the whole driver it knows by name.
        const auto number = fmt::format("{}:{}", major(info.st_rdev), minor(info.st_rdev));
        struct stat listed {};
        const Json rule = fmt::format("c {}:* rw", major(info.st_rdev));
        if (S_ISCHR(info.st_mode) &&
            ::lstat((question.search.root / "dev/char" / number).c_str(), &listed) != 0 &&
            std::find(rules.begin(), rules.end(), rule) == rules.end())
            rules.push_back(rule);
    }
    gpus.host_settings.set("Devices", std::move(devices));
    if (!groups.empty()) gpus.host_settings.set("GroupAdd", std::move(groups));
    if (!rules.empty() && !question.info.rootless)
        gpus.host_settings.set("DeviceCgroupRules", std::move(rules));
}

Result<ContainerGpus> by_driver_files(const ContainerQuestion& question)
{
    const auto files = TRY(find_driver_files(question.devices, question.search));
    ContainerGpus gpus{.way = "direct", .reason = {}};
    add_nodes(question, files, gpus);
    const auto mount = [&](const Path& source, const std::string& target) {
        gpus.mounts.push_back({.source = source.string(),
                               .target = target,
                               .access = dockerapi::Mount::Access::read_only});
    };
    for (const auto& file : files.libraries)
        mount(file.source, std::string(library_folder) + "/" + file.name);
    for (const auto& file : files.programs)
        mount(file.source, std::string(program_folder) + "/" + file.name);
    for (const auto& folder : files.folders)
        mount(folder, folder);
    if (!files.libraries.empty()) gpus.front.emplace_back("LD_LIBRARY_PATH", library_folder);
    if (!files.programs.empty()) gpus.front.emplace_back("PATH", program_folder);
    std::copy(files.remarks.begin(), files.remarks.end(), std::back_inserter(gpus.warnings));
    // What an image says for NVIDIA's runtime must not bring other GPUs in, nor the runtime itself.
    gpus.environment = {"NVIDIA_VISIBLE_DEVICES=void"};
    if (question.info.default_runtime == "nvidia" && contains(question.info.runtimes, "runc"))
        gpus.runtime = "runc";
    return gpus;
}

}  // namespace

std::string visible_devices(const std::vector<Device>& devices)
{
    return join(uuids_of(devices), ",");
}

Result<ContainerGpus> choose_container_way(const ContainerQuestion& question)
{
    if (question.devices.empty())
        return fail(ErrorKind::invalid_argument, "no GPU was chosen for the container");
    auto offer = ask_toolkit(question);
    if (!offer.gpus) {
        auto direct = by_driver_files(question);
        if (!direct) {
            if (offer.refusal.empty()) return direct;
            const auto& error = direct.error();
            return tl::unexpected(
                Error(error.kind(),
                      "the GPU cannot be given to the container: " + error.message(),
                      offer.refusal + " " + error.hint()));
        }
        direct->reason = (offer.refusal.empty() ? std::string("The engine has no NVIDIA toolkit. ")
                                                : offer.refusal + " ") +
                         "Device files and the driver's libraries are mounted directly.";
        if (!all_from(question.devices, "nvidia"))
            direct->reason = "Device files are passed directly.";
        offer.gpus = std::move(*direct);
    }
    if (all_from(question.devices, "nvidia"))
        offer.gpus->environment.push_back("CUDA_VISIBLE_DEVICES=" +
                                          visible_devices(question.devices));
    return std::move(*offer.gpus);
}

void add_gpus(const ContainerGpus& gpus,
              const std::vector<std::string>& image_environment,
              dockerapi::ContainerSpec& spec)
{
    spec.mounts.insert(spec.mounts.end(), gpus.mounts.begin(), gpus.mounts.end());
    if (!gpus.runtime.empty() && spec.runtime.empty()) spec.runtime = gpus.runtime;
    const auto set = [&](const std::string& word) {
        const auto name = word.substr(0, word.find('=') + 1);
        std::erase_if(spec.environment,
                      [&](const std::string& other) { return other.starts_with(name); });
        spec.environment.push_back(word);
    };
    for (const auto& word : gpus.environment)
        set(word);
    for (const auto& [name, value] : gpus.front) {
        auto rest = os::variable(spec.environment, name);
        if (rest.empty()) rest = os::variable(image_environment, name);
        if (rest.empty() && name == "PATH")
            rest = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        set(fmt::format("{}={}{}{}", name, value, rest.empty() ? "" : ":", rest));
    }
    for (const auto& [name, value] : gpus.host_settings) {
        auto* there = spec.host_settings.find(name);
        if (there == nullptr || !there->is_array() || !value.is_array()) {
            spec.host_settings.set(name, value);
            continue;
        }
        for (const auto& item : value.as_array())
            there->as_array().push_back(item);
    }
}

Json to_json(const ContainerGpus& gpus)
{
    JsonObject object{{"way", gpus.way}, {"reason", gpus.reason}};
    if (!gpus.warnings.empty())
        object.set("warnings", JsonArray(gpus.warnings.begin(), gpus.warnings.end()));
    return object;
}

}  // namespace ponk::gpu
