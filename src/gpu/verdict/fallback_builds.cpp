// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/fallback_builds.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>

namespace ponk::gpu {

namespace {

using Gpu = FrameworkBuild::Gpu;

std::string_view file_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string_view folder_of(std::string_view path)
{
    return path.substr(0, path.rfind('/'));
}

// Files as a process sees them, whose paths are absolute.
class Files {
public:
    explicit Files(int root) : root_(root) {}

    [[nodiscard]] bool has(const Path& path) const
    {
        return os::open_in_root(root_, path, O_PATH).has_value();
    }
    [[nodiscard]] std::string text(const Path& path) const
    {
        return os::read_in_root(root_, path, 1 << 20).value_or("");
    }
    [[nodiscard]] Result<std::vector<os::Entry>> list(const Path& folder) const
    {
        return os::list_directory(
            TRY(os::open_in_root(root_, folder, O_RDONLY | O_DIRECTORY)).get());
    }

private:
    int root_;
};

// `__version__ = '2.4.0+cpu'`
std::string version_in(const std::string& text)
{
    const auto at = text.find("__version__");
    if (at == std::string::npos) return {};
    const auto open = text.find_first_of("'\"\n", at);
    if (open == std::string::npos || text[open] == '\n') return {};
    const auto close = text.find(text[open], open + 1);
    return close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

// The first of `files` whose name is one of `names`.
template <std::size_t N>
const std::string* find_file(const std::vector<std::string>& files,
                             const std::array<std::string_view, N>& names)
{
    const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) {
        return std::find(names.begin(), names.end(), file_name(file)) != names.end();
    });
    return found == files.end() ? nullptr : &*found;
}

// The library for GPUs lies beside the one for processors, and is a dependency of what is loaded;
// that it is not mapped yet says nothing, that it is not there says all.
std::optional<FrameworkBuild> find_torch(const std::vector<std::string>& mapped, const Files& files)
{
    constexpr std::array<std::string_view, 1> cpu_names{"libtorch_cpu.so"};
    constexpr std::array<std::string_view, 2> gpu_names{"libtorch_cuda.so", "libtorch_hip.so"};
    const auto* cpu = find_file(mapped, cpu_names);
    if (!cpu) return std::nullopt;
    const Path folder = folder_of(*cpu);
    FrameworkBuild build{.name = "PyTorch", .version = {}, .gpu = Gpu::unknown, .because = {}};
    build.version = version_in(files.text(folder.parent_path() / "version.py"));
    const auto beside = [&](std::string_view name) { return files.has(folder / name); };
    if (find_file(mapped, gpu_names) || beside(gpu_names[0]) || beside(gpu_names[1])) {
        build.gpu = Gpu::yes;
    } else if (beside("libtorch_cpu.so")) {
        build.gpu = Gpu::no;
        build.because = fmt::format("'{}' has no libtorch_cuda.so", folder.native());
    }
    return build;
}

// "('is_cuda_build', False)", "'is_cuda_build': False" or "is_cuda_build = False"
std::optional<bool> flag_in(const std::string& text, std::string_view name)
{
    const auto at = text.find(name);
    if (at == std::string::npos) return std::nullopt;
    const auto value = text.find_first_of("TF\n", at + name.size());
    if (value == std::string::npos || text[value] == '\n') return std::nullopt;
    return text[value] == 'T';
}

struct Distribution {
    std::string name;
    std::string version;
};

// "tensorflow_cpu-2.16.1.dist-info" among what is installed in the folder
std::vector<Distribution>
distributions(const Files& files, const Path& folder, std::string_view beginning)
{
    std::vector<Distribution> out;
    const auto entries = files.list(folder);
    if (!entries) return out;
    for (const auto& entry : *entries) {
        const auto dash = entry.name.find('-');
        constexpr std::string_view ending = ".dist-info";
        if (!entry.name.starts_with(beginning) || dash == std::string::npos ||
            entry.name.size() < dash + ending.size() || !entry.name.ends_with(ending))
            continue;
        out.push_back({entry.name.substr(0, dash),
                       entry.name.substr(dash + 1, entry.name.size() - ending.size() - dash - 1)});
    }
    return out;
}

std::optional<FrameworkBuild> find_tensorflow(const std::vector<std::string>& mapped,
                                              const Files& files)
{
    constexpr std::array<std::string_view, 6> names{"libtensorflow_cc.so.2",
                                                    "libtensorflow_framework.so.2",
                                                    "libtensorflow_framework.so.1",
                                                    "_pywrap_tensorflow_internal.so",
                                                    "lib_pywrap_tensorflow_common.so",
                                                    "libtensorflow_framework.so"};
    const auto* library = find_file(mapped, names);
    if (!library) return std::nullopt;
    const auto at = library->rfind("/tensorflow/");
    FrameworkBuild build{.name = "TensorFlow", .version = {}, .gpu = Gpu::unknown, .because = {}};
    if (at == std::string::npos) return build;
    const Path site = library->substr(0, at);
    const auto info = files.text(site / "tensorflow/python/platform/build_info.py");
    const auto cuda = flag_in(info, "is_cuda_build");
    const auto rocm = flag_in(info, "is_rocm_build");
    const auto installed = distributions(files, site, "tensorflow");
    const auto has = [&](std::string_view name) {
        const auto found =
            std::find_if(installed.begin(), installed.end(), [&](const auto& distribution) {
                return distribution.name == name;
            });
        if (found != installed.end()) build.version = found->version;
        return found != installed.end();
    };
    const bool general = has("tensorflow") || has("tensorflow_gpu");
    const bool cpu = !general && has("tensorflow_cpu");
    if (cuda) {
        build.gpu = *cuda || rocm.value_or(false) ? Gpu::yes : Gpu::no;
        build.because =
            cpu ? "it is the package 'tensorflow-cpu'" : "according to its build_info.py";
    } else if (cpu) {
        build.gpu = Gpu::no;
        build.because = "it is the package 'tensorflow-cpu'";
    }
    return build;
}

// Support for GPUs is a package of its own, beside jaxlib; older ones had it inside.
std::optional<FrameworkBuild> find_jax(const std::vector<std::string>& mapped, const Files& files)
{
    const auto library = std::find_if(mapped.begin(), mapped.end(), [](const auto& file) {
        return file.find("/jaxlib/") != std::string::npos && file.find(".so") != std::string::npos;
    });
    if (library == mapped.end()) return std::nullopt;
    const Path site = library->substr(0, library->find("/jaxlib/"));
    FrameworkBuild build{.name = "JAX", .version = {}, .gpu = Gpu::unknown, .because = {}};
    if (const auto installed = distributions(files, site, "jaxlib-"); !installed.empty())
        build.version = installed.front().version;
    const auto is_plugin = [](const os::Entry& entry) {
        return entry.type != DT_REG &&
               (entry.name.starts_with("jax_cuda") || entry.name.starts_with("jax_rocm") ||
                entry.name.starts_with("xla_cuda") || entry.name.starts_with("xla_rocm"));
    };
    const auto beside = files.list(site);
    const auto plugins = files.list(site / "jax_plugins");
    const bool loaded = std::any_of(mapped.begin(), mapped.end(), [](const auto& file) {
        return file_name(file).starts_with("xla_cuda_plugin") ||
               file_name(file).starts_with("xla_rocm_plugin");
    });
    if (loaded || files.has(site / "jaxlib/cuda") || files.has(site / "jaxlib/rocm") ||
        (beside && std::any_of(beside->begin(), beside->end(), is_plugin)) ||
        (plugins && std::any_of(plugins->begin(), plugins->end(), is_plugin))) {
        build.gpu = Gpu::yes;
    } else if (beside) {
        build.gpu = Gpu::no;
        build.because = fmt::format("'{}' has no jax_cuda plugin", site.native());
    }
    return build;
}

}  // namespace

