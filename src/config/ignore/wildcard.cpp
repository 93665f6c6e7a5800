// SPDX-License-Identifier: Apache-2.0
#include "config/ignore/wildcard.hpp"

#include "base/work_count.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ponk::config {

namespace {

using Set = std::bitset<256>;
using Classifier = int (*)(int);

// POSIX classes in the C locale, ASCII only: what git does, whatever the user's locale is.
bool add_class(Set& set, std::string_view name)
{
    static constexpr std::array<std::pair<std::string_view, Classifier>, 12> classes{{
        {"alnum", std::isalnum},
        {"alpha", std::isalpha},
        {"blank", std::isblank},
        {"cntrl", std::iscntrl},
        {"digit", std::isdigit},
        {"graph", std::isgraph},
        {"lower", std::islower},
        {"print", std::isprint},
        {"punct", std::ispunct},
        {"space", std::isspace},
        {"upper", std::isupper},
        {"xdigit", std::isxdigit},
    }};
    const auto* found = std::find_if(
        classes.begin(), classes.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == classes.end()) return false;
    for (int byte = 0; byte < 128; ++byte) {
        if (found->second(byte) != 0) set.set(static_cast<std::size_t>(byte));
    }
    return true;
}

// Reads the inside of "[…]" from `at` (past "[" and the negation) to past "]". Returns npos when
// the set is not well formed.
class SetReader {
public:
    SetReader(std::string_view pattern, std::size_t at) : pattern_(pattern), at_(at) {}

    std::size_t read(Set& set)
    {
        bool first = true;
        for (; first || peek() != ']'; first = false) {
            if (at_ >= pattern_.size()) return std::string_view::npos;
            if (!read_member(set)) return std::string_view::npos;
        }
        return at_ + 1;
    }

private:
    [[nodiscard]] int peek(std::size_t ahead = 0) const
    {
        return at_ + ahead < pattern_.size() ? static_cast<unsigned char>(pattern_[at_ + ahead])
                                             : -1;
    }

    bool read_member(Set& set)
    {
        if (peek() == '-' && previous_ >= 0 && peek(1) >= 0 && peek(1) != ']') {
            return read_range_end(set);
        }
        if (peek() == '[' && peek(1) == ':') {
            const auto handled = read_class(set);
            if (handled != Handled::not_a_class) return handled == Handled::yes;
        }
        if (peek() == '\\' && ++at_ >= pattern_.size()) return false;
        previous_ = peek();
        set.set(static_cast<std::size_t>(previous_));
        ++at_;
        return true;
    }

    bool read_range_end(Set& set)
    {
        ++at_;
        if (peek() == '\\') ++at_;
        const int last = peek();
        if (last < 0) return false;
        for (int byte = previous_; byte <= last; ++byte)
            set.set(static_cast<std::size_t>(byte));
        previous_ = -1;  // "a-c-e" has no second range
        ++at_;
        return true;
    }

    enum class Handled { yes, broken, not_a_class };
    Handled read_class(Set& set)
    {
        const std::size_t start = at_ + 2;
        const std::size_t end = pattern_.find(']', start);
        if (end == std::string_view::npos) return Handled::broken;
        if (end == start || pattern_[end - 1] != ':') return Handled::not_a_class;
        if (!add_class(set, pattern_.substr(start, end - 1 - start))) return Handled::broken;
        previous_ = -1;
        at_ = end + 1;
        return Handled::yes;
    }

    std::string_view pattern_;
    std::size_t at_;
    int previous_ = -1;
};

}  // namespace

Wildcard::Wildcard(std::string_view pattern)
{
    std::size_t at = 0;
    while (at < pattern.size()) {
        const char c = pattern[at];
        if (c == '*') {
            at = add_stars(pattern, at);
        } else if (c == '[') {
            at = add_set(pattern, at);
        } else if (c == '?') {
            add({Kind::any});
            ++at;
        } else if (c == '\\' && at + 1 == pattern.size()) {
            add({Kind::never});
            ++at;
        } else {
            if (c == '\\') ++at;
            add({Kind::literal, static_cast<unsigned char>(pattern[at])});
            ++at;
        }
    }
}

Wildcard::Bytes Wildcard::bytes_of(std::string_view text)
{
    Bytes bytes;
    for (const char c : text)
        bytes.set(static_cast<unsigned char>(c));
    return bytes;
}

void Wildcard::add(Token token)
{
    tokens_.push_back(token);
    switch (token.kind) {
    case Kind::literal:
        needed_.set(token.byte);
        [[fallthrough]];
    case Kind::any:
    case Kind::one_of:
        ++least_;
        ++tail_;
        return;
    case Kind::maybe_folders:
    case Kind::run_of_all:
        has_folders_ = true;
        break;
    case Kind::never:
        never_matches_ = true;
        break;
    case Kind::run:
        break;
    }
    tail_ = 0;
}

