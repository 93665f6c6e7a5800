// SPDX-License-Identifier: Apache-2.0
#include "config/text/text_places.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::config {

TextPlaces::TextPlaces(std::string_view text) : text_(text), starts_{0}
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
        if (text[i] == '\n' || text[i] == '\r') starts_.push_back(i + 1);
    }
}

Place TextPlaces::place(std::size_t offset) const
{
    offset = std::min(offset, text_.size());
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = static_cast<std::uint32_t>(next - starts_.begin());
    const bool onward = line == last_.line && offset >= last_offset_;
    const std::size_t from = onward ? last_offset_ : starts_[line - 1];
    const std::uint32_t base = onward ? last_.column : 1;
    last_ = {line,
             base + static_cast<std::uint32_t>(utf8_length(text_.substr(from, offset - from)))};
    last_offset_ = offset;
    return last_;
}

std::string_view TextPlaces::line(std::size_t number) const
{
    const std::size_t start = starts_[number - 1];
    const std::size_t end = number < starts_.size() ? starts_[number] : text_.size();
    auto line = text_.substr(start, end - start);
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

}  // namespace ponk::config
