// SPDX-License-Identifier: Apache-2.0
#include "gpu/embedded.hpp"

#include "base/hash.hpp"

#include <sys/utsname.h>
#include <unistd.h>

// Made by ponk_embed.
extern "C" {
extern const unsigned char ponk_nvml_x86_64[];
extern const unsigned char ponk_nvml_x86_64_end[];
extern const unsigned char ponk_nvml_aarch64[];
extern const unsigned char ponk_nvml_aarch64_end[];
}

namespace ponk::gpu {

namespace {

std::string_view between(const unsigned char* begin, const unsigned char* end)
{
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view nvml_program(std::string_view processor)
{
    if (processor == "x86_64") return between(ponk_nvml_x86_64, ponk_nvml_x86_64_end);
    if (processor == "aarch64") return between(ponk_nvml_aarch64, ponk_nvml_aarch64_end);
    return {};
}

Result<Path> install_nvml_program(const Path& lib)
{
    utsname name{};
    ::uname(&name);
    const auto program = nvml_program(name.machine);
    if (program.empty())
        return fail(
            ErrorKind::unavailable, "this ponk has no 'ponk-nvml' for '{}' machines", name.machine);
    const auto path = lib / fmt::format("ponk-nvml-{}", sha256(program).text().substr(0, 16));
    if (::access(path.c_str(), X_OK) == 0) return path;
    TRY(os::make_directories(lib));
    // By rename: a half-written program is never seen, and one in use is never written to.
    TRY(os::replace_file(path, program, 0700));
    return path;
}

}  // namespace ponk::gpu
