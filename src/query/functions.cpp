// SPDX-License-Identifier: Apache-2.0
#include "query/functions.hpp"

#include "base/text.hpp"
#include "query/function_bodies.hpp"
#include "query/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::query {

namespace {

constexpr std::array functions{
    Function{"abs", body::abs, {kind::number}, 1},
    Function{"avg", body::avg, {kind::numbers}, 1},
    Function{"ceil", body::ceil, {kind::number}, 1},
    Function{"contains", body::contains, {kind::array | kind::string, kind::any}, 2},
    Function{"ends_with", body::ends_with, {kind::string, kind::string}, 2},
    Function{"floor", body::floor, {kind::number}, 1},
    Function{"join", body::join, {kind::string, kind::strings}, 2},
    Function{"keys", body::keys, {kind::object}, 1},
    Function{"length", body::length, {kind::string | kind::array | kind::object}, 1},
    Function{"map", body::map, {kind::reference, kind::array}, 2},
    Function{"max", body::max, {kind::numbers | kind::strings}, 1},
    Function{"max_by", body::max_by, {kind::array, kind::reference}, 2},
    Function{"merge", body::merge, {kind::object}, 1, Arity::at_least},
    Function{"min", body::min, {kind::numbers | kind::strings}, 1},
    Function{"min_by", body::min_by, {kind::array, kind::reference}, 2},
    Function{"not_null", body::not_null, {kind::any}, 1, Arity::at_least},
    Function{"reverse", body::reverse, {kind::array | kind::string}, 1},
    Function{"sort", body::sort, {kind::numbers | kind::strings}, 1},
    Function{"sort_by", body::sort_by, {kind::array, kind::reference}, 2},
    Function{"starts_with", body::starts_with, {kind::string, kind::string}, 2},
    Function{"sum", body::sum, {kind::numbers}, 1},
    Function{"to_array", body::to_array, {kind::any}, 1},
    Function{"to_number", body::to_number, {kind::any}, 1},
    Function{"to_string", body::to_string, {kind::any}, 1},
    Function{"type", body::type, {kind::any}, 1},
    Function{"values", body::values, {kind::object}, 1},
};

// What other languages call some of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> foreign_names{{
    {"average", "avg"},
    {"concat", "join"},
    {"count", "length"},
    {"coalesce", "not_null"},
    {"len", "length"},
    {"mean", "avg"},
    {"order_by", "sort_by"},
    {"size", "length"},
    {"str", "to_string"},
}};

unsigned kind_of(const Argument& argument)
{
    if (argument.reference) return kind::reference;
    switch (argument.value.type()) {
    case Json::Type::null:
        return kind::null;
    case Json::Type::boolean:
        return kind::boolean;
    case Json::Type::integer:
    case Json::Type::real:
        return kind::number;
    case Json::Type::string:
        return kind::string;
    case Json::Type::array:
        return kind::array;
    case Json::Type::object:
        return kind::object;
    }
    return kind::null;
}

std::string describe(unsigned kinds)
{
    constexpr std::array<std::pair<unsigned, const char*>, 9> names{{
        {kind::number, "a number"},
        {kind::string, "a string"},
        {kind::boolean, "a boolean"},
        {kind::array, "an array"},
        {kind::object, "an object"},
        {kind::null, "null"},
        {kind::numbers, "an array of numbers"},
        {kind::strings, "an array of strings"},
        {kind::reference, "an expression with '&' before it"},
    }};
    if (kinds == kind::any) return "a value";
    std::vector<std::string> words;
    for (const auto& [kind, name] : names) {
        if ((kinds & kind) != 0) words.emplace_back(name);
    }
    return join(words, " or ");
}

// Where an array has an element of another kind than `wanted`, if anywhere.
std::optional<std::size_t> stranger(const Value& array, unsigned wanted)
{
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (kind_of({array.item(i)}) != wanted) return i;
    }
    return std::nullopt;
}

Result<> wrong_kind(const Call& call, std::size_t i, unsigned wanted, std::string_view found)
{
    return call.interpreter.fault(Fault::invalid_type,
                                  call.node.children[i],
                                  fmt::format("argument {} of '{}' must be {}, not {}",
                                              i + 1,
                                              call.node.function->name,
                                              describe(wanted),
                                              found));
}

Result<> check_argument(const Call& call, std::size_t i, unsigned wanted)
{
    const auto& argument = call.arguments[i];
    const auto actual = kind_of(argument);
    if ((actual & wanted) != 0) return {};
    const auto of_elements = wanted & (kind::numbers | kind::strings);
    if (actual != kind::array || of_elements == 0) {
        return wrong_kind(call, i, wanted, describe(actual));
    }
    const auto& list = argument.value;
    TRY(call.interpreter.charge(list.size(), call.node));
    if (list.size() == 0) return {};
    // The first element says which of the two it is meant to be.
    auto element = of_elements == kind::strings ? kind::string : kind::number;
    if (of_elements == (kind::numbers | kind::strings) && list.item(0).is_string())
        element = kind::string;
    const auto at = stranger(list, element);
    if (!at) return {};
    const auto found =
        fmt::format("an array whose element {} is {}", *at, describe(kind_of({list.item(*at)})));
    return wrong_kind(call, i, wanted, found);
}

}  // namespace

const Function* find_function(std::string_view name)
{
    const auto* found = std::find_if(functions.begin(), functions.end(), [name](const auto& entry) {
        return entry.name == name;
    });
    return found == functions.end() ? nullptr : found;
}

std::string suggest_function(std::string_view name)
{
    for (const auto& [foreign, ours] : foreign_names) {
        if (same_ignoring_case(foreign, name)) return fmt::format("Did you mean '{}'?", ours);
    }
    std::vector<std::string> names;
    for (const auto& function : functions)
        names.emplace_back(function.name);
    // Names of functions are short; a long word is none of them misspelt.
    if (name.size() < 32) {
        if (const auto near = nearest(name, names)) return fmt::format("Did you mean '{}'?", *near);
    }
    return fmt::format("The functions are {}.", join(names, ", "));
}

Result<Value> apply_function(Call& call)
{
    const auto& function = *call.node.function;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const auto parameter = function.arity == Arity::at_least ? 0 : i;
        TRY(check_argument(call, i, function.parameters[parameter]));
    }
    return function.body(call);
}

}  // namespace ponk::query
