// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::importer {

// Walks through one line of JSON without making values of it: a line may hold millions of points.
// After a failure `place` says where it was. The text must outlive it.
class LineCursor {
public:
    explicit LineCursor(std::string_view text) : text_(text) {}

    // The next character that counts; NUL at the end.
    char peek();
    bool take(char wanted);
    Result<> expect(char wanted);
    Result<> expect_end();

    Result<std::string> string();
    Result<std::int64_t> integer();
    Result<double> number();
    // Any value.
    Result<Json> value();
    Result<> skip();

    [[nodiscard]] std::size_t place() const noexcept { return at_; }  // bytes before it

    // For {…} and […]: calls `member` at each value, which it must read.
    template <class Member>
    Result<> each_member(Member member)
    {
        TRY(expect('{'));
        if (take('}')) return {};
        do {
            const auto key = TRY(string());
            TRY(expect(':'));
            TRY(member(key));
        } while (take(','));
        return expect('}');
    }
    template <class Element>
    Result<> each_element(Element element)
    {
        TRY(expect('['));
        if (take(']')) return {};
        do {
            TRY(element());
        } while (take(','));
        return expect(']');
    }

private:
    Result<std::string_view> raw();
    Result<> raw_string();
    Result<std::string_view> token();
    tl::unexpected<Error> wrong(std::string_view what) const;

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace ponk::importer
