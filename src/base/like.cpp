// SPDX-License-Identifier: Apache-2.0
#include "base/like.hpp"

#include "base/text.hpp"
#include "base/work_count.hpp"

#include <algorithm>

namespace ponk {

namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t longest_character = 4;

char folded(char c, Letters letters)
{
    return letters == Letters::ascii_folded && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

std::size_t character(std::string_view text)
{
    if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
    return std::max<std::size_t>(utf8_sequence(text), 1);
}

void set_bit(std::uint64_t* words, std::size_t bit)
{
    words[bit / word_bits] |= std::uint64_t{1} << bit % word_bits;
}

bool has_bit(const std::uint64_t* words, std::size_t bit)
{
    return (words[bit / word_bits] >> bit % word_bits & 1U) != 0;
}

}  // namespace

LikePattern::LikePattern(std::string_view pattern, Letters letters) : letters_(letters)
{
    const auto plain = std::min(pattern.find_first_of("%_"), pattern.size());
    for (const char c : pattern.substr(0, plain))
        beginning_.push_back(folded(c, letters));
    pattern.remove_prefix(plain);
    elements_ =
        pattern.size() - static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '%'));
    words_ = elements_ / word_bits + 1;
    same_.resize(words_);
    any_.resize(words_);
    repeats_.resize(words_);
    std::size_t element = 0;
    for (const char each : pattern) {
        if (each == '%') {
            set_bit(repeats_.data(), element);
            continue;
        }
        if (each == '_') {
            set_bit(any_.data(), element++);
            continue;
        }
        const char c = folded(each, letters);
        auto& row = row_of_[static_cast<unsigned char>(c)];
        if (row == 0) {
            row = static_cast<std::uint16_t>(same_.size() / words_);
            same_.resize(same_.size() + words_);
        }
        set_bit(same_.data() + row * words_, element++);
    }
    if (letters == Letters::exact) return;
    for (char c = 'A'; c <= 'Z'; ++c)
        row_of_[static_cast<unsigned char>(c)] =
            row_of_[static_cast<unsigned char>(folded(c, letters))];
}

bool LikePattern::matches(std::string_view text) const
{
    if (text.size() < beginning_.size()) return false;
    for (std::size_t i = 0; i < beginning_.size(); ++i) {
        if (folded(text[i], letters_) != beginning_[i]) return false;
    }
    return matches_rest(text.substr(beginning_.size()));
}

// All ways to match at once: a set of numbers of elements, moved on by each byte. A character may
// have several bytes, so what '_' and '%' lead to is kept for the byte behind it.
bool LikePattern::matches_rest(std::string_view text) const
{
    std::array<Word, longest_character> few{};
    Words many(words_ == 1 ? 0 : longest_character * words_);
    auto* const sets = words_ == 1 ? few.data() : many.data();
    const auto set_at = [&](std::size_t at) { return sets + at % longest_character * words_; };
    set_bit(sets, 0);
    const bool open_end = has_bit(repeats_.data(), elements_);
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto* const now = set_at(at);
        if (open_end && has_bit(now, elements_)) return true;
        auto* const behind_byte = set_at(at + 1);
        const auto length = character(text.substr(at));
        // A set is its own behind four bytes: it is emptied while it is read.
        const auto* const same =
            same_.data() + row_of_[static_cast<unsigned char>(text[at])] * words_;
        auto* const behind_character = set_at(at + length);
        Word byte_carry = 0;
        Word character_carry = 0;
        for (std::size_t i = 0; i < words_; ++i) {
            const auto set = now[i];
            now[i] = 0;
            const auto by_byte = set & same[i];
            const auto by_character = set & any_[i];
            behind_byte[i] |= by_byte << 1U | byte_carry;
            behind_character[i] |= by_character << 1U | character_carry | (set & repeats_[i]);
            byte_carry = by_byte >> (word_bits - 1);
            character_carry = by_character >> (word_bits - 1);
        }
        count_work(words_);
    }
    return has_bit(set_at(text.size()), elements_);
}

bool matches_like(std::string_view pattern, std::string_view text, Letters letters)
{
    return LikePattern(pattern, letters).matches(text);
}

}  // namespace ponk
