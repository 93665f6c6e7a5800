// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/trace_filter.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

Result<query::search::Filter> trace_filter_of(const ponk::mlflow::Fields& fields,
                                              std::string_view name)
{
    auto filter = TRY(query::search::parse_filter(query::search::traces,
                                                  TRY(fields.find_text(name)).value_or("")));
    for (const auto& comparison : filter) {
        if (comparison.entity != query::search::Entity::attribute || comparison.key != "prompt")
            continue;
        const auto& prompt = std::get<std::string>(comparison.value);
        // Any other text would find nothing, without a word.
        if (std::count(prompt.begin(), prompt.end(), '/') != 1)
            return fail(ErrorKind::invalid_argument,
                        "Invalid prompts filter value '{}'. Expected format: prompt ="
                        " \"name/version\"",
                        printable(prompt));
    }
    return filter;
}

}  // namespace ponk::api::mlflow
