// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/key_places.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ponk {

class Json;
using JsonArray = std::vector<Json>;

// Members keep the order in which they were written; `set` replaces an equal key in place. Finding
// one takes the same time however many there are. Whoever iterates may change values, not keys.
class JsonObject {
public:
    using Member = std::pair<std::string, Json>;
    // What a list in braces consists of: unlike a Member it can be moved out of there.
    struct Given;

    JsonObject() = default;
    JsonObject(std::initializer_list<Given> members);

    [[nodiscard]] const Json* find(std::string_view key) const;
    [[nodiscard]] Json* find(std::string_view key);
    Json& set(std::string key, Json value);
    bool erase(std::string_view key);
    // The caller knows that `key` is not there yet.
    void append(std::string key, Json value);

    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept;
    [[nodiscard]] auto begin() const { return members_.begin(); }
    [[nodiscard]] auto end() const { return members_.end(); }
    [[nodiscard]] auto begin() { return members_.begin(); }
    [[nodiscard]] auto end() { return members_.end(); }

private:
    [[nodiscard]] std::size_t place_of(std::string_view key) const;
    void index_from(std::size_t place);

    std::vector<Member> members_;
    KeyPlaces places_;  // of many members; a few are compared one by one
};

// A JSON document in memory. Strings are bytes: what is not UTF-8 travels as the escapes
// \udc80…\udcff (as Python's surrogateescape does), so a file name of any bytes survives a round
// trip.
class Json {
public:
    enum class Type { null, boolean, integer, real, string, array, object };

    Json() = default;
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    Json(int value) : value_(std::int64_t{value}) {}
    Json(unsigned value) : value_(std::int64_t{value}) {}
    Json(std::int64_t value) : value_(value) {}
    Json(std::uint64_t value);
    Json(long long value) : value_(static_cast<std::int64_t>(value)) {}
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(std::string_view value) : value_(std::string(value)) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(JsonArray value) : value_(std::move(value)) {}
    Json(JsonObject value) : value_(std::move(value)) {}

    [[nodiscard]] Type type() const noexcept { return static_cast<Type>(value_.index()); }
    [[nodiscard]] bool is_null() const noexcept { return type() == Type::null; }
    [[nodiscard]] bool is_bool() const noexcept { return type() == Type::boolean; }
    [[nodiscard]] bool is_integer() const noexcept { return type() == Type::integer; }
    [[nodiscard]] bool is_number() const noexcept
    {
        return type() == Type::integer || type() == Type::real;
    }
    [[nodiscard]] bool is_string() const noexcept { return type() == Type::string; }
    [[nodiscard]] bool is_array() const noexcept { return type() == Type::array; }
    [[nodiscard]] bool is_object() const noexcept { return type() == Type::object; }

    // Unchecked access: the caller has looked at type().
    [[nodiscard]] bool as_bool() const { return std::get<bool>(value_); }
    [[nodiscard]] std::int64_t as_integer() const { return std::get<std::int64_t>(value_); }
    [[nodiscard]] double as_double() const;
    [[nodiscard]] const std::string& as_string() const { return std::get<std::string>(value_); }
    [[nodiscard]] const JsonArray& as_array() const { return std::get<JsonArray>(value_); }
    [[nodiscard]] JsonArray& as_array() { return std::get<JsonArray>(value_); }
    [[nodiscard]] const JsonObject& as_object() const { return std::get<JsonObject>(value_); }
    [[nodiscard]] JsonObject& as_object() { return std::get<JsonObject>(value_); }

    // The member `key` of an object; null for anything else. For optional fields.
    [[nodiscard]] const Json& operator[](std::string_view key) const;
    // The member as text or number, or the given default when it is absent or of another type.
    [[nodiscard]] std::string text(std::string_view key, std::string otherwise = {}) const;
    [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise = 0) const;
    [[nodiscard]] bool boolean(std::string_view key, bool otherwise = false) const;

    // Deep equality; 1 equals 1.0, members compare in any order.
    friend bool operator==(const Json& left, const Json& right);

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, JsonArray, JsonObject>
        value_;
};

struct JsonObject::Given {
    Given(std::string key, Json value) : member(std::move(key), std::move(value)) {}
    Given(Member given) : member(std::move(given)) {}

    mutable Member member;
};

// Here, where Json is complete: clang asks for that.
inline std::size_t JsonObject::size() const noexcept
{
    return members_.size();
}
inline bool JsonObject::empty() const noexcept
{
    return members_.empty();
}

struct JsonLimits {
    static constexpr auto any_number = static_cast<std::size_t>(-1);

    std::size_t depth = 64;
    std::size_t bytes = std::size_t{64} << 20;
    // All together, at any depth. One takes 40 bytes or more in memory, and in a text as few as
    // two.
    std::size_t values = 1'000'000;
    // As Python writes them: NaN, Infinity and -Infinity are read as texts that say so.
    bool odd_numbers = false;
};

// Strict JSON (RFC 8259), unless the limits say otherwise. The error names line and column. A
// repeated key keeps its last value.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

enum class JsonStyle { compact, pretty };
// NaN and infinities, which JSON cannot say, become the strings "NaN", "Infinity", "-Infinity".
std::string to_json(const Json& value, JsonStyle style = JsonStyle::compact);
// The shortest text that reads back as the same number; a whole number keeps its ".0".
std::string number_text(double value);

}  // namespace ponk
