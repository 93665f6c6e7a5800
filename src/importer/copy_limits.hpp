// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/copy/copies.hpp"

// Whatever a store holds, history takes names and texts of the lengths that runs may log.
// `invalid_argument` names what is longer.
namespace ponk::importer {

Result<> check_limits(const store::ExperimentCopy& experiment);
Result<> check_limits(const store::RunCopy& run);
Result<> check_limits(const store::ModelCopy& model);
Result<> check_limits(const store::RegisteredCopy& registered);

}  // namespace ponk::importer
