// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/embedded.hpp"

#include "base/hash.hpp"
#include "os/carried_program.hpp"

#include <sys/stat.h>

// Made by ponk_embed.
extern "C" {
extern const unsigned char ponk_stub_x86_64[];
extern const unsigned char ponk_stub_x86_64_end[];
extern const unsigned char ponk_stub_aarch64[];
extern const unsigned char ponk_stub_aarch64_end[];
extern const unsigned char ponk_relay_program[];
extern const unsigned char ponk_relay_program_end[];
#define PONK_PYTHON_FILE(symbol, name)                                                             \
    extern const unsigned char symbol[];                                                           \
    extern const unsigned char symbol##_end[];
#include "executor/python_files.inc"
#undef PONK_PYTHON_FILE
}

namespace ponk::executor {

namespace {

bool is_there(const Path& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

}  // namespace

Result<std::string_view> stub_binary(std::string_view processor)
{
    std::string_view binary;
    if (processor == "x86_64") binary = os::carried_bytes(ponk_stub_x86_64, ponk_stub_x86_64_end);
    if (processor == "aarch64")
        binary = os::carried_bytes(ponk_stub_aarch64, ponk_stub_aarch64_end);
    if (!binary.empty()) return binary;
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("this ponk contains no supervisor for '{}' machines", processor),
              fmt::format("Build ponk where '{}-linux-gnu-g++' is installed.", processor)));
}

std::vector<std::pair<std::string, std::string_view>> python_modules()
{
    return {
#define PONK_PYTHON_FILE(symbol, name) {name, os::carried_bytes(symbol, symbol##_end)},
#include "executor/python_files.inc"
#undef PONK_PYTHON_FILE
    };
}

Result<Path> install_stub(const Path& lib)
{
    return os::install_program(lib, "ponk-stub", TRY(stub_binary(os::own_processor())));
}

Result<Path> install_relay(const Path& lib)
{
    return os::install_program(
        lib, "ponk-relay", os::carried_bytes(ponk_relay_program, ponk_relay_program_end));
}

Result<Path> install_python_modules(const Path& lib)
{
    Sha256 hash;
    for (const auto& [name, text] : python_modules()) {
        hash.update(fmt::format("{} {}\n", name, text.size()));
        hash.update(text);
    }
    const auto path = lib / fmt::format("python-{}", hash.finish().text().substr(0, 16));
    if (is_there(path)) return path;
    TRY(os::make_directories(lib));
    const auto building = TRY(os::make_temporary_directory(lib, ".python-"));
    for (const auto& [name, text] : python_modules()) {
        TRY(os::make_directories((building / name).parent_path(), 0755));
        TRY(os::replace_file(building / name, text, 0644, os::Durable::no));
    }
    if (::rename(building.c_str(), path.c_str()) != 0) {
        const int problem = errno;
        TRY(os::remove_tree(building));
        if (!is_there(path)) return fail_errno(problem, "make {}", os::in_quotes(path));
    }
    return path;
}

}  // namespace ponk::executor
