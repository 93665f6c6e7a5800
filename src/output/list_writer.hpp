// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/render.hpp"

#include <string>

namespace ponk::output {

// A list as render() writes it, piece by piece: for lists that are too long to be held. Not for
// tables, whose widths follow from all rows. Without `columns`, TSV needs elements with the same
// keys.
class ListWriter {
public:
    ListWriter(Format format, const Terminal& terminal, Columns columns = {});

    // The next elements as text.
    [[nodiscard]] std::string add(JsonArray elements);
    // What closes the list.
    [[nodiscard]] std::string finish() const;

private:
    [[nodiscard]] bool has_brackets() const noexcept;

    Format format_;
    Terminal terminal_;
    Columns columns_;
    bool has_begun_ = false;
};

}  // namespace ponk::output
