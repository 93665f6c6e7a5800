// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

// Where in a text addresses carry what lets one in. Offsets only: who hides, hashes or collects
// such parts decides what becomes of them.
namespace ponk::environment {

struct TextPart {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const { return begin == end; }
    [[nodiscard]] std::string_view of(std::string_view text) const
    {
        return text.substr(begin, end - begin);
    }
};

// One address inside a text; a part that is not there is empty.
struct Address {
    TextPart user;   // "user:token", without the "@"
    TextPart token;  // of "/t/TOKEN/"
    TextPart query;  // without the "?"
    std::size_t end = 0;
};

// Blanks, quotes and their like: no address goes on behind one.
bool ends_address(char c);

// Finds a word from places that only go forward, and looks at no byte twice: texts come from
// anybody, and a megabyte of "://" is one, too.
class NextOf {
public:
    NextOf(std::string_view text, std::string_view word) : text_(text), word_(word) {}
    // npos when there is none.
    std::size_t from(std::size_t place)
    {
        if (!known_ || found_ < place) found_ = text_.find(word_, place);
        known_ = true;
        return found_;
    }

private:
    std::string_view text_;
    std::string_view word_;
    std::size_t found_ = 0;
    bool known_ = false;
};

// Takes addresses of one text apart, each further on than the last; they may lie in each other.
class AddressReader {
public:
    explicit AddressReader(std::string_view text) : text_(text) {}
    // `colon` is where "://" begins.
    Address at(std::size_t colon);

private:
    std::string_view text_;
    std::size_t end_ = 0;
    NextOf fragment_{text_, "#"};
    NextOf question_{text_, "?"};
    NextOf token_{text_, "/t/"};
    NextOf slash_{text_, "/"};
};

// Query words that say who asks, not what for: signatures of storage services and plain tokens.
bool is_credential(std::string_view query_name);

// "user:password" of "user:password@host:3128", as settings of proxies have it: without a scheme.
// The port may be missing where the line speaks of a proxy.
std::vector<TextPart> logins_without_scheme(std::string_view text);

}  // namespace ponk::environment
