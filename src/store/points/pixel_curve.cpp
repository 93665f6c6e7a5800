// SPDX-License-Identifier: Apache-2.0
#include "store/points/pixel_curve.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::store {

namespace {

// As a number without sign: the difference of any two steps.
std::uint64_t distance(std::int64_t from, std::int64_t to)
{
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

// Column i begins at the smallest x with x * width / span >= i, without numbers of 128 bits.
std::vector<std::uint64_t> edges_of(const PixelWindow& window)
{
    const auto width = static_cast<std::uint64_t>(window.width);
    const auto most = distance(window.from, window.to);
    const auto span = most == std::numeric_limits<std::uint64_t>::max() ? most : most + 1;
    std::vector<std::uint64_t> edges;
    edges.reserve(window.width);
    for (std::uint64_t i = 0; i < width; ++i)
        edges.push_back(i * (span / width) + (i * (span % width) + width - 1) / width);
    return edges;
}

std::size_t odd_kind(double y)
{
    return std::isnan(y) ? 0 : y > 0 ? 1 : 2;
}

}  // namespace

PixelCurve::PixelCurve(const PixelWindow& window, double weight)
    : window_(window), weight_(weight), edges_(edges_of(window))
{
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
        if (part_ == Part::before && before_.number != 0) keep(before_);
        close_column();
        keep(seen);
        part_ = Part::behind;
    }
    return true;
}

void PixelCurve::inside(const Seen& seen)
{
    if (part_ == Part::before) {
        if (before_.number != 0) keep(before_);
        part_ = Part::inside;
    }
    const auto place = distance(window_.from, seen.x);
    if (column_ + 1 < edges_.size() && place >= edges_[column_ + 1]) {
        close_column();
        const auto next = std::upper_bound(
            edges_.begin() + static_cast<std::ptrdiff_t>(column_), edges_.end(), place);
        column_ = static_cast<std::size_t>(next - edges_.begin()) - 1;
    }
    if (first_.number == 0) first_ = seen;
    last_ = seen;
    if (std::isfinite(seen.y)) {
        if (low_.number == 0 || seen.y < low_.y) low_ = seen;
        if (high_.number == 0 || seen.y > high_.y) high_ = seen;
    } else if (auto& odd = odd_[odd_kind(seen.y)]; odd.number == 0) {
        odd = seen;
    }
}

void PixelCurve::close_column()
{
    if (first_.number == 0) return;
    std::array<Seen, 7> all{first_, low_, high_, odd_[0], odd_[1], odd_[2], last_};
    std::sort(all.begin(), all.end(), [](const Seen& left, const Seen& right) {
        return left.number < right.number;
    });
    std::int64_t kept = 0;
    for (const auto& seen : all) {
        if (seen.number != kept) keep(seen);
        kept = seen.number;
    }
    first_ = last_ = low_ = high_ = Seen();
    odd_ = {};
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
