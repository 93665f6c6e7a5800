// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/container/driver_files.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ponk::gpu {

// The NVIDIA container toolkit of this machine.
struct Toolkit {
    std::array<unsigned, 3> version{};
    std::string text;  // "1.17.8"
};

// "cli-version: 1.17.4" or "… version 1.17.4", with what may follow.
std::optional<Toolkit> parse_toolkit(std::string_view printed);
// nullopt when no program of it answers.
std::optional<Toolkit> find_toolkit(const AskProgram& ask);

// The holes through which an image leaves its container in this version: "CVE-2025-23266, …";
// empty when none is known.
std::string holes_of(const Toolkit& toolkit);
// The first version without known holes.
constexpr const char* sound_toolkit = "1.17.8";

}  // namespace ponk::gpu
