// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ponk {

// `ascii_folded`: a-z and A-Z are the same letters, all others are not, as in SQLite's LIKE.
enum class Letters { exact, ascii_folded };

// A pattern in which '%' is any text, '_' one character (a byte that is not UTF-8 counts as one),
// and everything else itself: there is no escape. Matching takes a step per byte of the text and 64
// bytes of the pattern, whatever both are. Threads may share one.
class LikePattern {
public:
    LikePattern(std::string_view pattern, Letters letters);

    // Whether all of `text` fits.
    [[nodiscard]] bool matches(std::string_view text) const;

private:
    using Word = std::uint64_t;
    using Words = std::vector<Word>;

    [[nodiscard]] bool matches_rest(std::string_view text) const;

    Letters letters_;
    std::vector<char> beginning_;  // up to the first '%' or '_': most texts fail here
    // The rest has elements, each a byte or '_'. Bit n of a set: its first n elements are matched.
    std::size_t words_ = 0;
    std::size_t elements_ = 0;
    std::array<std::uint16_t, 256> row_of_{};  // of a byte in `same_`; 0 has those in no element
    Words same_;                               // by row: elements that are this byte
    Words any_;                                // elements that are '_'
    Words repeats_;                            // behind so many elements there is a '%'
};

bool matches_like(std::string_view pattern, std::string_view text, Letters letters);

}  // namespace ponk