std::vector<FrameworkBuild> find_builds(const std::vector<std::string>& mapped, int root)
{
    const Files files(root);
    std::vector<FrameworkBuild> builds;
    for (auto* find : {find_torch, find_tensorflow, find_jax})
        if (auto build = find(mapped, files)) builds.push_back(std::move(*build));
    return builds;
}

CudaLibraries find_cuda_libraries(const std::vector<std::string>& mapped)
{
    CudaLibraries libraries;
    for (const auto& file : mapped) {
        const auto name = file_name(file);
        // "libcudart.so.12.4.127", "libcudart-a7b20f20.so.11.0" in wheels that carry their own
        if (name.starts_with("libcudart")) {
            const auto at = name.find(".so.");
            if (at == std::string_view::npos) continue;
            auto version = name.substr(at + 4);
            version = version.substr(0, version.find('.'));
            if (const auto major = parse_integer(version); major && *major < 1000)
                libraries.runtime_major =
                    std::max(libraries.runtime_major.value_or(0), static_cast<int>(*major));
        } else if (name.starts_with("libcuda.so")) {
            libraries.driver = true;
            if (const auto version = name.substr(std::string_view("libcuda.so").size());
                version.size() > 2 && version.find('.', 1) != std::string_view::npos)
                libraries.driver_version = std::string(version.substr(1));
        }
    }
    return libraries;
}

}  // namespace ponk::gpu
