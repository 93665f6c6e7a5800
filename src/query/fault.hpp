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

// Names class and column, and shows the part of `expression` around the byte `at` with a caret.
Error make_fault(Fault fault,
                 std::string_view expression,
                 std::size_t at,
                 std::string_view what,
                 std::string hint = {});

}  // namespace ponk::query
