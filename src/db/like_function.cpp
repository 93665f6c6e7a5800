// SPDX-License-Identifier: Apache-2.0
#include "db/like_function.hpp"

#include "base/like.hpp"

#include <sqlite3.h>

#include <memory>

namespace ponk::db {

namespace {

std::string_view text_of(sqlite3_value* value)
{
    const auto* text = ::sqlite3_value_text(value);
    const auto size = static_cast<std::size_t>(::sqlite3_value_bytes(value));
    return text ? std::string_view(reinterpret_cast<const char*>(text), size) : std::string_view();
}

void forget(void* pattern)
{
    delete static_cast<LikePattern*>(pattern);
}

// SQLite keeps the pattern from row to row.
void match(sqlite3_context* context, Letters letters, sqlite3_value** values)
{
    if (::sqlite3_value_type(values[0]) == SQLITE_NULL ||
        ::sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    const auto text = text_of(values[1]);
    if (const auto* known = static_cast<LikePattern*>(::sqlite3_get_auxdata(context, 0)))
        return ::sqlite3_result_int(context, known->matches(text) ? 1 : 0);
    auto pattern = std::make_unique<LikePattern>(text_of(values[0]), letters);
    ::sqlite3_result_int(context, pattern->matches(text) ? 1 : 0);
    ::sqlite3_set_auxdata(context, 0, pattern.release(), &forget);
}

template <Letters letters>
void add(sqlite3* handle, const char* name)
{
    ::sqlite3_create_function_v2(
        handle,
        name,
        2,
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
        nullptr,
        [](sqlite3_context* context, int, sqlite3_value** values) {
            match(context, letters, values);
        },
        nullptr,
        nullptr,
        nullptr);
}

}  // namespace

void add_like_functions(sqlite3* handle)
{
    add<Letters::exact>(handle, "like_exact");
    add<Letters::ascii_folded>(handle, "like_folded");
}

}  // namespace ponk::db
