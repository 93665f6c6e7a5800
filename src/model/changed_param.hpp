// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string_view>

namespace ponk::model {

// A parameter is written once, with `known` as its value; `whose` is "run ID='…'", say.
Error changed_param(std::string_view key,
                    std::string_view known,
                    std::string_view whose,
                    std::string_view value);

}  // namespace ponk::model
