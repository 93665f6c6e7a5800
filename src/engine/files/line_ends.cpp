// SPDX-License-Identifier: Apache-2.0
#include "engine/files/line_ends.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ponk::engine {

namespace {

struct Line {
    std::string_view text;
    std::string_view end;  // "\r\n", "\n", "\r"; empty at the end of a file without one
};

std::vector<Line> lines_of(std::string_view text)
{
    std::vector<Line> lines;
    while (!text.empty()) {
        const auto at = text.find_first_of("\r\n");
        if (at == std::string_view::npos) {
            lines.push_back({text, {}});
            break;
        }
        const std::size_t size = text.substr(at, 2) == "\r\n" ? 2 : 1;
        lines.push_back({text.substr(0, at), text.substr(at, size)});
        text.remove_prefix(at + size);
    }
    return lines;
}

// Empty when there is none.
std::string_view usual_end(const std::vector<Line>& lines)
{
    constexpr std::array<std::string_view, 3> ends{"\n", "\r\n", "\r"};
    const auto count = [&](std::string_view end) {
        return std::ranges::count(lines, end, &Line::end);
    };
    const auto* most = std::ranges::max_element(ends, {}, count);
    return count(*most) == 0 ? std::string_view() : *most;
}

}  // namespace

std::string with_line_ends_of(std::string_view before, std::string_view text)
{
    const auto old = lines_of(before);
    const auto usual = usual_end(old);
    if (usual.empty()) return std::string(text);
    auto lines = lines_of(text);
    const auto most = std::min(old.size(), lines.size());
    std::size_t head = 0;
    while (head < most && old[head].text == lines[head].text)
        ++head;
    std::size_t tail = 0;
    while (tail < most - head &&
           old[old.size() - 1 - tail].text == lines[lines.size() - 1 - tail].text)
        ++tail;
    std::string out;
    out.reserve(text.size() + lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string_view end = usual;
        if (i < head) {
            end = old[i].end;
        } else if (i >= lines.size() - tail) {
            end = old[old.size() - (lines.size() - i)].end;
        }
        out += lines[i].text;
        if (!lines[i].end.empty()) out += end.empty() ? usual : end;
    }
    return out;
}

}  // namespace ponk::engine
