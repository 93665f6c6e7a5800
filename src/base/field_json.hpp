// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fields.hpp"
#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <chrono>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// JSON of values that list their fields. A field with its default value is left out, and one that
// is absent or null keeps its default: so files of earlier versions are read, and a new field costs
// nothing where it is not used. A value of another type is an error that names the field.
namespace ponk {

using TextPairs = std::vector<std::pair<std::string, std::string>>;
using Counts = std::map<std::string, std::int64_t>;
using CountPairs = std::vector<std::pair<std::string, std::int64_t>>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_list = false;
template <HasFields T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value)
{
    names_of(value);
};

template <HasFields T>
Json fields_to_json(const T& value);
template <HasFields T>
Result<> read_fields(const Json& json, T& out, std::string_view within = {});

namespace fields {

template <class T>
Json write(const T& value)
{
    if constexpr (HasFields<T>) {
        return fields_to_json(value);
    } else if constexpr (is_optional<T>) {
        return value ? write(*value) : Json();
    } else if constexpr (NamedEnum<T>) {
        return std::string(names_of(value)[static_cast<std::size_t>(value)]);
    } else if constexpr (std::same_as<T, std::chrono::seconds>) {
        return static_cast<std::int64_t>(value.count());
    } else if constexpr (std::same_as<T, Digest> || std::same_as<T, RunId>) {
        return value.text();
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
        return JsonArray(value.begin(), value.end());
    } else if constexpr (std::same_as<T, TextPairs>) {
        JsonObject out;
        for (const auto& [name, text] : value)
            out.set(name, text);
        return out;
    } else if constexpr (std::same_as<T, Counts> || std::same_as<T, CountPairs>) {
        JsonObject out;
        for (const auto& [name, count] : value)
            out.append(name, count);
        return out;
    } else if constexpr (is_list<T>) {
        JsonArray out;
        for (const auto& each : value)
            out.push_back(write(each));
        return out;
    } else if constexpr (std::same_as<T, Error>) {
        return JsonObject{{"kind", to_string(value.kind())},
                          {"message", value.message()},
                          {"hint", value.hint()}};
    } else {
        static_assert(std::same_as<T, std::string> || std::same_as<T, Json> || std::integral<T> ||
                      std::same_as<T, double>);
        return value;
    }
}

inline tl::unexpected<Error> wrong(std::string_view name, std::string_view what)
{
    return fail(ErrorKind::invalid_argument, "'{}' must be {}", name, what);
}

// As to_json writes numbers: what JSON cannot say is a text.
inline std::optional<double> number_of(const Json& json)
{
    constexpr auto infinite = std::numeric_limits<double>::infinity();
    if (json.is_number()) return json.as_double();
    if (!json.is_string()) return std::nullopt;
    if (json.as_string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (json.as_string() == "Infinity") return infinite;
    if (json.as_string() == "-Infinity") return -infinite;
    return std::nullopt;
}

template <class T>
Result<> read(const Json& json, T& out, const std::string& name)
{
    if constexpr (HasFields<T>) {
        return read_fields(json, out, name);
    } else if constexpr (std::same_as<T, std::optional<Error>>) {
        if (!json.is_object()) return wrong(name, "an error");
        out.emplace(error_kind_from(json.text("kind")), json.text("message"), json.text("hint"));
    } else if constexpr (is_optional<T>) {
        return read(json, out.emplace(), name);
    } else if constexpr (NamedEnum<T>) {
        const auto names = names_of(out);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (json.is_string() && json.as_string() == names[i]) {
                out = static_cast<T>(i);
                return {};
            }
        }
        std::string all;
        for (const auto& each : names)
            all += (all.empty() ? "'" : ", '") + std::string(each) + "'";
        return wrong(name, "one of " + all);
    } else if constexpr (std::same_as<T, std::chrono::seconds>) {
        if (!json.is_integer()) return wrong(name, "a whole number");
        out = std::chrono::seconds(json.as_integer());
    } else if constexpr (std::same_as<T, Digest>) {
        if (!json.is_string() || !parse_digest(json.as_string(), out))
            return wrong(name, "a digest");
    } else if constexpr (std::same_as<T, RunId>) {
        auto id = json.is_string() ? RunId::parse(json.as_string()) : wrong(name, "an id");
        if (!id) return tl::unexpected(id.error());
        out = std::move(*id);
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
        if (!json.is_array()) return wrong(name, "a list of texts");
        out.clear();
        for (const auto& item : json.as_array()) {
            if (!item.is_string()) return wrong(name, "a list of texts");
            out.push_back(item.as_string());
        }
    } else if constexpr (std::same_as<T, TextPairs>) {
        if (!json.is_object()) return wrong(name, "an object of texts");
        out.clear();
        for (const auto& [key, item] : json.as_object()) {
            if (!item.is_string()) return wrong(name + "." + printable(key), "a text");
            out.emplace_back(key, item.as_string());
        }
    } else if constexpr (std::same_as<T, Counts> || std::same_as<T, CountPairs>) {
        if (!json.is_object()) return wrong(name, "an object of whole numbers");
        out.clear();
        for (const auto& [key, item] : json.as_object()) {
            if (!item.is_integer()) return wrong(name + "." + printable(key), "a whole number");
            out.insert(out.end(), {key, item.as_integer()});
        }
    } else if constexpr (is_list<T>) {
        if (!json.is_array()) return wrong(name, "a list");
        out.clear();
        for (const auto& item : json.as_array())
            if (auto done = read(item, out.emplace_back(), name); !done) return done;
    } else if constexpr (std::same_as<T, double>) {
        const auto number = number_of(json);
        if (!number) return wrong(name, "a number");
        out = *number;
    } else if constexpr (std::same_as<T, Json>) {
        out = json;
    } else if constexpr (std::same_as<T, bool>) {
        if (!json.is_bool()) return wrong(name, "true or false");
        out = json.as_bool();
    } else if constexpr (std::integral<T>) {
        if (!json.is_integer() || !std::in_range<T>(json.as_integer()))
            return wrong(name, "a whole number");
        out = static_cast<T>(json.as_integer());
    } else {
        static_assert(std::same_as<T, std::string>);
        if (!json.is_string()) return wrong(name, "a text");
        out = json.as_string();
    }
    return {};
}

}  // namespace fields

