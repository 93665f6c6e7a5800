// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "model/run.hpp"
#include "model/tracking.hpp"

namespace ponk::engine {

// The run as MLflow's clients inside it see it when it begins.
Result<model::Tracking> track_run(const Context& context, const model::Run& run);

}  // namespace ponk::engine
