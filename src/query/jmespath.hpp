// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ponk::query {

// Bounds that keep any expression, hostile ones too, within small time and memory.
struct QueryLimits {
    std::size_t text = std::size_t{64} << 10;  // bytes of the expression
    std::size_t depth = 200;                   // nesting of the expression
    // Values looked at, compared or copied in a search: so many, and so many more for each value of
    // the document, so that a large one can be searched and a small one cannot be blown up.
    std::size_t work = 2'000'000;
    std::size_t work_per_value = 16;
};

// A JMESPath expression, ready to be applied any number of times and from any thread.
//
// Every error is `invalid_argument` and its message starts with the class of the specification:
// syntax, unknown-function, invalid-arity, invalid-type, invalid-value, or our own too-much-work;
// then the column, what is wrong, and two more lines: the expression and a caret under the place.
class Expression {
public:
    Expression(Expression&& other) noexcept;
    Expression& operator=(Expression&& other) noexcept;
    ~Expression();

    // What the expression selects; null when it selects nothing.
    [[nodiscard]] Result<Json> search(const Json& document) const;
    [[nodiscard]] const std::string& text() const;

private:
    friend Result<Expression> parse_jmespath(std::string_view text, const QueryLimits& limits);
    struct Program;
    explicit Expression(std::unique_ptr<const Program> program);
    std::unique_ptr<const Program> program_;
};

// Syntax, names of functions and their number of arguments are checked here, before any data.
Result<Expression> parse_jmespath(std::string_view text, const QueryLimits& limits = {});

}  // namespace ponk::query
