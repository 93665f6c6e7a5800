// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/driver_files.hpp"

#include "base/text.hpp"
#include "gpu/container/driver_libraries.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <optional>
#include <sys/stat.h>

namespace ponk::gpu {

namespace {

using namespace std::chrono_literals;

bool is_there(const Path& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

void add_node(DriverFiles& files, const std::string& node)
{
    if (std::find(files.nodes.begin(), files.nodes.end(), node) == files.nodes.end())
        files.nodes.push_back(node);
}

void add_node_if_any(const DriverSearch& search, DriverFiles& files, const std::string& node)
{
    if (is_there(search.root / Path(node).relative_path())) add_node(files, node);
}

// "DeviceFileMinor: 30" of a file in /proc/driver/nvidia/capabilities.
std::optional<std::int64_t> capability_of(const Path& file)
{
    const auto text = os::read_file(file, 4096);
    if (!text) return std::nullopt;
    for (const auto& line : split(*text, '\n')) {
        constexpr std::string_view key = "DeviceFileMinor:";
        if (line.starts_with(key)) return parse_integer(trim(line.substr(key.size())));
    }
    return std::nullopt;
}

void add_capability(const DriverSearch& search, DriverFiles& files, const Path& access)
{
    if (const auto minor = capability_of(access))
        add_node_if_any(search, files, fmt::format("/dev/nvidia-caps/nvidia-cap{}", *minor));
}

std::vector<std::string> names_beginning(const Path& folder, std::string_view beginning)
{
    std::vector<std::string> names;
    const auto entries = os::list_directory(folder);
    if (!entries) return names;
    for (const auto& entry : *entries)
        if (entry.name.starts_with(beginning)) names.push_back(entry.name);
    return names;
}

// An instance needs the capabilities of its GPU instance and its compute instance. Where the probe
// named their files those are enough; else all of the card's are given, and CUDA_VISIBLE_DEVICES
// chooses.
void add_capabilities(const DriverSearch& search, const Device& device, DriverFiles& files)
{
    std::optional<std::int64_t> card;
    for (const auto& node : device.nodes) {
        if (node.starts_with("/dev/nvidia-caps/")) return;
        constexpr std::string_view prefix = "/dev/nvidia";
        if (node.starts_with(prefix)) card = parse_integer(node.substr(prefix.size()));
    }
    const auto mig = search.root / fmt::format("proc/driver/nvidia/capabilities/gpu{}/mig",
                                               card.value_or(device.index));
    for (const auto& instance : names_beginning(mig, "gi")) {
        add_capability(search, files, mig / instance / "access");
        for (const auto& compute : names_beginning(mig / instance, "ci"))
            add_capability(search, files, mig / instance / compute / "access");
    }
}

Result<> add_device(const DriverSearch& search, const Device& device, DriverFiles& files)
{
    for (const auto& node : device.nodes) {
        if (!node.starts_with("/dev/"))
            return fail(ErrorKind::invalid_argument,
                        "GPU '{}' names '{}' as a device file",
                        printable(device.uuid),
                        printable(node));
        if (!is_there(search.root / Path(node).relative_path()))
            return tl::unexpected(Error(ErrorKind::not_found,
                                        fmt::format("GPU '{}' has no device file '{}'",
                                                    printable(device.uuid),
                                                    printable(node)),
                                        "Run 'nvidia-smi' or 'nvidia-modprobe -u -c=0' once as "
                                        "root: it creates the device files of NVIDIA's driver."));
        add_node(files, node);
    }
    if (!device.card.empty()) add_capabilities(search, device, files);
    return {};
}

Result<> add_nvidia(const DriverSearch& search, DriverFiles& files)
{
    const auto control = search.root / "dev/nvidiactl";
    if (!is_there(control) && is_there(search.root / "dev/dxg")) {
        add_node(files, "/dev/dxg");  // the driver is Windows', its parts are kept in a store
        if (is_there(search.root / "usr/lib/wsl/drivers"))
            files.folders.emplace_back("/usr/lib/wsl/drivers");
    } else if (!is_there(control)) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "NVIDIA's driver has no device file '/dev/nvidiactl' on this machine",
                  "Check that its kernel module is loaded. Run 'nvidia-smi' once as root: it "
                  "creates the files."));
    }
    for (const auto* node :
         {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"})
        add_node_if_any(search, files, node);
    if (!is_there(search.root / "dev/nvidia-uvm") && !is_there(search.root / "dev/dxg"))
        files.remarks.emplace_back("'/dev/nvidia-uvm' is missing, so CUDA will not start; run "
                                   "'nvidia-modprobe -u -c=0' once as root to create it.");
    TRY(find_driver_libraries(search, files));
    for (const auto* folder :
         {"usr/bin", "usr/local/bin", "usr/local/nvidia/bin", "usr/lib/wsl/lib"}) {
        std::error_code failed;
        const auto real = std::filesystem::canonical(search.root / folder / "nvidia-smi", failed);
        if (failed || !std::filesystem::is_regular_file(real, failed)) continue;
        files.programs.push_back({real, "nvidia-smi"});
        return {};
    }
    files.remarks.emplace_back("'nvidia-smi' was not found.");
    return {};
}

}  // namespace

AskProgram ask_programs_of(const std::vector<std::string>& environment)
{
    return [environment](const std::vector<std::string>& argv) -> Result<std::string> {
        auto done = TRY(
            os::run({.argv = argv, .env = environment, .directory = "/"}, after(10s), {}, 1 << 22));
        if (done.exit.status() != 0)
            return fail(ErrorKind::unavailable,
                        "'{}' ended with {}: {}",
                        join(argv, " "),
                        done.exit.status(),
                        printable(trim(done.err).substr(0, 200)));
        return std::move(done.out);
    };
}

Result<DriverFiles> find_driver_files(const std::vector<Device>& devices,
                                      const DriverSearch& search)
{
    DriverFiles files;
    for (const auto& device : devices)
        TRY(add_device(search, device, files));
    const auto has = [&](std::string_view vendor) {
        return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
            return device.vendor == vendor;
        });
    };
    if (has("nvidia")) TRY(add_nvidia(search, files));
    // AMD's libraries belong to the image; the kernel's part is one file for all cards.
    if (has("amd")) add_node_if_any(search, files, "/dev/kfd");
    return files;
}

}  // namespace ponk::gpu
