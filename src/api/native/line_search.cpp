// SPDX-License-Identifier: Apache-2.0
#include "api/native/line_search.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ponk::api {

namespace {

constexpr std::size_t longest_kept = std::size_t{1} << 20;

char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

// Of two-way matching, which is linear.
std::size_t find_in(std::string_view all, std::string_view text, std::size_t from)
{
    const auto* const at = ::memmem(all.data() + from, all.size() - from, text.data(), text.size());
    return at == nullptr ? std::string_view::npos
                         : static_cast<std::size_t>(static_cast<const char*>(at) - all.data());
}

}  // namespace

LineSearch::LineSearch(std::string text, Case letters, const LinePlace& place, std::size_t most)
    : text_(std::move(text)), letters_(letters), most_(most), place_(place)
{
    if (letters_ == Case::folded) std::transform(text_.begin(), text_.end(), text_.begin(), lower);
}

LineSearch::LineSearch(LineExpression expression, const LinePlace& place, std::size_t most)
    : expression_(std::move(expression)), letters_(Case::exact), most_(most), place_(place)
{
}

void LineSearch::feed(std::string_view bytes)
{
    rest_ += bytes;
    if (letters_ == Case::folded) {
        const auto before = static_cast<std::ptrdiff_t>(folded_.size());
        folded_.resize(rest_.size());
        std::transform(bytes.begin(), bytes.end(), folded_.begin() + before, lower);
    }
    if (const auto last = rest_.rfind('\n'); last != std::string::npos) look(last + 1);
    if (rest_.size() - done_ > longest_kept) look(rest_.size());
    rest_.erase(0, done_);
    folded_.erase(0, std::min(done_, folded_.size()));
    done_ = 0;
}

LinePlace LineSearch::finish()
{
    if (done_ < rest_.size()) look(rest_.size());
    return place_;
}

// Up to `end`, which is behind a line or in the midst of one that is long or the last.
void LineSearch::look(std::size_t end)
{
    const auto all = std::string_view(letters_ == Case::folded ? folded_ : rest_).substr(0, end);
    while (!is_full()) {
        if (in_found_ && !pass_line(all)) return;
        if (done_ == end) return;
        const auto at = find(all);
        if (at == std::string_view::npos) return pass(end - unsure(all));
        pass(at);
        found_.push_back(place_);
        in_found_ = true;
        if (!pass_line(all)) return;
    }
}

std::size_t LineSearch::find(std::string_view all) const
{
    return expression_ ? expression_->find(all, done_) : find_in(all, text_, done_);
}

// So many bytes at the end may be the beginning of what is searched for.
std::size_t LineSearch::unsure(std::string_view all) const
{
    if (all.back() == '\n') return 0;
    if (!expression_) return std::min(text_.size() - 1, all.size() - done_);
    // A line without an end may become any line, unless it is too long to be kept.
    const auto newline = all.rfind('\n');
    const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
    const auto part = all.size() - std::max(begin, done_);
    return part > longest_kept ? 0 : part;
}

// The rest of a line that is found; false when it has no end yet.
bool LineSearch::pass_line(std::string_view all)
{
    const auto newline = all.find('\n', done_);
    const bool ended = newline != std::string_view::npos;
    pass(ended ? newline + 1 : all.size());
    return ended;
}

void LineSearch::pass(std::size_t to)
{
    const auto part = std::string_view(rest_).substr(done_, to - done_);
    if (const auto last = part.rfind('\n'); last != std::string_view::npos) {
        place_.line += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
        place_.begin = place_.offset + last + 1;
        in_found_ = false;
    }
    place_.offset += part.size();
    done_ = to;
}

}  // namespace ponk::api
