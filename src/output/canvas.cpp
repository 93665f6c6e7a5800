// SPDX-License-Identifier: Apache-2.0
#include "output/canvas.hpp"

#include "base/text.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

namespace ponk::output {

namespace {

// Those that are told apart at a glance come first.
constexpr std::string_view characters = "*+ox#@%&ABCDEFGHIJKLMNPQRSTUVWYZ";

}  // namespace

Canvas::Canvas(int columns, int lines, Dots dots)
    : columns_(columns), lines_(lines), across_(dots == Dots::braille ? 2 : 1),
      down_(dots == Dots::braille ? 4 : 1),
      bits_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(lines)),
      pens_(bits_.size(), -1)
{
}

void Canvas::dot(int x, int y, int pen)
{
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    // Unicode numbers the dots of a braille cell down the left side, down the right, bottom last.
    constexpr std::array<std::array<std::uint8_t, 2>, 4> bit{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    const auto cell = static_cast<std::size_t>((y / down_) * columns_ + x / across_);
    bits_[cell] |=
        bit.at(static_cast<std::size_t>(y % down_)).at(static_cast<std::size_t>(x % across_));
    pens_[cell] = pen;
}

// Bresenham's line.
void Canvas::line(int x0, int y0, int x1, int y1, int pen)
{
    const int dx = std::abs(x1 - x0);
    const int dy = -std::abs(y1 - y0);
    const int step_x = x0 < x1 ? 1 : -1;
    const int step_y = y0 < y1 ? 1 : -1;
    int error = dx + dy;
    for (;;) {
        dot(x0, y0, pen);
        if (x0 == x1 && y0 == y1) return;
        const int twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x0 += step_x;
        }
        if (twice <= dx) {
            error += dx;
            y0 += step_y;
        }
    }
}

std::size_t Canvas::marks()
{
    return characters.size();
}

Canvas::Cell Canvas::cell(int column, int line) const
{
    const auto i = static_cast<std::size_t>(line * columns_ + column);
    if (bits_[i] == 0) return {" ", -1};
    if (across_ == 1)
        return {std::string(1, characters[static_cast<std::size_t>(pens_[i]) % characters.size()]),
                pens_[i]};
    Cell cell{{}, pens_[i]};
    append_utf8(cell.text, 0x2800U + bits_[i]);
    return cell;
}

}  // namespace ponk::output
