// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/native/line_expression.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api {

// A byte of a log, which line it is in, and where that line begins. All count from 0.
struct LinePlace {
    std::uint64_t offset = 0;
    std::uint64_t line = 0;
    std::uint64_t begin = 0;
    friend bool operator==(const LinePlace&, const LinePlace&) = default;
};

// Finds the lines that have a text or an expression, in bytes that come piece by piece; of each
// line the first place. Takes time in proportion to the bytes, and keeps no more than a line of
// common length: of one beyond 1 MiB only what may begin the text; an expression is looked for in
// pieces of it, each as if it were a line. Not thread-safe.
class LineSearch {
public:
    using Case = LetterCase;

    // `text`: not empty, without line ends; only a-z and A-Z are folded. What is fed begins at
    // `place`; after `most` lines it finds no more.
    LineSearch(std::string text, Case letters, const LinePlace& place, std::size_t most);
    LineSearch(LineExpression expression, const LinePlace& place, std::size_t most);
    void feed(std::string_view bytes);
    // What is left is a line, too, which may grow. Where another search goes on then.
    LinePlace finish();
    // Where another search goes on.
    [[nodiscard]] LinePlace place() const { return place_; }
    [[nodiscard]] const std::vector<LinePlace>& found() const { return found_; }
    [[nodiscard]] bool is_full() const { return found_.size() >= most_; }

private:
    void look(std::size_t end);
    [[nodiscard]] std::size_t find(std::string_view all) const;
    [[nodiscard]] std::size_t unsure(std::string_view all) const;
    bool pass_line(std::string_view all);
    void pass(std::size_t to);

    std::string text_;
    std::optional<LineExpression> expression_;  // instead of the text
    Case letters_;
    std::size_t most_;
    std::string rest_;       // what may have to be looked at
    std::string folded_;     // the same for comparing, when it is not exact
    std::size_t done_ = 0;   // bytes of these that are passed
    LinePlace place_;        // of the next one
    bool in_found_ = false;  // its line was found already
    std::vector<LinePlace> found_;
};

}  // namespace ponk::api
