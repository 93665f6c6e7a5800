// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "query/jmespath.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace ponk::query {

// One line of a table test: what `expression` selects, as compact JSON.
struct Row {
    const char* expression;
    const char* expected;
};

inline std::string
search(std::string_view expression, const Json& document, const QueryLimits& limits = {})
{
    const auto parsed = parse_jmespath(expression, limits);
    if (!parsed) return parsed.error().message();
    const auto value = parsed->search(document);
    return value ? to_json(*value) : value.error().message();
}

inline void expect_rows(std::string_view document, std::span<const Row> rows)
{
    const auto json = parse_json(document);
    ASSERT_TRUE(json) << document;
    for (const auto& row : rows) {
        EXPECT_EQ(search(row.expression, *json), row.expected) << row.expression;
    }
}

}  // namespace ponk::query
