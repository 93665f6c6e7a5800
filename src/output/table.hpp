// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/terminal.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ponk::output {

enum class Align { by_value, left, right };  // by_value: a column of numbers is aligned right

// What a caller may say about one column of a table. Keys that a row lacks are blank.
struct Column {
    std::string key;
    std::string title = {};  // the key when empty
    Align align = Align::by_value;
    std::size_t min = 10;  // columns of the terminal that it keeps when others give way
};
// As `min`: neither values nor title are ever cut.
inline constexpr std::size_t whole = 1000;
using Columns = std::vector<Column>;

// A list of objects as aligned columns, an object as rows of name and value, a list of plain
// values as one column, a plain value as its text. Without `columns` the heading is the union of
// all keys in the order of first sight. Text that does not fit ends in an ellipsis; columns that
// cannot be shrunk enough are left out from the right, and the last lines say which.
std::string
render_table(const Json& document, const Terminal& terminal, const Columns& columns = {});

}  // namespace ponk::output
