// SPDX-License-Identifier: Apache-2.0
#include "output/chart.hpp"

#include "base/text.hpp"
#include "output/canvas.hpp"
#include "output/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ponk::output {

namespace {

constexpr std::array<std::string_view, 6> colours{"36", "33", "35", "32", "34", "31"};
constexpr int narrowest_plot = 10;
constexpr int default_width = 80;

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    [[nodiscard]] bool empty() const { return low > high; }
};

double x_of(const Series& series, std::size_t i)
{
    return i < series.x.size() ? series.x[i] : static_cast<double>(i);
}

class Chart {
public:
    Chart(std::span<const Series> series, const ChartOptions& options)
        : series_(series), options_(options), terminal_(options.terminal)
    {
        for (const auto& one : series_) {
            for (std::size_t i = 0; i < one.y.size(); ++i) {
                if (!has_place(one, i)) continue;
                y_range_.include(one.y[i]);
                x_range_.include(x_of(one, i));
            }
        }
    }

    std::string text()
    {
        if (y_range_.empty()) return {};
        const int lines = std::clamp(options_.height, 3, 100);
        const auto axis = make_axis(
            y_range_.low, y_range_.high, std::max(2, (lines + 1) * 2 / 5), options_.scale);
        std::size_t margin = 0;
        for (const double tick : axis.ticks)
            margin = std::max(margin, axis.label(tick).size());
        const int width = terminal_.width > 0 ? terminal_.width : default_width;
        const int columns = std::max(narrowest_plot, width - static_cast<int>(margin) - 3);
        Canvas canvas(columns, lines, dots());
        for (std::size_t i = 0; i < series_.size(); ++i)
            draw(canvas, axis, series_[i], static_cast<int>(i));
        return heading(margin) + plot(canvas, axis, margin, columns, lines) +
               x_labels(margin, columns) + legend();
    }

private:
    [[nodiscard]] bool has_place(const Series& series, std::size_t i) const
    {
        return std::isfinite(series.y[i]) && std::isfinite(x_of(series, i)) &&
               (options_.scale == Scale::linear || series.y[i] > 0);
    }

    // Braille cells of two curves look alike without colour, so each curve gets its own character.
    [[nodiscard]] Canvas::Dots dots() const
    {
        const bool braille =
            terminal_.utf8 &&
            (series_.size() == 1 || (terminal_.colour && series_.size() <= colours.size()));
        return braille ? Canvas::Dots::braille : Canvas::Dots::characters;
    }

    [[nodiscard]] std::string painted(std::string_view text, int pen) const
    {
        if (!terminal_.colour || pen < 0) return std::string(text);
        const auto colour = colours.at(static_cast<std::size_t>(pen) % colours.size());
        return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
    }

    void draw(Canvas& canvas, const Axis& axis, const Series& series, int pen) const
    {
        const double span = x_range_.high - x_range_.low;
        bool connected = false;
        int last_x = 0;
        int last_y = 0;
        for (std::size_t i = 0; i < series.y.size(); ++i) {
            if (!has_place(series, i)) {
                connected = false;
                continue;
            }
            const double place_x = span > 0 ? (x_of(series, i) - x_range_.low) / span : 0.5;
            const double place_y = std::clamp(axis.place(series.y[i]), 0.0, 1.0);
            const int x = static_cast<int>(std::lround(place_x * (canvas.width() - 1)));
            const int y = static_cast<int>(std::lround((1 - place_y) * (canvas.height() - 1)));
            if (connected) {
                canvas.line(last_x, last_y, x, y, pen);
            } else {
                canvas.dot(x, y, pen);
            }
            connected = true;
            last_x = x;
            last_y = y;
        }
    }

    [[nodiscard]] std::string heading(std::size_t margin) const
    {
        if (options_.title.empty()) return {};
        const auto room = static_cast<std::size_t>(
            std::max(terminal_.width > 0 ? terminal_.width : default_width, narrowest_plot));
        const auto title = shortened(printable(options_.title), room, terminal_);
        const auto indent = std::min(margin + 3, room - display_width(title));
        const auto bold = terminal_.colour ? "\x1b[1m" + title + "\x1b[0m" : title;
        return std::string(indent, ' ') + bold + '\n';
    }