// One member of an object, where no list has it.
template <class T>
Result<> read_member(const Json& json, std::string_view name, T& out)
{
    const auto& given = json[name];
    return given.is_null() ? Result<>() : fields::read(given, out, std::string(name));
}

template <HasFields T>
Json fields_to_json(const T& value)
{
    const T usual{};
    JsonObject out;
    const auto add = [&](const auto& each) {
        const auto& member = value.*each.member;
        // A number is a measured value: 0 is one, too.
        constexpr bool measured = std::same_as<std::remove_cvref_t<decltype(member)>, double>;
        if (measured || !(member == usual.*each.member))
            out.append(std::string(each.name), fields::write(member));
    };
    std::apply([&](const auto&... each) { (add(each), ...); }, T::fields());
    return out;
}

// `within`: the name of the object, for errors.
template <HasFields T>
Result<> read_fields(const Json& json, T& out, std::string_view within)
{
    if (!json.is_object()) return fields::wrong(within.empty() ? "it" : within, "an object");
    Result<> done;
    const auto take = [&](const auto& each) {
        const auto& given = json[each.name];
        if (!done || given.is_null()) return;
        const auto name =
            (within.empty() ? "" : std::string(within) + ".") + std::string(each.name);
        done = fields::read(given, out.*each.member, name);
    };
    std::apply([&](const auto&... each) { (take(each), ...); }, T::fields());
    return done;
}

}  // namespace ponk
