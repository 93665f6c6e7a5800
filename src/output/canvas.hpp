// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ponk::output {

// A field of dots behind a field of characters. With braille a character has 2×4 dots, else one.
class Canvas {
public:
    enum class Dots { braille, characters };

    Canvas(int columns, int lines, Dots dots);

    [[nodiscard]] int width() const { return columns_ * across_; }
    [[nodiscard]] int height() const { return lines_ * down_; }
    // From the left and from the top; `pen` counts the curves from 0.
    void dot(int x, int y, int pen);
    void line(int x0, int y0, int x1, int y1, int pen);

    struct Cell {
        std::string text;
        int pen = -1;  // who drew last; -1: nobody
    };
    [[nodiscard]] Cell cell(int column, int line) const;

    // How many pens have a character of their own.
    static std::size_t marks();

private:
    int columns_;
    int lines_;
    int across_;
    int down_;
    std::vector<std::uint8_t> bits_;
    std::vector<int> pens_;
};

}  // namespace ponk::output
