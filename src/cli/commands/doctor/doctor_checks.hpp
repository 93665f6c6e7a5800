// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "cli/client/context.hpp"

#include <string>

// What `ponk doctor` looks at from where the user stands: the daemon has another PATH, and no
// project. Each check is {name, status, message, hint}; status is ok, warn or fail, and what is not
// ok has a hint with the next step.
namespace ponk::cli {

Json check_result(const std::string& name,
                  std::string_view status,
                  const std::string& message,
                  const std::string& hint = {});

// ponk's own folder and the name of its socket.
JsonArray check_home(const os::Path& home);
// git, and whatever else is asked for by name.
JsonArray check_programs();
// The Python of the target 'local' with pip, venv and NumPy, and every run configuration of the
// project.
JsonArray check_project(const os::Path& folder);

// What the check of a target found (docs/design/api.md, "A check"). One that runs cannot use has no
// line "ok": what is known of its machine is in the line that fails.
JsonArray target_lines(const std::string& title, const Json& answer);

// The GPUs of this machine, of an answer of POST /gpus: the cards and their driver, or what keeps
// runs from them.
Json gpu_check(const Result<Json>& answer);
JsonArray check_gpus(Context& context);

// Every target of the project that is another machine or an engine: reached, and what is found
// there.
JsonArray check_targets(Context& context);

}  // namespace ponk::cli
