// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/probe.hpp"

#include "base/text.hpp"
#include "gpu/probe/amd_probe.hpp"
#include "gpu/probe/child_probe.hpp"
#include "gpu/probe/embedded.hpp"
#include "gpu/probe/smi_probe.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <sys/stat.h>

namespace ponk::gpu {

namespace {

constexpr const char* program_variable = "PONK_GPU_PROBE";
constexpr const char* nobody = "none";

bool is_there(const Path& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

bool has_nvidia_driver(const Path& root)
{
    return is_there(root / "dev/nvidiactl") || is_there(root / "proc/driver/nvidia/version") ||
           is_there(root / "usr/lib/wsl/lib/libnvidia-ml.so.1");
}

// A machine without GPUs, or whose driver cannot be asked: it says why, always the same.
class NoGpus : public Probe {
public:
    explicit NoGpus(Inventory inventory) : inventory_(std::move(inventory)) {}

    Result<Inventory> inventory(Deadline /*deadline*/, std::stop_token /*stop*/) override
    {
        return inventory_;
    }
    Result<Sample> sample(Deadline /*deadline*/, std::stop_token /*stop*/) override
    {
        if (inventory_.problem) return tl::unexpected(*inventory_.problem);
        return Sample{.time = wall_milliseconds(), .devices = {}};
    }

private:
    Inventory inventory_;
};

// A card without a driver: the kernel lists it on the bus.
std::optional<Error> card_without_driver(const Path& root)
{
    const auto bus = root / "sys/bus/pci/devices";
    const auto read = [](const Path& file) {
        return std::string(trim(os::read_file(file, 4096).value_or("")));
    };
    for (const auto& entry : os::list_directory(bus).value_or(std::vector<os::Entry>())) {
        const auto folder = bus / entry.name;
        if (read(folder / "vendor") != "0x10de" || !read(folder / "class").starts_with("0x03"))
            continue;
        return Error(
            ErrorKind::unavailable,
            fmt::format("there is an NVIDIA GPU at {}, but no NVIDIA driver",
                        printable(entry.name)),
            "Install NVIDIA's driver (on Debian and Ubuntu: 'nvidia-driver'), then restart "
            "the machine.");
    }
    return std::nullopt;
}

// Tries the ways one after the other and remembers why none would do.
class Search {
public:
    Search(const ProbeOptions& options, Deadline deadline, std::stop_token stop)
        : options_(options), deadline_(deadline), stop_(std::move(stop))
    {
    }

    // Null when this way leads nowhere.
    std::unique_ptr<Probe> nvidia()
    {
        if (const auto program = install_nvml_program(options_.lib)) {
            auto probe = std::make_unique<ChildProbe>(*program, options_.environment);
            if (serves(*probe)) return probe;
        } else {
            note(program.error());
        }
        if (is_hanging_) return nullptr;
        if (const auto program =
                os::find_program("nvidia-smi", os::variable(options_.environment, "PATH"))) {
            auto probe = std::make_unique<SmiProbe>(*program, options_.environment);
            if (serves(*probe)) return probe;
        }
        return nullptr;
    }

    std::unique_ptr<Probe> amd()
    {
        auto probe = std::make_unique<AmdProbe>(options_.root);
        return serves(*probe) ? std::move(probe) : nullptr;
    }

    [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
    [[nodiscard]] const Inventory& inventory() const { return inventory_; }

private:
    // Whether it lists a GPU, or fails for a reason that another way would meet too.
    bool serves(Probe& probe)
    {
        const auto found = probe.inventory(deadline_, stop_);
        if (!found) {
            is_hanging_ = Deadline::clock::now() >= deadline_ || stop_.stop_requested();
            note(found.error());
            return false;
        }
        if (!found->driver_version.empty()) inventory_ = *found;
        if (found->problem) note(*found->problem);
        return !found->devices.empty();
    }

    void note(const Error& error)
    {
        if (!problem_) problem_ = error;
    }

    const ProbeOptions& options_;
    Deadline deadline_;
    std::stop_token stop_;
    Inventory inventory_;
    std::optional<Error> problem_;
    bool is_hanging_ = false;
};

}  // namespace

bool may_have_gpus(const std::vector<std::string>& environment, const Path& root)
{
    const auto program = os::variable(environment, program_variable);
    if (!program.empty()) return program != nobody;
    return has_nvidia_driver(root) || AmdProbe::is_present(root);
}

Result<std::unique_ptr<Probe>>
open_probe(const ProbeOptions& options, Deadline deadline, std::stop_token stop)
{
    const auto program = os::variable(options.environment, program_variable);
    if (program == nobody) return std::make_unique<NoGpus>(Inventory{.way = nobody});
    if (!program.empty()) return std::make_unique<ChildProbe>(program, options.environment);
    Search search(options, deadline, stop);
    if (has_nvidia_driver(options.root)) {
        if (auto probe = search.nvidia()) return probe;
    }
    if (AmdProbe::is_present(options.root)) {
        if (auto probe = search.amd()) return probe;
    }
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while looking for GPUs");
    auto inventory = search.inventory();
    inventory.devices.clear();
    inventory.problem = search.problem() ? search.problem() : card_without_driver(options.root);
    return std::make_unique<NoGpus>(std::move(inventory));
}

}  // namespace ponk::gpu
