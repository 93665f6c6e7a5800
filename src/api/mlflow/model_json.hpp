// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "mlflow/fields.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/datasets.hpp"
#include "store/tracking/traces.hpp"

#include <string_view>
#include <vector>

// Models, versions, datasets and traces as clients read them: what is not set is absent, and so is
// a list without entries.
namespace ponk::api::mlflow {

using ponk::mlflow::Fields;

Json logged_model_json(const store::LoggedModel& model);
Json registered_model_json(const store::RegisteredModel& model);
Json model_version_json(const store::ModelVersion& version);
Json trace_json(const store::TraceInfo& trace);

// `inputs` and `outputs` of a run.
Json inputs_json(const store::RunInputs& inputs);
Json outputs_json(const store::RunInputs& inputs);

// [{"key": …, "value": …}]
JsonArray pairs_json(const store::Pairs& pairs);
void set_unless_empty(JsonObject& object, std::string_view name, JsonArray list);

// {"models": […], "next_page_token": …}
template <class T>
JsonObject page_json(std::string_view name,
                     const std::vector<T>& things,
                     const std::string& next,
                     Json (*json)(const T&))
{
    JsonArray list;
    for (const auto& thing : things)
        list.push_back(json(thing));
    JsonObject page;
    set_unless_empty(page, name, std::move(list));
    if (!next.empty()) page.set("next_page_token", next);
    return page;
}

}  // namespace ponk::api::mlflow
