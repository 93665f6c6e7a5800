// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/driver_libraries.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <elf.h>
#include <fcntl.h>

namespace ponk::gpu {

namespace {

enum class Need { must, should, may };
struct Library {
    std::string_view stem;    // "libcuda"
    std::string_view number;  // "1" of "libcuda.so.1"; empty: it carries the driver's version
    Need need;
};

// What computing needs; nothing for screens or video.
constexpr std::array libraries{
    Library{"libcuda", "1", Need::must},
    Library{"libnvidia-ml", "1", Need::should},
    Library{"libnvidia-ptxjitcompiler", "1", Need::should},
    Library{"libnvidia-nvvm", "4", Need::may},
    Library{"libnvidia-nvvm70", "4", Need::may},
    Library{"libnvidia-gpucomp", "", Need::may},
    Library{"libnvidia-tileiras", "", Need::may},
    Library{"libnvidia-fatbinaryloader", "", Need::may},
    Library{"libnvidia-compiler", "", Need::may},
    Library{"libnvidia-pkcs11", "", Need::may},
    Library{"libnvidia-pkcs11-openssl3", "", Need::may},
    Library{"libnvidia-allocator", "1", Need::may},
    Library{"libcudadebugger", "1", Need::may},
    Library{"libnvidia-opencl", "1", Need::may},
    Library{"libnvidia-cfg", "1", Need::may},
    Library{"libdxcore", "", Need::may},
};

#if defined(__aarch64__)
constexpr Elf64_Half own_machine = EM_AARCH64;
constexpr const char* own_triplet = "aarch64-linux-gnu";
#else
constexpr Elf64_Half own_machine = EM_X86_64;
constexpr const char* own_triplet = "x86_64-linux-gnu";
#endif

std::vector<Path> usual_folders()
{
    const Path triplet = Path("usr/lib") / own_triplet;
    return {triplet,
            triplet / "nvidia/current",
            "usr/lib64",
            "usr/lib",
            "usr/lib/nvidia",
            "usr/local/nvidia/lib64",
            "usr/local/nvidia/lib",
            "usr/lib/wsl/lib",
            "run/opengl-driver/lib"};
}

bool is_for_us(const Path& file)
{
    const auto fd = os::open_regular(file);
    if (!fd) return false;
    const auto bytes = os::read_at(fd->get(), 0, sizeof(Elf64_Ehdr));
    if (!bytes || bytes->size() < sizeof(Elf64_Ehdr) || !bytes->starts_with(ELFMAG)) return false;
    Elf64_Ehdr header{};
    std::copy_n(bytes->data(), sizeof header, reinterpret_cast<char*>(&header));
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == own_machine;
}

// Every driver library that the machine knows of, those of its loader first. Paths are below root.
std::vector<DriverFiles::File> gather(const DriverSearch& search)
{
    std::vector<DriverFiles::File> found;
    for (const auto* program : {"/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"}) {
        const auto printed = search.ask({program, "-p"});
        if (!printed) continue;
        found = parse_ldconfig(*printed);
        for (auto& file : found)
            file.source = search.root / file.source.relative_path();
        break;
    }
    for (const auto& folder : usual_folders()) {
        const auto entries = os::list_directory(search.root / folder);
        if (!entries) continue;
        for (const auto& entry : *entries)
            found.push_back({search.root / folder / entry.name, entry.name});
    }
    return found;
}

bool is_meant(const Library& library, const std::string& name, const std::string& version)
{
    const auto beginning = std::string(library.stem) + ".so";
    if (library.number.empty()) return name == beginning || name.starts_with(beginning + ".");
    return name == beginning + "." + std::string(library.number) ||
           (!version.empty() && name == beginning + "." + version);
}

// The name that the loader asks for.
std::string name_of(const Library& library, const std::string& found)
{
    if (library.number.empty()) return found;
    return std::string(library.stem) + ".so." + std::string(library.number);
}

struct Choice {
    std::optional<DriverFiles::File> file;
    std::string remark;
};

Choice choose(const Library& library,
              const std::vector<DriverFiles::File>& all,
              const std::string& version)
{
    Choice choice;
    for (const auto& candidate : all) {
        if (!is_meant(library, candidate.name, version)) continue;
        std::error_code failed;
        const auto real = std::filesystem::canonical(candidate.source, failed);
        if (failed) continue;
        if (!is_for_us(real)) {
            if (choice.remark.empty() && !choice.file)
                choice.remark = fmt::format("{} is not a library for this processor.",
                                            os::in_quotes(candidate.source));
            continue;
        }
        DriverFiles::File file{real, name_of(library, candidate.name)};
        if (version.empty() || real.native().ends_with("." + version))
            return {.file = std::move(file), .remark = {}};
        // Beside the driver's own there may be copies of other releases (CUDA's "compat").
        if (choice.file) continue;
        choice.remark = fmt::format("{} does not belong to the loaded driver, {}.",
                                    os::in_quotes(real),
                                    printable(version));
        choice.file = std::move(file);
    }
    return choice;
}

}  // namespace

std::vector<DriverFiles::File> parse_ldconfig(std::string_view text)
{
    std::vector<DriverFiles::File> files;
    for (const auto& line : split(text, '\n')) {
        const auto arrow = line.find(" => /");
        const auto name = trim(std::string_view(line).substr(0, line.find(" (")));
        if (arrow == std::string::npos || name.empty() || name.size() > arrow) continue;
        if (name.starts_with("libcuda") || name.starts_with("libnvidia-") ||
            name.starts_with("libdxcore"))
            files.push_back({std::string(trim(line.substr(arrow + 4))), std::string(name)});
    }
    return files;
}

Result<> find_driver_libraries(const DriverSearch& search, DriverFiles& files)
{
    const auto all = gather(search);
    for (const auto& library : libraries) {
        auto choice = choose(library, all, search.driver_version);
        const auto wanted = name_of(library, std::string(library.stem) + ".so");
        if (!choice.remark.empty()) files.remarks.push_back(choice.remark);
        if (choice.file) {
            // Some programs ask for the name without the number.
            if (library.need == Need::must)
                files.libraries.push_back({choice.file->source, std::string(library.stem) + ".so"});
            files.libraries.push_back(std::move(*choice.file));
        } else if (library.need == Need::must) {
            return tl::unexpected(Error(
                ErrorKind::not_found,
                fmt::format("the GPU driver's library '{}' is not on this machine{}",
                            wanted,
                            choice.remark.empty() ? "" : " (" + choice.remark + ")"),
                "Install the user-space part of the driver (its package's name has 'libcuda' or "
                "'compute' in it), and check with: ldconfig -p | grep libcuda"));
        } else if (library.need == Need::should && choice.remark.empty()) {
            files.remarks.push_back("The driver's library '" + wanted + "' was not found.");
        }
    }
    return {};
}

}  // namespace ponk::gpu
