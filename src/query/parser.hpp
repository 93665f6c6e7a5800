// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/jmespath.hpp"
#include "query/syntax_tree.hpp"

#include <string_view>

namespace ponk::query {

Result<Node> parse_tree(std::string_view expression, const QueryLimits& limits);

}  // namespace ponk::query