// Two stars or more span folders only when they fill the whole space between slashes.
std::size_t Wildcard::add_stars(std::string_view pattern, std::size_t at)
{
    const std::size_t end = std::min(pattern.find_first_not_of('*', at), pattern.size());
    const bool starts_part = at == 0 || pattern[at - 1] == '/';
    const auto rest = pattern.substr(end);
    if (end - at == 1 || !starts_part) {
        add({Kind::run});
        return end;
    }
    if (rest.starts_with('/')) {
        add({Kind::maybe_folders});
        return end + 1;
    }
    add({rest.empty() || rest.starts_with("\\/") ? Kind::run_of_all : Kind::run});
    return end;
}

std::size_t Wildcard::add_set(std::string_view pattern, std::size_t at)
{
    ++at;
    const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
    if (negated) ++at;
    Set set;
    const std::size_t end = SetReader(pattern, at).read(set);
    if (end == std::string_view::npos) {
        add({Kind::never});
        return pattern.size();
    }
    if (negated) set.flip();
    set.reset('/');
    add({Kind::one_of, 0, sets_.size()});
    sets_.push_back(set);
    return end;
}

// A token of one byte.
bool Wildcard::takes(const Token& token, unsigned char byte) const
{
    switch (token.kind) {
    case Kind::literal:
        return token.byte == byte;
    case Kind::any:
        return byte != '/';
    case Kind::one_of:
        return sets_[token.index].test(byte);
    default:
        return false;
    }
}

// Most patterns are told from most texts by their ends.
bool Wildcard::ends_like(std::string_view text) const
{
    for (std::size_t i = 1; i <= tail_; ++i) {
        count_work();
        if (!takes(tokens_[tokens_.size() - i], static_cast<unsigned char>(text[text.size() - i])))
            return false;
    }
    return true;
}

// Where a star is followed by a part that fits at several places, the first of them will do: a
// later star takes what lies between. So only the last star is ever tried again.
bool Wildcard::matches_runs(std::string_view text) const
{
    constexpr auto none = std::string_view::npos;
    std::size_t token = 0;
    std::size_t at = 0;
    std::size_t star = none;
    std::size_t star_end = 0;  // of what that star takes
    while (at < text.size()) {
        count_work();
        if (token < tokens_.size() && tokens_[token].kind == Kind::run) {
            star = token++;
            star_end = at;
        } else if (token < tokens_.size() &&
                   takes(tokens_[token], static_cast<unsigned char>(text[at]))) {
            ++token;
            ++at;
        } else if (star != none && text[star_end] != '/') {
            at = ++star_end;
            token = star + 1;
        } else {
            return false;
        }
    }
    while (token < tokens_.size() && tokens_[token].kind == Kind::run)
        ++token;
    return token == tokens_.size();
}

// State i: the tokens before i have matched. Tokens that may match nothing pass it on.
void Wildcard::activate(States& states, std::size_t token) const
{
    for (; states[token] != 1; ++token) {
        states[token] = 1;
        if (token == tokens_.size()) return;
        const Kind kind = tokens_[token].kind;
        if (kind != Kind::run && kind != Kind::run_of_all && kind != Kind::maybe_folders) return;
    }
}

void Wildcard::step(const States& from, States& to, unsigned char byte) const
{
    std::fill(to.begin(), to.end(), 0);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
        if (from[i] == 0) continue;
        const Token& token = tokens_[i];
        const bool slash = byte == '/';
        switch (token.kind) {
        case Kind::literal:
            if (token.byte == byte) activate(to, i + 1);
            break;
        case Kind::any:
            if (!slash) activate(to, i + 1);
            break;
        case Kind::one_of:
            if (sets_[token.index].test(byte)) activate(to, i + 1);
            break;
        case Kind::run:
            if (!slash) activate(to, i);
            break;
        case Kind::run_of_all:
            activate(to, i);
            break;
        case Kind::maybe_folders:
            // Inside the folders nothing may follow yet, so the state is kept without passing it
            // on.
            if (to[i] == 0) to[i] = 2;
            if (slash) activate(to, i + 1);
            break;
        case Kind::never:
            break;
        }
    }
}

bool Wildcard::matches(std::string_view text) const
{
    count_work();
    if (never_matches_ || text.size() < least_ || !ends_like(text)) return false;
    return has_folders_ ? matches_folders(text) : matches_runs(text);
}

// Follows all alternatives at once.
bool Wildcard::matches_folders(std::string_view text) const
{
    States now(tokens_.size() + 1, 0);
    States next(tokens_.size() + 1, 0);
    activate(now, 0);
    for (const char c : text) {
        count_work(tokens_.size());
        step(now, next, static_cast<unsigned char>(c));
        std::swap(now, next);
    }
    return now[tokens_.size()] != 0;
}

}  // namespace ponk::config
