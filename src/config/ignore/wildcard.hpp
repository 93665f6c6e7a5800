// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// A shell pattern as git understands it in path names: "*" and "?" stop at slashes, "**" between
// slashes spans folders, "[…]" knows ranges, "!" or "^" and POSIX classes, "\" takes the next byte
// as it is. A pattern that is not well formed matches nothing. Matching takes time in proportion to
// pattern times text whatever the pattern is, and mostly to the text alone.
class Wildcard {
public:
    explicit Wildcard(std::string_view pattern);

    [[nodiscard]] bool matches(std::string_view text) const;

    // Bytes that are in each text that it matches: for those who ask many patterns about one text.
    using Bytes = std::bitset<256>;
    [[nodiscard]] const Bytes& needed() const noexcept { return needed_; }
    static Bytes bytes_of(std::string_view text);

private:
    enum class Kind : std::uint8_t {
        literal,        // `byte`
        any,            // one byte, no slash
        one_of,         // one byte of sets_[index], no slash
        run,            // any number of bytes, no slash
        run_of_all,     // any number of bytes
        maybe_folders,  // nothing, or anything up to and with a slash
        never
    };
    struct Token {
        Kind kind;
        unsigned char byte = 0;
        std::size_t index = 0;
    };
    using States = std::vector<char>;

    std::size_t add_stars(std::string_view pattern, std::size_t at);
    std::size_t add_set(std::string_view pattern, std::size_t at);
    void add(Token token);
    [[nodiscard]] bool takes(const Token& token, unsigned char byte) const;
    [[nodiscard]] bool ends_like(std::string_view text) const;
    [[nodiscard]] bool matches_runs(std::string_view text) const;
    [[nodiscard]] bool matches_folders(std::string_view text) const;
    void activate(States& states, std::size_t token) const;
    void step(const States& from, States& to, unsigned char byte) const;

    std::vector<Token> tokens_;
    std::vector<std::bitset<256>> sets_;
    Bytes needed_;
    std::size_t least_ = 0;     // bytes that any text has that it matches
    std::size_t tail_ = 0;      // tokens at the end that take one byte each
    bool has_folders_ = false;  // a token that spans slashes
    bool never_matches_ = false;
};

}  // namespace ponk::config
