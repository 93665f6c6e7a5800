// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace ponk::db {

class Connection;

// Bytes that are not text.
struct Blob {
    std::string_view bytes;
};

// A prepared statement on loan from its connection, which it must not outlive. Bind all values,
// then step. Texts are bytes: what is not UTF-8 comes back as it was.
class Statement {
public:
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    // Binds to the parameters in order; an error is reported by the next step.
    template <class... Values>
    Statement& bind(const Values&... values)
    {
        (put(values), ...);
        return *this;
    }

    // True when there is a row to look at, false at the end.
    Result<bool> step();
    // For statements without rows: to the end, ready to be bound again.
    Result<> run();
    // Ready to be bound and stepped again.
    void reset();

    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::string bytes(int column) const;
    [[nodiscard]] std::optional<std::int64_t> integer_if_any(int column) const;
    [[nodiscard]] std::optional<std::string> text_if_any(int column) const;

private:
    friend class Connection;
    enum class Owner { cache, itself };
    Statement(Connection* connection, sqlite3_stmt* statement, Owner owner)
        : connection_(connection), statement_(statement), owner_(owner)
    {
    }

    void put(std::nullptr_t);
    void put(std::int64_t value);
    void put(int value) { put(std::int64_t{value}); }
    void put(double value);
    void put(std::string_view value);
    void put(const std::string& value) { put(std::string_view(value)); }
    void put(const char* value) { put(std::string_view(value)); }
    void put(Blob value);
    void put(bool) = delete;  // store 0 or 1, or a word
    template <class T>
    void put(const std::optional<T>& value)
    {
        if (value) return put(*value);
        put(nullptr);
    }
    void note(int code);

    Connection* connection_;
    sqlite3_stmt* statement_;
    Owner owner_;
    int next_ = 1;
    int problem_ = 0;
};

}  // namespace ponk::db
