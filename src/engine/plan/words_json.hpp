// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <string>
#include <string_view>
#include <vector>

// Lists of words inside stored plans.
namespace ponk::engine {

Json words_to_json(const std::vector<std::string>& words);
// null means no words; `what` names the list in the error.
Result<std::vector<std::string>> words_from_json(const Json& value, std::string_view what);

}  // namespace ponk::engine
