// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ponk::cli {

// The program `pip` of a command prompt (docs/design/prompt.md): `ponk-pip PYTHON FILE WORDS…`.
// Tells of packages that died since 2017 before pip looks for them; all else is pip's own.

// Whether the program was started under the name of this role.
bool started_as_pip(const char* program);

// What keeps pip from being started with these words, as lines for the user; nothing: it may. With
// `advice` come lines about what pip may well install. `built_from` is the file that ponk has built
// this Python's environment from; empty: it is the user's own.
struct PipAdvice {
    std::optional<std::string> refusal = {};
    std::string advice = {};
};
PipAdvice advise_on_pip(const std::vector<std::string>& words, const std::string& built_from);

// Becomes pip, or returns the exit code of a refusal.
int run_as_pip(int argc, char** argv);

}  // namespace ponk::cli
