// SPDX-License-Identifier: Apache-2.0
#include "mlflow/model_summary.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace ponk::mlflow {

namespace {

constexpr std::size_t longest_quoted = 500;

}  // namespace

Result<Json> model_summary(const std::string& text)
{
    const auto model = parse_json(text);
    if (!model || !model->is_object())
        return fail(ErrorKind::invalid_argument,
                    "Malformed model info. {} is not a valid JSON.",
                    printable(std::string_view(text).substr(0, longest_quoted)));
    std::vector<std::string> missing;
    for (const auto* name : {"artifact_path", "flavors", "run_id", "utc_time_created"}) {
        if ((*model)[name].is_null()) missing.push_back(fmt::format("'{}'", name));
    }
    if (!missing.empty())
        return fail(ErrorKind::invalid_argument,
                    "Model json is missing mandatory fields: {{{}}}",
                    join(missing, ", "));
    JsonObject summary;
    for (const auto* name :
         {"run_id", "artifact_path", "utc_time_created", "model_uuid", "flavors"})
        summary.append(name, (*model)[name]);
    return Json(std::move(summary));
}

}  // namespace ponk::mlflow
