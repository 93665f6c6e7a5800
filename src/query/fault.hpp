// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ponk::query {

// The error classes of the specification, and one of ours.
enum class Fault {
    syntax,
    unknown_function,
    invalid_arity,
    invalid_type,
    invalid_value,
    too_much_work
};

// "LABEL at column 3: WHAT", then the part of `text` around the byte `at` with a caret below it.
Error error_at(std::string_view label,
               std::string_view text,
               std::size_t at,
               std::string_view what,
               std::string hint = {});

// Names class and column, and shows the part of `expression` around the byte `at` with a caret.
Error make_fault(Fault fault,
                 std::string_view expression,
                 std::size_t at,
                 std::string_view what,
                 std::string hint = {});

}  // namespace ponk::query
