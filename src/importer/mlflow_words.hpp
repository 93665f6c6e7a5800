// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/copies.hpp"

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
// A version that was deleted and is kept so that its number is not given again.
inline constexpr std::string_view deleted_stage = "Deleted_Internal";
// The model that "models:/m-0123" names; empty: none.
std::string model_in_source(std::string_view source);

}  // namespace ponk::importer
