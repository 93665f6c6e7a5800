// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/value.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::query {

class Interpreter;
struct Node;

// What an argument may be; a parameter takes the sum of some of these.
namespace kind {
constexpr unsigned number = 1U << 0U;
constexpr unsigned string = 1U << 1U;
constexpr unsigned boolean = 1U << 2U;
constexpr unsigned array = 1U << 3U;
constexpr unsigned object = 1U << 4U;
constexpr unsigned null = 1U << 5U;
constexpr unsigned numbers = 1U << 6U;  // an array of numbers only
constexpr unsigned strings = 1U << 7U;  // an array of strings only
constexpr unsigned reference = 1U << 8U;
constexpr unsigned any = number | string | boolean | array | object | null;
}  // namespace kind

struct Argument {
    Value value;
    const Node* reference = nullptr;  // the expression behind '&'; then there is no value
};

// One call while it is evaluated: the arguments have the kinds that the function asked for.
struct Call {
    Interpreter& interpreter;
    const Node& node;
    std::vector<Argument> arguments;

    [[nodiscard]] const Value& value(std::size_t i) const { return arguments[i].value; }
};

enum class Arity { exact, at_least };

struct Function {
    std::string_view name;
    Result<Value> (*body)(Call& call);
    std::array<unsigned, 2> parameters;  // with Arity::at_least the first one repeats
    std::size_t count;
    Arity arity = Arity::exact;
};

// Null when there is none of this name.
const Function* find_function(std::string_view name);
// Advice for a name that find_function does not know.
std::string suggest_function(std::string_view name);
// Applies `call.node.function` once the kinds of all arguments are right.
Result<Value> apply_function(Call& call);

}  // namespace ponk::query
