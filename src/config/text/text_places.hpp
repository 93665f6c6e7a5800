// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/place.hpp"

#include <string_view>
#include <vector>

namespace ponk::config {

// Turns byte offsets of a text into lines and columns. Asking with rising offsets costs time in
// proportion to the text, however long its lines are. Lines end with LF, CRLF or a lone CR.
// One thread at a time.
class TextPlaces {
public:
    explicit TextPlaces(std::string_view text);

    [[nodiscard]] Place place(std::size_t offset) const;
    [[nodiscard]] std::size_t line_count() const noexcept { return starts_.size(); }
    // Line `number` (from 1) without its end.
    [[nodiscard]] std::string_view line(std::size_t number) const;
    // Offset of the first byte of line `number`.
    [[nodiscard]] std::size_t start_of(std::size_t number) const { return starts_[number - 1]; }

private:
    std::string_view text_;
    std::vector<std::size_t> starts_;
    mutable std::size_t last_offset_ = 0;
    mutable Place last_{1, 1};
};

}  // namespace ponk::config
