// SPDX-License-Identifier: Apache-2.0
#include "mlflow/fields.hpp"

#include "base/text.hpp"
#include "mlflow/lone_surrogates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace ponk::mlflow {

namespace {

// No call of MLflow's needs a tenth of that: 1,000 points have 5,000 values.
constexpr JsonLimits as_python_writes{.values = 250'000, .odd_numbers = true};
constexpr std::size_t most_json = 200;  // of an offending value that an error repeats
// Behind what is said of a whole field; clients' tests compare it.
constexpr std::string_view closing =
    " See the API docs for more information about request parameters.";

// As Python calls it.
std::string_view type_name(const Json& value)
{
    if (value.is_string()) return "str";
    if (value.is_bool()) return "bool";
    if (value.is_integer()) return "int";
    if (value.is_number()) return "float";
    if (value.is_array()) return "list";
    return value.is_object() ? "dict" : "NoneType";
}

Json object_of(const std::vector<std::pair<std::string, std::string>>& query)
{
    JsonObject object;
    for (const auto& [name, value] : query) {
        auto* known = object.find(name);
        if (!known) {
            object.append(name, value);
        } else if (known->is_array()) {
            known->as_array().emplace_back(value);
        } else {
            *known = JsonArray{*known, value};
        }
    }
    return object;
}

Result<Json> read_json(const std::string& text)
{
    if (has_lone_surrogate(text))
        return fail(ErrorKind::invalid_argument, "it has half of a surrogate pair");
    return parse_json(text, as_python_writes);
}

// Very old clients send a text that holds the object. MLflow's server takes what it cannot read for
// an empty object, and makes a run in some other experiment than the one that was named in it.
Result<Json> object_of(const std::string& body)
{
    if (trim(body).empty()) return Json(JsonObject());
    auto json = read_json(body);
    if (json && json->is_string() && !trim(json->as_string()).empty())
        json = read_json(json->as_string());
    if (!json)
        return fail(ErrorKind::invalid_argument,
                    "The body of the request is not JSON: {}",
                    json.error().message());
    if (!json->is_object()) return Json(JsonObject());
    return json;
}

// A whole number in any of the forms that clients send.
std::optional<std::int64_t> whole(const Json& value)
{
    if (value.is_integer()) return value.as_integer();
    if (value.is_string()) {
        const auto text = trim(value.as_string());
        if (const auto integer = parse_integer(text)) return integer;
        const auto real = parse_real(text);
        return real ? whole(Json(*real)) : std::nullopt;
    }
    if (!value.is_number()) return std::nullopt;
    const auto real = value.as_double();
    // Both bounds are out: a whole number that comes as a real was too large for an integer, and
    // may have been rounded to them.
    if (!(real > -0x1p63 && real < 0x1p63) || std::trunc(real) != real) return std::nullopt;
    return static_cast<std::int64_t>(real);
}

std::optional<double> real(const Json& value)
{
    if (value.is_number()) return value.as_double();
    if (!value.is_string()) return std::nullopt;
    const auto text = lower(trim(value.as_string()));
    const bool negative = text.starts_with('-');
    const std::string_view bare =
        std::string_view(text).substr(negative || text.starts_with('+') ? 1 : 0);
    if (bare == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (bare == "infinity" || bare == "inf") {
        const auto infinity = std::numeric_limits<double>::infinity();
        return negative ? -infinity : infinity;
    }
    return parse_real(text);
}

std::optional<bool> truth(const Json& value)
{
    if (value.is_bool()) return value.as_bool();
    if (!value.is_string()) return std::nullopt;
    if (same_ignoring_case(value.as_string(), "true")) return true;
    if (same_ignoring_case(value.as_string(), "false")) return false;
    return std::nullopt;
}

template <class T>
Result<std::optional<T>> read(const Fields& fields,
                              const Json* value,
                              std::string_view name,
                              std::optional<T> (*parse)(const Json&))
{
    if (!value) return std::optional<T>();
    auto parsed = parse(*value);
    if (!parsed) return tl::unexpected(fields.invalid(name));
    return parsed;
}

template <class T>
Result<T> present(const Fields& fields, std::string_view name, Result<std::optional<T>> found)
{
    auto value = TRY(std::move(found));
    if (!value) return tl::unexpected(fields.missing(name));
    return std::move(*value);
}

std::optional<std::string> plain_text(const Json& value)
{
    if (!value.is_string()) return std::nullopt;
    return value.as_string();
}

}  // namespace

Result<Fields> Fields::of(const net::Request& request)
{
    if (request.method == "GET" || request.method == "HEAD")
        return Fields(object_of(request.query));
    const auto type = lower(trim(split(request.header("Content-Type"), ';').front()));
    if (request.method != "DELETE" && type != "application/json") {
        return fail(ErrorKind::invalid_argument,
                    "Bad Request. Content-Type must be 'application/json', not '{}'",
                    printable(type));
    }
    return Fields(TRY(object_of(request.body)));
}

const Json* Fields::find(std::string_view name) const
{
    const auto* value = object_.is_object() ? object_.as_object().find(name) : nullptr;
    return value && !value->is_null() ? value : nullptr;
}

std::string Fields::named(std::string_view name) const
{
    return place_ + std::string(name);
}

Error Fields::missing(std::string_view name) const
{
    return {ErrorKind::invalid_argument,
            fmt::format("Missing value for required parameter '{}'.{}",
                        named(name),
                        place_.empty() ? closing : "")};
}

Error Fields::invalid(std::string_view name, std::string_view why) const
{
    const auto* value = find(name);
    auto shown = to_json(value ? *value : Json());
    if (shown.size() > most_json) shown = shown.substr(0, most_json) + "…";
    const auto hint = place_.empty() ? fmt::format(":  Hint: Value was of type '{}'.{}",
                                                   type_name(value ? *value : Json()),
                                                   closing)
                                     : std::string(".");
    return {ErrorKind::invalid_argument,
            fmt::format("Invalid value {} for parameter '{}' supplied{}",
                        shown,
                        named(name),
                        why.empty() ? hint : fmt::format(": {}", why))};
}

Result<std::optional<std::string>> Fields::find_text(std::string_view name) const
{
    return read<std::string>(*this, find(name), name, plain_text);
}

Result<std::string> Fields::text(std::string_view name) const
{
    auto found = TRY(present(*this, name, find_text(name)));
    // An empty text is what a field that was not set looks like.
    if (found.empty()) return tl::unexpected(missing(name));
    return found;
}

Result<std::optional<std::int64_t>> Fields::find_integer(std::string_view name) const
{
    return read<std::int64_t>(*this, find(name), name, whole);
}

Result<std::int64_t> Fields::integer(std::string_view name) const
{
    return present(*this, name, find_integer(name));
}

Result<std::optional<double>> Fields::find_number(std::string_view name) const
{
    return read<double>(*this, find(name), name, real);
}

Result<double> Fields::number(std::string_view name) const
{
    return present(*this, name, find_number(name));
}

Result<std::optional<bool>> Fields::find_flag(std::string_view name) const
{
    return read<bool>(*this, find(name), name, truth);
}

Result<std::optional<std::string>>
Fields::find_name(std::string_view name, const std::vector<std::string_view>& names) const
{
    const auto* value = find(name);
    if (!value) return std::optional<std::string>();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool by_name = value->is_string() && value->as_string() == names[i];
        if (by_name || whole(*value) == static_cast<std::int64_t>(i + 1))
            return std::optional(std::string(names[i]));
    }
    return tl::unexpected(invalid(name));
}

Result<std::vector<std::string>> Fields::texts(std::string_view name) const
{
    std::vector<std::string> all;
    const auto* value = find(name);
    if (!value) return all;
    if (value->is_string()) return std::vector{value->as_string()};
    if (!value->is_array()) return tl::unexpected(invalid(name));
    for (const auto& entry : value->as_array()) {
        if (!entry.is_string()) return tl::unexpected(invalid(name));
        all.push_back(entry.as_string());
    }
    return all;
}

Result<std::vector<Fields>> Fields::objects(std::string_view name) const
{
    std::vector<Fields> all;
    const auto* value = find(name);
    if (!value) return all;
    if (!value->is_array()) return tl::unexpected(invalid(name));
    for (const auto& entry : value->as_array()) {
        if (!entry.is_object()) return tl::unexpected(invalid(name));
        all.emplace_back(entry, fmt::format("{}[{}].", named(name), all.size()));
    }
    return all;
}

Result<std::optional<Fields>> Fields::find_object(std::string_view name) const
{
    const auto* value = find(name);
    if (!value) return std::optional<Fields>();
    if (!value->is_object()) return tl::unexpected(invalid(name));
    return std::optional(Fields(*value, named(name) + "."));
}

Result<Fields> Fields::object(std::string_view name) const
{
    auto object = TRY(find_object(name));
    if (!object) return tl::unexpected(missing(name));
    return std::move(*object);
}

Result<std::string> Fields::run_id() const
{
    return has("run_id") || !has("run_uuid") ? text("run_id") : text("run_uuid");
}

}  // namespace ponk::mlflow
