// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ponk::store {

using SqlValue = std::variant<std::int64_t, double, std::string>;

// A piece of a statement with the values for its question marks, in their order. Nothing that came
// from outside is ever part of the text.
class Sql {
public:
    Sql() = default;
    explicit Sql(std::string_view text) : text_(text) {}

    Sql& add(std::string_view text)
    {
        text_ += text;
        return *this;
    }
    Sql& add(const Sql& other);
    // A question mark and its value.
    Sql& value(SqlValue value);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    // `values()[n]` belongs to the n-th question mark.
    [[nodiscard]] const std::vector<SqlValue>& values() const noexcept { return values_; }
    // Ready to be stepped.
    [[nodiscard]] Result<db::Statement> prepare(db::Connection& connection) const;

private:
    std::string text_;
    std::vector<SqlValue> values_;
};

// All of them, in groups: SQLite bounds the depth of an expression, and a long chain is deep.
Sql all_of(const std::vector<Sql>& conditions);

}  // namespace ponk::store
