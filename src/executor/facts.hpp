// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "os/file.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::executor {

// What this machine is and has for runs, and what prevents them, as docs/design/api.md ("A
// check") describes it: {"facts": {…}, "problems": [{severity, what, hint}…]}. `home` is the folder
// that runs are kept in; `environment` ("K=V") finds programs and the engine.
enum class EngineNeed { none, required };
Json machine_facts(const os::Path& home,
                   const std::vector<std::string>& environment,
                   EngineNeed engine,
                   const std::stop_token& stop);

}  // namespace ponk::executor
