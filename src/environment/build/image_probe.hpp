// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "environment/tools/tools.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::environment {

// What an image has for building environments.
struct ImageFacts {
    struct Interpreter {
        std::string program;
        std::string version;
        bool has_venv = false;
    };
    bool has_shell = false;
    std::vector<CondaTool> conda;
    std::vector<Interpreter> pythons;
    std::string glibc;             // "2.36"; empty: not known
    std::uint64_t free_space = 0;  // bytes on the engine's disk; 0: not known
};

// What a program prints that is started in a container of the image for a moment, without network;
// nullopt when the image does not have it.
Result<std::optional<std::string>> ask_image(const dockerapi::Engine& engine,
                                             const std::string& image,
                                             const std::vector<std::string>& words,
                                             std::stop_token stop);

// Starts a container of the image for a moment, without network, and looks around in it. An image
// without a shell has none of these. `series` is a Python to look for beside the usual names:
// "3.6".
Result<ImageFacts> probe_image(const dockerapi::Engine& engine,
                               const std::string& image,
                               const std::string& series,
                               std::stop_token stop);

// The lines that the probe prints, understood; what is not one of them is skipped.
ImageFacts parse_probe(std::string_view output);

}  // namespace ponk::environment
