// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/json.hpp"
#include "engine/context.hpp"
#include "store/models.hpp"

#include <string>

namespace ponk::engine {

// Records of a run's journal about models that its script logs. Doing it twice changes nothing.
class MadeModels {
public:
    MadeModels(const Context& context, const RunId& maker) : context_(context), maker_(maker) {}

    Result<> take(const Json& record);
    // A metric of `run` that is about a model, of whomever.
    Result<> take_metric(const std::string& run, const Json& record);

private:
    Result<> make(const std::string& id, const Json& record);
    Result<> change(const std::string& id, const Json& record);

    const Context& context_;
    const RunId& maker_;
};

}  // namespace ponk::engine
