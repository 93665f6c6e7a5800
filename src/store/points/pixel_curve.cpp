// SPDX-License-Identifier: Apache-2.0
#include "store/points/pixel_curve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ponk::store {

unsigned column_shift(const PixelWindow& window)
{
    // As a number without sign: the difference of any two steps.
    const auto length =
        static_cast<std::uint64_t>(window.to) - static_cast<std::uint64_t>(window.from);
    // A window may begin and end inside of one.
    const std::uint64_t most = window.width > 2 ? window.width - 2 : 0;
    unsigned shift = 0;
    while (shift < 63 && length >> shift > most)
        ++shift;
    return shift;
}

PixelCurve::PixelCurve(const PixelWindow& window, double weight, std::uint64_t origin)
    : window_(window), weight_(weight), origin_(origin), phase_(origin + sign_bit),
      shift_(column_shift(window))
{
    // Of most columns the four points that are shown.
    rows_.x.reserve(4 * window.width);
    rows_.y.reserve(4 * window.width);
    if (weight_ > 0) rows_.smooth.reserve(4 * window.width);
}

double PixelCurve::smoothed(double y)
{
    if (!std::isfinite(y)) return y;
    sum_ = sum_ * weight_ + (1 - weight_) * y;
    // Far below what one less it could show; numbers near zero are slow, and would never become it.
    bias_ = bias_ < 1e-30 ? 0 : bias_ * weight_;
    return sum_ / (1 - bias_);
}

bool PixelCurve::add(std::int64_t x, double y)
{
    if (x < last_x_) return false;
    last_x_ = x;
    Seen seen{++rows_.count, x, y, 0};
    if (weight_ > 0) seen.smooth = smoothed(y);
    rows_.last = y;
    if (std::isfinite(y)) {
        rows_.lowest = std::min(rows_.lowest, y);
        rows_.highest = std::max(rows_.highest, y);
    } else {
        ++rows_.nonfinite;
    }
    if (x < window_.from) {
        before_ = seen;
    } else if (x <= window_.to) {
        inside(seen);
    } else if (part_ != Part::behind) {
        leave(seen);
    }
    return true;
}

// Whether an end of the window is between its points, so that they must be known.
bool PixelCurve::is_cut(const PointBlock& block) const
{
    const auto first = shown(block.first.x);
    const auto last = shown(block.last.x);
    return (first < window_.from && last >= window_.from) ||
           (first <= window_.to && last > window_.to);
}

bool PixelCurve::add(const BlockSummary& summary)
{
    if (weight_ > 0 || summary.shift > shift_ || summary.blocks.empty() ||
        shown(summary.blocks.front().first.x) < last_x_ ||
        // Times may be so far apart that they are not in order when counted from the origin.
        shown(summary.blocks.back().last.x) < shown(summary.blocks.front().first.x) ||
        std::any_of(summary.blocks.begin(), summary.blocks.end(), [this](const PointBlock& block) {
            return is_cut(block);
        }))
        return false;
    rows_.nonfinite += summary.nonfinite;
    rows_.last = summary.blocks.back().last.y;
    for (const auto& block : summary.blocks) {
        const auto before = rows_.count + 1;
        rows_.count += block.count;
        if (block.low) {
            rows_.lowest = std::min(rows_.lowest, block.low->y);
            rows_.highest = std::max(rows_.highest, block.high->y);
        }
        const Seen last{rows_.count, shown(block.last.x), block.last.y};
        if (last.x < window_.from) {
            before_ = last;
        } else if (last.x <= window_.to) {
            inside(block, before);
        } else if (part_ != Part::behind) {
            leave({before, shown(block.first.x), block.first.y});
        }
    }
    last_x_ = shown(summary.blocks.back().last.x);
    return true;
}

// The column of a point inside the window.
void PixelCurve::enter(std::int64_t x)
{
    if (part_ == Part::before) {
        if (before_.number != 0) keep(before_);
        part_ = Part::inside;
    }
    const auto column = column_of(x);
    if (column == column_) return;
    close_column();
    column_ = column;
}

void PixelCurve::inside(const Seen& seen)
{
    enter(seen.x);
    if (first_.number == 0) first_ = seen;
    last_ = seen;
    if (std::isfinite(seen.y)) {
        if (low_.number == 0 || seen.y < low_.y) low_ = seen;
        if (high_.number == 0 || seen.y > high_.y) high_ = seen;
    } else if (auto& odd = odd_[odd_kind(seen.y)]; odd.number == 0) {
        odd = seen;
        any_odd_ = true;
    }
}

void PixelCurve::inside(const PointBlock& block, std::int64_t before)
{
    const auto seen = [&](const PointBlock::Point& point) {
        return Seen{before + point.at, shown(point.x), point.y};
    };
    const auto first = seen(block.first);
    enter(first.x);
    if (first_.number == 0) first_ = first;
    last_ = seen(block.last);
    if (block.low) {
        if (low_.number == 0 || block.low->y < low_.y) low_ = seen(*block.low);
        if (high_.number == 0 || block.high->y > high_.y) high_ = seen(*block.high);
    }
    for (const auto& point : block.odd) {
        if (auto& odd = odd_[odd_kind(point.y)]; odd.number == 0) {
            odd = seen(point);
            any_odd_ = true;
        }
    }
}

// At the first point behind the window.
void PixelCurve::leave(const Seen& seen)
{
    if (part_ == Part::before && before_.number != 0) keep(before_);
    close_column();
    keep(seen);
    part_ = Part::behind;
}

void PixelCurve::close_column()
{
    if (first_.number == 0) return;
    if (any_odd_) {
        std::array<Seen, 7> all{first_, low_, high_, odd_[0], odd_[1], odd_[2], last_};
        std::sort(all.begin(), all.end(), [](const Seen& left, const Seen& right) {
            return left.number < right.number;
        });
        std::int64_t kept = 0;
        for (const auto& seen : all) {
            if (seen.number != kept) keep(seen);
            kept = seen.number;
        }
        odd_ = {};
        any_odd_ = false;
    } else {
        keep(first_);
        auto kept = first_.number;
        const auto* next = &low_;
        const auto* other = &high_;
        if (other->number < next->number) std::swap(next, other);
        for (const auto* seen : {next, other, static_cast<const Seen*>(&last_)}) {
            if (seen->number <= kept) continue;
            keep(*seen);
            kept = seen->number;
        }
    }
    first_.number = last_.number = low_.number = high_.number = 0;
}

void PixelCurve::keep(const Seen& seen)
{
    rows_.x.push_back(seen.x);
    rows_.y.push_back(seen.y);
    if (weight_ > 0) rows_.smooth.push_back(seen.smooth);
}

PixelRows PixelCurve::finish()
{
    close_column();
    if (part_ == Part::before && before_.number != 0) keep(before_);
    return std::move(rows_);
}

}  // namespace ponk::store
