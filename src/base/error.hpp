// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace ponk {

// What callers branch on. api/ maps each kind to one HTTP status, cli/ to one exit code.
enum class ErrorKind {
    invalid_argument,
    not_found,
    conflict,
    unavailable,
    unreachable,  // nobody answers there, which says nothing about what was asked for
    timeout,
    cancelled,
    damaged,  // stored data that no longer has its checksum or its shape
    internal
};

const char* to_string(ErrorKind kind);
ErrorKind error_kind_from(std::string_view name);

// A failure that a person can act on: what went wrong, where, and the next step. The message
// names things in quotes and has no full stop; the hint is a sentence of advice, or empty.
class Error {
public:
    Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
    Error(ErrorKind kind, std::string message, std::string hint)
        : kind_(kind), message_(std::move(message)), hint_(std::move(hint))
    {
    }

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

    // The same error seen from one level up: "launch run '7f3a': start stub: refused".
    [[nodiscard]] Error within(const std::string& what) const
    {
        return {kind_, what + ": " + message_, hint_};
    }
    [[nodiscard]] Error with_hint(std::string hint) const
    {
        return {kind_, message_, std::move(hint)};
    }
    [[nodiscard]] Error of_kind(ErrorKind kind) const { return {kind, message_, hint_}; }

private:
    ErrorKind kind_;
    std::string message_;
    std::string hint_;
};

template <class T = void>
using Result = tl::expected<T, Error>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error>
fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args)
{
    return tl::unexpected<Error>(Error(kind, fmt::format(format, std::forward<Args>(args)...)));
}

// For map_error: adds what the caller was doing.
template <class... Args>
[[nodiscard]] auto while_doing(fmt::format_string<Args...> format, Args&&... args)
{
    return [what = fmt::format(format, std::forward<Args>(args)...)](const Error& error) {
        return error.within(what);
    };
}

// The error for a failed system call; `errno_value` picks the kind (ENOENT → not_found, …).
[[nodiscard]] Error system_error(int errno_value, const std::string& what);

template <class... Args>
[[nodiscard]] tl::unexpected<Error>
fail_errno(int errno_value, fmt::format_string<Args...> format, Args&&... args)
{
    return tl::unexpected<Error>(
        system_error(errno_value, fmt::format(format, std::forward<Args>(args)...)));
}

namespace detail {

template <class T>
T take(Result<T>&& result)
{
    return std::move(*result);
}
inline void take(Result<void>&& /*result*/) {}

}  // namespace detail
}  // namespace ponk

#define PONK_TRY_JOIN(head, number) head##number
#define PONK_TRY_NAME(number) PONK_TRY_JOIN(try_result_, number)
#define PONK_TRY(result, expression)                                                               \
    __extension__({                                                                                \
        auto result = (expression);                                                                \
        if (!result) return tl::unexpected(std::move(result).error());                             \
        ::ponk::detail::take(std::move(result));                                                   \
    })
// Yields the value, or returns the error from the enclosing function. May stand inside another TRY.
#define TRY(expression) PONK_TRY(PONK_TRY_NAME(__COUNTER__), expression)
