// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "mlflow/fields.hpp"
#include "store/tracking/assessments.hpp"

// Assessments of traces as clients write and read them.
namespace ponk::api::mlflow {

Json assessment_json(const store::Assessment& assessment);

// Of the trace, whatever the fields say of one.
Result<store::Assessment> assessment_of(const ponk::mlflow::Fields& fields,
                                        const std::string& trace);
// What `mask` names, in either way of writing: "assessment_name,feedback", "assessmentName".
Result<store::AssessmentChange> change_of(const ponk::mlflow::Fields& fields,
                                          const std::string& mask);

}  // namespace ponk::api::mlflow
