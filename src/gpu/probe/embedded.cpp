// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/embedded.hpp"

#include "os/carried_program.hpp"

// Made by ponk_embed.
extern "C" {
extern const unsigned char ponk_nvml_x86_64[];
extern const unsigned char ponk_nvml_x86_64_end[];
extern const unsigned char ponk_nvml_aarch64[];
extern const unsigned char ponk_nvml_aarch64_end[];
}

namespace ponk::gpu {

std::string_view nvml_program(std::string_view processor)
{
    if (processor == "x86_64") return os::carried_bytes(ponk_nvml_x86_64, ponk_nvml_x86_64_end);
    if (processor == "aarch64") return os::carried_bytes(ponk_nvml_aarch64, ponk_nvml_aarch64_end);
    return {};
}

Result<Path> install_nvml_program(const Path& lib)
{
    const auto processor = os::own_processor();
    const auto program = nvml_program(processor);
    if (program.empty())
        return fail(ErrorKind::unavailable,
                    "this ponk contains no 'ponk-nvml' for '{}' machines",
                    processor);
    return os::install_program(lib, "ponk-nvml", program);
}

}  // namespace ponk::gpu
