// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/fallback.hpp"

#include "base/text.hpp"
#include "gpu/process_facts.hpp"
#include "gpu/verdict/fallback_builds.hpp"
#include "os/directory.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace ponk::gpu {

namespace {

using Gpu = FrameworkBuild::Gpu;

// What was seen of one process.
struct Process {
    pid_t pid = 0;
    std::string name;
    os::Fd root;  // of its files
    std::vector<std::string> environment;
    std::vector<FrameworkBuild> builds;
    CudaLibraries cuda;
};

// The main process comes first: it is the one that is told of.
std::vector<Process> look_at(std::vector<pid_t> pids, const ProcessView& view)
{
    std::stable_partition(pids.begin(), pids.end(), [&](pid_t pid) { return pid == view.main; });
    std::vector<Process> out;
    for (const pid_t pid : pids) {
        const auto stat = find_stat(view.proc, pid);
        const auto environment = find_environment(view.proc, pid);
        const auto mapped = find_mapped_files(view.proc, pid);
        auto root = os::open_file(view.files.empty() ? view.proc / std::to_string(pid) / "root"
                                                     : view.files,
                                  O_PATH | O_DIRECTORY);
        if (!stat || !environment || !mapped || mapped->empty()) continue;
        Process process{.pid = pid,
                        .name = stat->name,
                        .root = root ? std::move(*root) : os::Fd(),
                        .environment = *environment,
                        .builds = {},
                        .cuda = find_cuda_libraries(*mapped)};
        process.builds = find_builds(*mapped, process.root.get());
        out.push_back(std::move(process));
    }
    return out;
}

bool has_variable(const std::vector<std::string>& environment, std::string_view name)
{
    return std::any_of(environment.begin(), environment.end(), [&](const auto& word) {
        return word.size() > name.size() && word[name.size()] == '=' && word.starts_with(name);
    });
}

bool is_python(const Process& process)
{
    return process.name.starts_with("python");
}

// Those that would use a GPU: with a framework; else interpreters; else all.
std::vector<const Process*> workers(const std::vector<Process>& processes)
{
    std::vector<const Process*> out;
    for (const auto& process : processes)
        if (!process.builds.empty() || process.cuda.driver) out.push_back(&process);
    if (!out.empty()) return out;
    for (const auto& process : processes)
        if (is_python(process)) out.push_back(&process);
    if (!out.empty()) return out;
    for (const auto& process : processes)
        if (!process.name.starts_with("ponk-stub")) out.push_back(&process);
    return out;
}

constexpr std::array<const char*, 3> device_variables{
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

// What a list of visible devices leaves of the leased ones. It is read up to its first bad entry.
enum class Visible { some, none, others, perhaps_others };

Visible visible(std::string_view value, const std::vector<Device>& leased)
{
    const auto first = std::string(trim(value.substr(0, value.find(','))));
    if (first.empty()) return Visible::none;
    const auto named = [&](const Device& device) {
        return device.uuid.starts_with(first) || device.card.starts_with(first);
    };
    if (first.starts_with("GPU-") || first.starts_with("MIG-")) {
        if (std::any_of(leased.begin(), leased.end(), named)) return Visible::some;
        return first.starts_with("GPU-") ? Visible::others : Visible::perhaps_others;
    }
    const auto index = parse_integer(first);
    if (!index || *index < 0) return Visible::none;  // "-1", "NoDevFiles", "none"
    // In a container the leased ones are counted from 0, elsewhere as the driver counts.
    const bool may_be_ours = static_cast<std::size_t>(*index) < leased.size() ||
                             std::any_of(leased.begin(), leased.end(), [&](const auto& device) {
                                 return device.index == static_cast<unsigned>(*index);
                             });
    return may_be_ours ? Visible::some : Visible::perhaps_others;
}

// Workers that hide devices from themselves while another sees them are at home in many frameworks:
// only what all of them have says something.
std::optional<Finding> find_hidden(const std::vector<const Process*>& workers,
                                   const std::vector<Device>& leased)
{
    std::optional<Finding> out;
    for (const auto* process : workers) {
        std::optional<Finding> of_this;
        for (const auto* name : device_variables) {
            if (!has_variable(process->environment, name)) continue;
            const auto value = os::variable(process->environment, name);
            const auto seen = visible(value, leased);
            if (seen == Visible::some) continue;
            const bool begun = !process->builds.empty() || process->cuda.driver;
            const auto what = fmt::format("{} is '{}' in process {} ({})",
                                          name,
                                          printable(value),
                                          process->pid,
                                          process->name);
            if (seen == Visible::none)
                of_this = {"hidden-devices", what + ", which hides every GPU", begun, process->pid};
            else
                of_this = {"other-devices",
                           what + ", which names no GPU of this run",
                           begun && seen == Visible::others,
                           process->pid};
        }
        if (!of_this) return std::nullopt;
        if (!out || (out->certain && !of_this->certain)) out = of_this;
    }
    return out;
}

std::optional<Finding> find_jax_platform(const std::vector<const Process*>& workers)
{
    std::optional<Finding> out;
    for (const auto* process : workers) {
        if (process->builds.size() != 1 || process->builds[0].name != "JAX") return std::nullopt;
        std::string set;
        for (const auto* name : {"JAX_PLATFORMS", "JAX_PLATFORM_NAME"})
            if (lower(os::variable(process->environment, name)) == "cpu") set = name;
        if (set.empty()) return std::nullopt;
        if (!out)
            out = {"hidden-devices",
                   fmt::format("{} is 'cpu' in process {} ({})", set, process->pid, process->name),
                   true,
                   process->pid};
    }
    return out;
}

// Where Python may find packages that do not lie beside those seen.
bool may_find_elsewhere(const Process& process)
{
    return has_variable(process.environment, "PYTHONPATH") ||
           has_variable(process.environment, "PJRT_NAMES_AND_LIBRARY_PATHS");
}

void find_cpu_builds(const std::vector<const Process*>& workers, std::vector<Finding>& out)
{
    const bool any_gpu = std::any_of(workers.begin(), workers.end(), [](const auto* process) {
        return process->cuda.driver ||
               std::any_of(process->builds.begin(), process->builds.end(), [](const auto& build) {
                   return build.gpu != Gpu::no;
               });
    });
    std::set<std::string> told;
    for (const auto* process : workers) {
        for (const auto& build : process->builds) {
            if (build.gpu != Gpu::no || !told.insert(build.name).second) continue;
            out.push_back({"cpu-build",
                           fmt::format("{}{} of process {} is built for the CPU only: {}",
                                       build.name,
                                       build.version.empty() ? "" : " " + build.version,
                                       process->pid,
                                       build.because),
                           !any_gpu && (build.name != "JAX" || !may_find_elsewhere(*process)),
                           process->pid});
        }
    }
}

void find_library_trouble(const std::vector<const Process*>& workers,
                          const Inventory& leased,
                          std::vector<Finding>& out)
{
    const auto served = parse_integer(leased.cuda_version.substr(0, leased.cuda_version.find('.')));
    const bool driver_loaded = std::any_of(
        workers.begin(), workers.end(), [](const auto* process) { return process->cuda.driver; });
    for (const auto* process : workers) {
        if (process->cuda.runtime_major && served && *process->cuda.runtime_major > *served) {
            // A newer library of the driver may have been put beside it for just this purpose.
            const bool own_library =
                process->cuda.driver && (process->cuda.driver_version.empty() ||
                                         process->cuda.driver_version == leased.driver_version);
            out.push_back(
                {"cuda-newer-than-driver",
                 fmt::format(
                     "process {} has loaded CUDA {}, but driver {} supports CUDA {} at most",
                     process->pid,
                     *process->cuda.runtime_major,
                     leased.driver_version,
                     leased.cuda_version),
                 own_library,
                 process->pid});
        }
        const auto gpu_build =
            std::find_if(process->builds.begin(), process->builds.end(), [](const auto& build) {
                return build.gpu == Gpu::yes;
            });
        if (gpu_build != process->builds.end() && !driver_loaded)
            out.push_back(
                {"driver-library-not-loaded",
                 fmt::format(
                     "{} of process {} could use a GPU, but the driver's library libcuda.so.1 was "
                     "not loaded: the program did not request it, or it was not found",
                     gpu_build->name,
                     process->pid),
                 false,
                 process->pid});
    }
}

bool may_open(const struct stat& node, const Credentials& who)
{
    const auto wanted = [&](unsigned shift) { return (node.st_mode >> shift & 6U) == 6U; };
    if (who.user == 0) return true;
    if (node.st_uid == who.user) return wanted(6);
    if (std::find(who.groups.begin(), who.groups.end(), node.st_gid) != who.groups.end())
        return wanted(3);
    return wanted(0);
}

void find_node_trouble(const std::vector<const Process*>& workers,
                       const Inventory& leased,
                       const Path& proc,
                       std::vector<Finding>& out)
{
    if (workers.empty()) return;
    const auto& process = *workers.front();
    const auto who = find_credentials(proc, process.pid);
    std::vector<std::string> nodes;
    for (const auto& device : leased.devices) {
        if (device.vendor == "nvidia" && nodes.empty()) nodes.emplace_back("/dev/nvidiactl");
        nodes.insert(nodes.end(), device.nodes.begin(), device.nodes.end());
    }
    for (const auto& node : nodes) {
        const auto file = os::open_in_root(process.root.get(), node, O_PATH);
        struct stat status {};
        if (!file || ::fstat(file->get(), &status) != 0) {
            if (!file && file.error().kind() == ErrorKind::not_found)
                out.push_back({"node-missing",
                               fmt::format("process {1} cannot see '{0}'", node, process.pid),
                               false,
                               process.pid});
        } else if (who && !may_open(status, *who)) {
            const auto path = fmt::format("/proc/self/fd/{}", file->get());
            const bool listed = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
            out.push_back({"node-permission",
                           fmt::format("user {} of process {} may not open '{}' (mode {:o})",
                                       who->user,
                                       process.pid,
                                       node,
                                       status.st_mode & 0777U),
                           !listed,
                           process.pid});
        }
    }
}

}  // namespace

std::vector<Finding>
find_fallback(const std::vector<pid_t>& pids, const Inventory& leased, const ProcessView& view)
{
    constexpr std::size_t most = 6;
    const auto processes = look_at(pids, view);
    const auto seen = workers(processes);
    std::vector<Finding> found;
    if (auto hidden = find_hidden(seen, leased.devices)) found.push_back(std::move(*hidden));
    if (auto hidden = find_jax_platform(seen)) found.push_back(std::move(*hidden));
    find_cpu_builds(seen, found);
    find_node_trouble(seen, leased, view.proc, found);
    find_library_trouble(seen, leased, found);
    for (auto& finding : found)
        finding.certain = finding.certain && finding.pid == view.main;
    std::stable_sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
        return left.certain && !right.certain;
    });
    // Twenty workers say the same: the first of a kind is enough.
    std::vector<Finding> out;
    for (auto& finding : found) {
        const bool told = std::any_of(
            out.begin(), out.end(), [&](const auto& other) { return other.code == finding.code; });
        if ((!told || finding.code == "cpu-build") && out.size() < most)
            out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace ponk::gpu
