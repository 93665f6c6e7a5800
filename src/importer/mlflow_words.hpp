// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/copy/copies.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What MLflow's stores say, in our words.
namespace ponk::importer {

// A run as any of MLflow's stores knows it.
struct TrackedFields {
    std::string id = {};
    std::string name = {};
    std::string user = {};
    std::string status = {};  // "FINISHED"
    std::int64_t started = 0;
    std::int64_t ended = 0;
    bool deleted = false;
    std::int64_t deleted_time = 0;
    store::Pairs tags = {};
    store::Pairs params = {};
};
// Without points, inputs and events. `invalid_argument` for an id or a status that is none.
Result<store::RunCopy> make_run(const TrackedFields& fields);

// By the number that files have for it.
std::string run_status(std::int64_t number);
// LOGGED_MODEL_READY for 2.
Result<std::string> model_status(std::int64_t number);
// May be part of a path.
bool is_model_id(std::string_view id);

// What older stores do not say of a version is made up for; of a deleted one the number remains, so
// that it is not given again. False: it does not come because of its status.
bool add_version(store::RegisteredCopy& copy, store::ModelVersion version, std::string_view status);
// Unless the version did not come.
void add_alias(store::RegisteredCopy& copy, const std::string& alias, std::int64_t version);

}  // namespace ponk::importer
