// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::cli {

// What the daemon finds when it looks at a target of the project (docs/design/api.md, POST
// /targets/check). nullopt when this daemon cannot look.
Result<std::optional<Json>>
ask_facts(Context& context, const os::Path& project, const std::string& target);

// "Debian GNU/Linux 12, x86_64, 41.0 GiB free; Docker 20.10.24 (API 1.41); no GPU": one line.
std::string facts_line(const Json& answer);

// "2 x NVIDIA H200, driver 580.82.07, CUDA 13.0", or "no GPU": of an answer of POST /gpus.
std::string gpus_line(const Json& answer);

struct TargetProblem {
    std::string severity;  // "error", "warning", "notice"
    std::string what;
    std::string hint;
};
std::vector<TargetProblem> problems_of(const Json& answer);
// Whether runs can be sent to it: reached, and no problem is an error.
bool is_ready(const Json& answer);
// Whether containers there get GPUs: a card with a driver, and an engine. A plain one will do, the
// card's files are then handed in directly.
bool has_gpu_for_containers(const Json& answer);

// The line and the problems, on standard error.
void note_facts(const Context& context, const std::string& target, const Json& answer);

}  // namespace ponk::cli
