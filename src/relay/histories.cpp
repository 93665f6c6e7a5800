// SPDX-License-Identifier: Apache-2.0
#include "relay/histories.hpp"

#include "base/text.hpp"
#include "model/metric_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace ponk::relay {

namespace {

constexpr std::size_t most_series = 4;
constexpr std::size_t most_points = 4'000'000;  // of all that are kept: 96 MB

// The bits tell apart what compares as equal: no two points have the same place.
auto rank(const Point& point)
{
    return std::tuple(point.time,
                      point.step,
                      std::isnan(point.value) ? 0.0 : point.value,
                      std::bit_cast<std::uint64_t>(point.value));
}

bool before(const Point& left, const Point& right)
{
    return rank(left) < rank(right);
}

std::string page_word(const Point& last)
{
    return fmt::format("{}_{}_{}", last.time, last.step, std::bit_cast<std::int64_t>(last.value));
}

Result<Point> parse_page_word(const std::string& word)
{
    const auto parts = split(word, '_');
    if (parts.size() == 3) {
        const auto time = parse_integer(parts[0]);
        const auto step = parse_integer(parts[1]);
        const auto value = parse_integer(parts[2]);
        if (time && step && value) return Point{std::bit_cast<double>(*value), *time, *step};
    }
    return fail(ErrorKind::invalid_argument, "no page begins at '{}'", word.substr(0, 100));
}

}  // namespace

Result<> Histories::read_on(Series& series) const
{
    // How each of our records about it begins, so that others need not be read.
    JsonObject head;
    if (series.run != own_run_) head.set("of", series.run);
    head.set("metric", series.metric);
    auto beginning = to_json(head);
    beginning.back() = ',';
    auto& points = series.points;
    const auto known = static_cast<std::ptrdiff_t>(points.size());
    TRY(journal_.read_on(series.behind, [&](std::string_view payload) {
        if (!payload.starts_with(beginning)) return;
        const auto record = parse_json(payload);
        const auto value = record ? model::journal_number((*record)["value"]) : std::nullopt;
        if (value) points.push_back({*value, record->integer("time"), record->integer("step")});
    }));
    std::sort(points.begin() + known, points.end(), before);
    std::inplace_merge(points.begin(), points.begin() + known, points.end(), before);
    points.erase(std::unique(points.begin(), points.end(), is_same), points.end());
    return {};
}

Result<HistoryPage> Histories::page(const std::string& run,
                                    const std::string& metric,
                                    const std::string& after,
                                    std::size_t most)
{
    const auto last = after.empty() ? std::nullopt : std::optional(TRY(parse_page_word(after)));
    Series series{run, metric, {}, {}};
    std::uint64_t forgotten = 0;
    {
        auto kept = kept_.lock();
        forgotten = kept->forgotten;
        const auto found =
            std::find_if(kept->series.begin(), kept->series.end(), [&](const Series& one) {
                return one.run == run && one.metric == metric;
            });
        if (found != kept->series.end()) {
            series = std::move(*found);
            kept->series.erase(found);
        }
    }
    TRY(read_on(series));
    const auto& points = series.points;
    const auto first =
        last ? std::upper_bound(points.begin(), points.end(), *last, before) : points.begin();
    const auto left = static_cast<std::size_t>(points.end() - first);
    HistoryPage page;
    page.points.assign(first, first + static_cast<std::ptrdiff_t>(std::min(left, most)));
    if (page.points.size() == left) return page;
    page.next = page_word(page.points.back());
    keep(std::move(series), forgotten);
    return page;
}

void Histories::keep(Series series, std::uint64_t forgotten)
{
    auto kept = kept_.lock();
    if (kept->forgotten != forgotten) return;
    kept->series.push_back(std::move(series));
    std::size_t points = 0;
    std::size_t fit = 0;  // from the last one on
    for (auto one = kept->series.rbegin(); one != kept->series.rend() && fit < most_series; ++one) {
        points += one->points.size();
        if (points > most_points) break;
        ++fit;
    }
    kept->series.erase(kept->series.begin(), kept->series.end() - static_cast<std::ptrdiff_t>(fit));
}

void Histories::forget()
{
    auto kept = kept_.lock();
    kept->series.clear();
    ++kept->forgotten;
}

}  // namespace ponk::relay
