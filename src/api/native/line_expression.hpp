// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace ponk::api {

// `folded`: small and capital letters are the same.
enum class LetterCase { exact, folded };

// A regular expression, found in time proportional to the bytes whatever the expression is: the
// syntax of RE2, without back references. It matches within a line. A value; safe for several
// threads.
class LineExpression {
public:
    static Result<LineExpression> parse(const std::string& text, LetterCase letters);

    // Where it is first found in these lines from `from` on, or npos.
    [[nodiscard]] std::size_t find(std::string_view lines, std::size_t from) const;

private:
    explicit LineExpression(std::shared_ptr<const re2::RE2> expression);

    std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace ponk::api
