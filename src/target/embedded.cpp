// SPDX-License-Identifier: Apache-2.0
#include "target/embedded.hpp"

#include "base/hash.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

// Made by ponk_embed.
extern "C" {
extern const unsigned char ponk_stub_x86_64[];
extern const unsigned char ponk_stub_x86_64_end[];
extern const unsigned char ponk_stub_aarch64[];
extern const unsigned char ponk_stub_aarch64_end[];
#define PONK_PYTHON_FILE(symbol, name)                                                             \
    extern const unsigned char symbol[];                                                           \
    extern const unsigned char symbol##_end[];
#include "target/python_files.inc"
#undef PONK_PYTHON_FILE
}

namespace ponk::target {

namespace {

std::string_view between(const unsigned char* begin, const unsigned char* end)
{
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

bool is_there(const Path& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
}

}  // namespace

std::string own_processor()
{
    utsname name{};
    ::uname(&name);
    return name.machine;
}

Result<std::string_view> stub_binary(std::string_view processor)
{
    std::string_view binary;
    if (processor == "x86_64") binary = between(ponk_stub_x86_64, ponk_stub_x86_64_end);
    if (processor == "aarch64") binary = between(ponk_stub_aarch64, ponk_stub_aarch64_end);
    if (!binary.empty()) return binary;
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("this ponk has no supervisor for '{}' machines", processor),
              fmt::format("Build ponk where '{}-linux-gnu-g++' is installed.", processor)));
}

std::vector<std::pair<std::string, std::string_view>> python_modules()
{
    return {
#define PONK_PYTHON_FILE(symbol, name) {name, between(symbol, symbol##_end)},
#include "target/python_files.inc"
#undef PONK_PYTHON_FILE
    };
}

Result<Path> install_stub(const Path& lib)
{
    const auto binary = TRY(stub_binary(own_processor()));
    const auto path = lib / fmt::format("ponk-stub-{}", sha256(binary).text().substr(0, 16));
    if (is_there(path)) return path;
    TRY(os::make_directories(lib));
    // By rename: a half-written program is never seen, and one in use is never written to.
    TRY(os::replace_file(path, binary, 0700));
    return path;
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

}  // namespace ponk::target
