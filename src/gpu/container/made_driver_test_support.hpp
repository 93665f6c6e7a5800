// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/container/driver_files.hpp"
#include "os/test_folder.hpp"

#include <elf.h>
#include <filesystem>
#include <fstream>
#include <map>

namespace ponk::gpu {

// A machine with a driver, made of files: a root folder, and what its programs would print.
class MadeMachine {
public:
    static constexpr const char* version = "580.65.06";
#if defined(__aarch64__)
    static constexpr Elf64_Half own = EM_AARCH64;
    static constexpr Elf64_Half foreign = EM_X86_64;
#else
    static constexpr Elf64_Half own = EM_X86_64;
    static constexpr Elf64_Half foreign = EM_AARCH64;
#endif

    void write(const std::string& path, const std::string& text = {})
    {
        const auto file = root() / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        std::filesystem::permissions(file, std::filesystem::perms(0666));
    }
    void link(const std::string& path, const std::string& to)
    {
        std::filesystem::create_directories((root() / path).parent_path());
        std::filesystem::create_symlink(to, root() / path);
    }
    void library(const std::string& path, Elf64_Half machine = own)
    {
        Elf64_Ehdr header{};
        std::copy_n(ELFMAG, SELFMAG, header.e_ident);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_machine = machine;
        write(path, std::string(reinterpret_cast<const char*>(&header), sizeof header));
    }
    void nodes()
    {
        for (const auto* node :
             {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia0", "nvidia1"})
            write(std::string("dev/") + node);
    }
    // "libcuda.so.1" as a link to the file with the driver's version, in the loader's cache.
    void driver_library(const std::string& stem, const std::string& number)
    {
        const auto real = stem + ".so." + version;
        library("usr/lib/gpu/" + real);
        link("usr/lib/gpu/" + stem + ".so." + number, real);
        cache += "\t" + stem + ".so." + number + " (libc6,x86-64) => /usr/lib/gpu/" + stem +
                 ".so." + number + "\n";
    }
    void driver()
    {
        nodes();
        driver_library("libcuda", "1");
        driver_library("libnvidia-ml", "1");
        driver_library("libnvidia-ptxjitcompiler", "1");
        write("usr/bin/nvidia-smi", "#!/bin/sh\n");
    }

    [[nodiscard]] const Path& root() const
    {
        return folder_.path();
    }
    [[nodiscard]] DriverSearch search() const
    {
        return {.root = root(),
                .driver_version = version,
                .ask = [this](const std::vector<std::string>& argv) -> Result<std::string> {
                    if (argv[0].ends_with("ldconfig")) return cache;
                    const auto answer = programs.find(argv[0]);
                    if (answer == programs.end())
                        return fail(ErrorKind::not_found, "no '{}'", argv[0]);
                    return answer->second;
                }};
    }
    static Device card(unsigned index, const std::string& vendor = "nvidia")
    {
        Device device;
        device.uuid = "GPU-" + std::to_string(index);
        device.index = index;
        device.vendor = vendor;
        device.nodes = {"/dev/nvidia" + std::to_string(index)};
        return device;
    }

    std::string cache = "3 libs found in cache `/etc/ld.so.cache'\n"
                        "\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1\n";
    std::map<std::string, std::string> programs;

private:
    os::TestFolder folder_;
};

}  // namespace ponk::gpu
