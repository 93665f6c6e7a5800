// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ponk::cli {

// A part of the terminal on standard output that is drawn again and again. The cursor is hidden
// while it lives; what was drawn last stays.
class Screen {
public:
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Over what was drawn before; lines that the terminal has no room for are counted.
    Result<> draw(std::vector<std::string> lines);
    // What is printed next stays above the next drawing.
    Result<> clear();

private:
    std::size_t drawn_ = 0;
    unsigned short columns_ = 0;
    unsigned short rows_ = 0;
};

}  // namespace ponk::cli
