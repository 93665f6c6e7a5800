// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "mlflow/fields.hpp"
#include "store/rows/tracked_rows.hpp"

#include <string>

namespace ponk::api::mlflow {

using ponk::mlflow::Fields;

// Where a new version of a model comes from.
struct ModelSource {
    std::string text;      // as it is stored
    std::string location;  // where its files are
    std::string run;
    std::string logged_model;
};

// Of the fields "source", "run_id" and "model_id". Sources are compared as texts and nothing of
// them is opened. A path of this machine, and one inside the server's store, must be below the
// artifacts of the run or model that is named with it: whoever may read a version would read its
// files.
Result<ModelSource>
source_of(const Services& services, const Fields& fields, const store::Pairs& tags);

}  // namespace ponk::api::mlflow
