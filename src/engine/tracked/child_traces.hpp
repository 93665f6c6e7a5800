// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/json.hpp"
#include "engine/context/context.hpp"

namespace ponk::engine {

// A record of a run's journal about a trace that its script logs. Doing it twice changes nothing.
Result<> bring_trace(const Context& context, const RunId& maker, const Json& record);

}  // namespace ponk::engine
