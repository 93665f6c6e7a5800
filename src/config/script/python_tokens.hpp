// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/place.hpp"

#include <string_view>
#include <vector>

// The words of a Python file, as far as its imports and names need them: texts and comments are
// passed over, nothing is executed.
namespace ponk::config {

struct PythonToken {
    enum class Kind { word, text, mark, line_end };

    Kind kind = Kind::mark;
    std::string_view text;  // of a mark one character; of a text its first quote
    Place place;
    std::size_t depth = 0;  // of the brackets around it

    [[nodiscard]] bool is(std::string_view word) const
    {
        return (kind == Kind::word || kind == Kind::mark) && text == word;
    }
};

// What lies behind an unfinished text is part of it. `text` must outlive the tokens.
std::vector<PythonToken> python_tokens(std::string_view text);

}  // namespace ponk::config