    [[nodiscard]] std::string
    plot(const Canvas& canvas, const Axis& axis, std::size_t margin, int columns, int lines) const
    {
        std::vector<std::string> labels(static_cast<std::size_t>(lines));
        for (const double tick : axis.ticks) {
            const auto dot =
                std::lround((1 - std::clamp(axis.place(tick), 0.0, 1.0)) * (canvas.height() - 1));
            labels.at(static_cast<std::size_t>(dot * lines / canvas.height())) = axis.label(tick);
        }
        std::string out;
        for (int line = 0; line < lines; ++line) {
            const auto& label = labels[static_cast<std::size_t>(line)];
            const std::string_view edge =
                !terminal_.utf8 ? (label.empty() ? "|" : "+") : (label.empty() ? "│" : "┤");
            out += fmt::format(" {:>{}} {}", label, margin, edge);
            out += row(canvas, columns, line) + '\n';
        }
        out += std::string(margin + 2, ' ') + (terminal_.utf8 ? "└" : "+");
        for (int i = 0; i < columns; ++i)
            out += terminal_.utf8 ? "─" : "-";
        return out + '\n';
    }

    [[nodiscard]] std::string row(const Canvas& canvas, int columns, int line) const
    {
        std::string out;
        std::string owed;  // blanks at the end of a line are not written
        std::string run;
        int pen = -1;
        const auto flush = [&] {
            if (!run.empty()) out += painted(run, pen);
            run.clear();
        };
        for (int column = 0; column < columns; ++column) {
            const auto cell = canvas.cell(column, line);
            if (cell.pen < 0) {
                flush();
                owed += ' ';
                continue;
            }
            if (cell.pen != pen || !owed.empty()) flush();
            out += owed;
            owed.clear();
            pen = cell.pen;
            run += cell.text;
        }
        flush();
        return out;
    }

    [[nodiscard]] std::string x_labels(std::size_t margin, int columns) const
    {
        const auto text = [this](double value) {
            if (options_.x_text) return options_.x_text(value);
            return value == std::floor(value) && std::fabs(value) < 1e15
                       ? fmt::format("{:.0f}", value)
                       : brief_number(value);
        };
        std::string line(static_cast<std::size_t>(columns), ' ');
        const auto put = [&line](std::size_t at, const std::string& label) {
            if (at + label.size() <= line.size()) line.replace(at, label.size(), label);
        };
        const auto low = text(x_range_.low);
        const auto high = text(x_range_.high);
        const auto name = printable(options_.x_label);
        if (x_range_.low == x_range_.high) {
            const auto only = fmt::format("{} {}", name, low);
            put((line.size() - std::min(line.size(), only.size())) / 2, only);
        } else {
            put(0, low);
            if (low.size() + high.size() + 2 <= line.size()) put(line.size() - high.size(), high);
        }
        // Only plain characters: the line is counted in bytes.
        const bool fits = x_range_.low < x_range_.high &&
                          name.size() + low.size() + high.size() + 4 <= line.size();
        if (fits && name.size() == display_width(name)) put((line.size() - name.size()) / 2, name);
        line.erase(line.find_last_not_of(' ') + 1);
        return std::string(margin + 3, ' ') + line + '\n';
    }

    [[nodiscard]] std::string legend() const
    {
        std::size_t widest = 0;
        for (const auto& one : series_)
            widest = std::max(widest, display_width(printable(one.name)));
        const auto room =
            static_cast<std::size_t>(terminal_.width > 0 ? terminal_.width : default_width);
        widest = std::min(widest, std::max<std::size_t>(room / 3, 8));
        std::string out;
        for (std::size_t i = 0; i < series_.size(); ++i)
            out += legend_line(series_[i], static_cast<int>(i), widest, room);
        return out;
    }

    [[nodiscard]] std::string
    legend_line(const Series& series, int pen, std::size_t widest, std::size_t room) const
    {
        Range range;
        for (const double value : series.y) {
            if (std::isfinite(value)) range.include(value);
        }
        const auto name = shortened(printable(series.name), widest, terminal_);
        const std::string blanks(widest - display_width(name), ' ');
        const std::size_t column = series_.size() > 1 ? 10 : 0;  // figures below each other
        const auto figures = range.empty() ? std::string("no values")
                                           : fmt::format("min {:<{}}  max {:<{}}  last {}",
                                                         brief_number(range.low),
                                                         column,
                                                         brief_number(range.high),
                                                         column,
                                                         brief_number(series.y.back()));
        Canvas sample(1, 1, dots());
        for (int x = 0; x < sample.width(); ++x)
            sample.dot(x, sample.height() / 2, pen);
        const auto mark = painted(sample.cell(0, 0).text, pen);
        const auto left = room > widest + 6 ? room - widest - 6 : 0;
        return fmt::format(
            "  {} {}{}  {}\n", mark, name, blanks, shortened(figures, left, terminal_));
    }

    std::span<const Series> series_;
    const ChartOptions& options_;
    const Terminal& terminal_;
    Range x_range_;
    Range y_range_;
};

}  // namespace

std::size_t most_marks()
{
    return Canvas::marks();
}

std::string draw_chart(std::span<const Series> series, const ChartOptions& options)
{
    return Chart(series, options).text();
}

}  // namespace ponk::output
