// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/embedded.hpp"

#include "base/hash.hpp"
#include "os/carried_program.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <stdio.h>

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

constexpr std::string_view stub_name = "ponk-stub";
constexpr std::string_view relay_name = "ponk-relay";

std::string_view relay_binary()
{
    return os::carried_bytes(ponk_relay_program, ponk_relay_program_end);
}

Path place_of_modules(const Path& lib)
{
    Sha256 hash;
    for (const auto& [name, text] : python_modules()) {
        hash.update(fmt::format("{} {}\n", name, text.size()));
        hash.update(text);
    }
    return lib / fmt::format("python-{}", hash.finish().text().substr(0, 16));
}

bool has_modules(const Path& folder)
{
    const auto modules = python_modules();
    return std::all_of(modules.begin(), modules.end(), [&folder](const auto& module) {
        return os::holds(folder / module.first, module.second);
    });
}

// At no moment is there nothing at either.
bool change_places(const Path& one, const Path& other)
{
    if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    // This file system knows no exchange.
    const auto aside = Path(one.native() + "-old");
    if (::rename(other.c_str(), aside.c_str()) != 0 || ::rename(one.c_str(), other.c_str()) != 0)
        return false;
    ::rename(aside.c_str(), one.c_str());
    return true;
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
    return os::install_program(lib, stub_name, TRY(stub_binary(os::own_processor())));
}

Result<Path> install_relay(const Path& lib)
{
    return os::install_program(lib, relay_name, relay_binary());
}

Result<Path> install_python_modules(const Path& lib)
{
    const auto path = place_of_modules(lib);
    if (has_modules(path)) return path;
    TRY(os::make_directories(lib));
    const auto building = TRY(os::make_temporary_directory(lib, ".python-"));
    for (const auto& [name, text] : python_modules()) {
        TRY(os::make_directories((building / name).parent_path(), 0755));
        TRY(os::replace_file(building / name, text, 0644, os::Durable::no));
    }
    int problem = ::rename(building.c_str(), path.c_str()) == 0 ? 0 : errno;
    // What is there is damaged, or another process made it just now: runs that use it go on.
    if (problem != 0 && !has_modules(path)) problem = change_places(building, path) ? 0 : errno;
    TRY(os::remove_tree(building));
    if (problem != 0 && !has_modules(path))
        return fail_errno(problem, "make {}", os::in_quotes(path));
    return path;
}

Result<Installed> install_programs(const Path& lib)
{
    Installed installed;
    installed.stub = TRY(install_stub(lib).map_error(while_doing("install the supervisor")));
    installed.relay = TRY(install_relay(lib).map_error(while_doing("install the relay")));
    installed.python_modules =
        TRY(install_python_modules(lib).map_error(while_doing("install Python modules")));
    return installed;
}

Result<std::vector<Path>> repair_installed(const Path& lib)
{
    std::vector<Path> repaired;
    if (!os::is_installed(lib, stub_name, TRY(stub_binary(os::own_processor()))))
        repaired.push_back(TRY(install_stub(lib)));
    if (!os::is_installed(lib, relay_name, relay_binary()))
        repaired.push_back(TRY(install_relay(lib)));
    if (!has_modules(place_of_modules(lib))) repaired.push_back(TRY(install_python_modules(lib)));
    return repaired;
}

}  // namespace ponk::executor
