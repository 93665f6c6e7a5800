// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/resolve_run.hpp"

namespace ponk::engine {

// Whether the run's script, a notebook, is one that python/ponk_notebook executes: JSON, of format
// 3 or 4, for Python. A notebook in a Spark configuration makes its own Spark session: it gets the
// options in the variable that pyspark reads, instead of being started by spark-submit.
Result<> plan_notebook(ResolvedRun& run);

}  // namespace ponk::engine
