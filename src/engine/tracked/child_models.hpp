// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/json.hpp"
#include "engine/context/context.hpp"
#include "store/models/models.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::engine {

// Records of a run's journal about models that its script logs. Doing it twice changes nothing.
class MadeModels {
public:
    MadeModels(const Context& context, const RunId& maker) : context_(context), maker_(maker) {}

    Result<> take(const Json& record);
    // A metric that is about a model, of whomever; nullopt when it has no name or value.
    static std::optional<store::ModelMetric> metric_of(const Json& record);
    // Metrics that `run` logged; those of models that are not there are left out.
    Result<> log_metrics(const std::string& run, const std::vector<store::ModelMetric>& metrics);

private:
    [[nodiscard]] std::string source_of(const Json& record) const;
    Result<> make(const std::string& id, const Json& record);
    Result<> change(const std::string& id, const Json& record);

    const Context& context_;
    const RunId& maker_;
};

}  // namespace ponk::engine
