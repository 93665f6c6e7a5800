// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context.hpp"
#include "engine/run_secrets.hpp"

namespace ponk::engine {

// Stores what is new in the metric journals of a run. Safe to repeat: history knows up to where
// each was read. What cannot be read now is read the next time. Secrets are hidden.
void read_journals(const Context& context, const RunId& id, const RunSecrets& secrets);

}  // namespace ponk::engine
