// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "environment/prepare.hpp"

#include <optional>
#include <string>

namespace ponk::engine {

// The Python that a run would have.
struct FoundPython {
    RunSpec spec;
    std::string interpreter;                     // empty: none is there yet
    std::optional<environment::Prepared> built;  // one that ponk has built, with its lease
};

// Which Python a run of this request would have on this machine, looked up in files alone: no
// program is started, so that nothing can hang and nothing of the project runs. None for runs that
// are in a container or elsewhere.
Result<FoundPython>
find_python(const Context& context, const RunRequest& request, const Submitter& submitter);

}  // namespace ponk::engine
