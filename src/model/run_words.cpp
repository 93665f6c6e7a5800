// SPDX-License-Identifier: Apache-2.0
#include "model/run_words.hpp"

namespace ponk::model {

Json params_json(const Run& run)
{
    JsonObject params;
    for (const auto& [key, value] : run.tags) {
        if (key.starts_with(parameter_prefix))
            params.set(key.substr(parameter_prefix.size()), value);
    }
    return params;
}

Json tags_json(const Run& run)
{
    JsonObject tags;
    for (const auto& [key, value] : run.tags) {
        if (!key.starts_with(parameter_prefix)) tags.set(key, value);
    }
    return tags;
}

}  // namespace ponk::model
