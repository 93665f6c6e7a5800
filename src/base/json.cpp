// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace ponk {

namespace {

// So many members are compared one by one, as most objects have no more.
constexpr std::size_t few = 24;

}  // namespace

JsonObject::JsonObject(std::initializer_list<Given> members)
{
    members_.reserve(members.size());
    for (const auto& given : members)
        set(std::move(given.member.first), std::move(given.member.second));
}

// The number of members when there is none of that name.
std::size_t JsonObject::place_of(std::string_view key) const
{
    if (!places_.empty()) {
        return places_
            .find(keyed_hash(key),
                  [this, key](std::size_t place) { return members_[place].first == key; })
            .value_or(members_.size());
    }
    count_work(members_.size());
    std::size_t place = 0;
    while (place < members_.size() && members_[place].first != key)
        ++place;
    return place;
}

void JsonObject::index_from(std::size_t place)
{
    for (; place < members_.size(); ++place)
        places_.add(keyed_hash(members_[place].first), place);
}

const Json* JsonObject::find(std::string_view key) const
{
    const auto place = place_of(key);
    return place < members_.size() ? &members_[place].second : nullptr;
}

Json* JsonObject::find(std::string_view key)
{
    const auto place = place_of(key);
    return place < members_.size() ? &members_[place].second : nullptr;
}

Json& JsonObject::set(std::string key, Json value)
{
    if (auto* present = find(key)) return *present = std::move(value);
    append(std::move(key), std::move(value));
    return members_.back().second;
}

bool JsonObject::erase(std::string_view key)
{
    const auto place = place_of(key);
    if (place == members_.size()) return false;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(place));
    places_.clear();
    if (members_.size() > few) index_from(0);
    return true;
}

void JsonObject::append(std::string key, Json value)
{
    members_.emplace_back(std::move(key), std::move(value));
    if (members_.size() > few) index_from(places_.empty() ? 0 : members_.size() - 1);
}

Json::Json(std::uint64_t value)
{
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        value_ = static_cast<std::int64_t>(value);
    } else {
        value_ = static_cast<double>(value);
    }
}

double Json::as_double() const
{
    if (is_integer()) return static_cast<double>(as_integer());
    return std::get<double>(value_);
}

const Json& Json::operator[](std::string_view key) const
{
    static const Json null;
    if (!is_object()) return null;
    const auto* member = as_object().find(key);
    return member ? *member : null;
}

std::string Json::text(std::string_view key, std::string otherwise) const
{
    const auto& member = (*this)[key];
    return member.is_string() ? member.as_string() : std::move(otherwise);
}

std::int64_t Json::integer(std::string_view key, std::int64_t otherwise) const
{
    const auto& member = (*this)[key];
    return member.is_integer() ? member.as_integer() : otherwise;
}

bool Json::boolean(std::string_view key, bool otherwise) const
{
    const auto& member = (*this)[key];
    return member.is_bool() ? member.as_bool() : otherwise;
}

bool operator==(const Json& left, const Json& right)
{
    if (left.is_number() && right.is_number()) {
        if (left.is_integer() && right.is_integer()) return left.as_integer() == right.as_integer();
        return left.as_double() == right.as_double();
    }
    if (left.type() != right.type()) return false;
    if (!left.is_object()) return left.value_ == right.value_;
    const auto& members = left.as_object();
    const auto& others = right.as_object();
    if (members.size() != others.size()) return false;
    for (const auto& [key, value] : members) {
        const auto* other = others.find(key);
        if (!other || !(value == *other)) return false;
    }
    return true;
}

std::string number_text(double value)
{
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

namespace {

// A text may consist of nothing else, so this is no place for format strings.
void write_escape(std::string& out, unsigned char high, unsigned char low)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const char text[] = {
        '\\', 'u', digits[high >> 4], digits[high & 15], digits[low >> 4], digits[low & 15]};
    out.append(text, sizeof text);
}

void write_string(std::string& out, const std::string& value)
{
    out += '"';
    for (std::size_t at = 0; at < value.size();) {
        const auto byte = static_cast<unsigned char>(value[at]);
        if (byte >= 0x80) {
            const auto length = utf8_sequence(std::string_view(value).substr(at));
            if (length == 0) {
                write_escape(out, 0xdc, byte);
                ++at;
            } else if (byte == 0xc2 && static_cast<unsigned char>(value[at + 1]) < 0xa0) {
                // Control characters that start escape sequences in some terminals.
                write_escape(out, 0, static_cast<unsigned char>(value[at + 1]));
                at += 2;
            } else {
                out.append(value, at, length);
                at += length;
            }
            continue;
        }
        switch (byte) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\b':
            out += "\\b";
            break;
        case '\f':
            out += "\\f";
            break;
        default:
            if (byte < 0x20 || byte == 0x7f) {
                write_escape(out, 0, byte);
            } else {
                out += static_cast<char>(byte);
            }
        }
        ++at;
    }
    out += '"';
}

class Writer {
public:
    Writer(std::string& out, JsonStyle style) : out_(out), pretty_(style == JsonStyle::pretty) {}

    void write(const Json& value)
    {
        switch (value.type()) {
        case Json::Type::null:
            out_ += "null";
            break;
        case Json::Type::boolean:
            out_ += value.as_bool() ? "true" : "false";
            break;
        case Json::Type::integer:
            fmt::format_to(std::back_inserter(out_), "{}", value.as_integer());
            break;
        case Json::Type::real:
            write_real(value.as_double());
            break;
        case Json::Type::string:
            write_string(out_, value.as_string());
            break;
        case Json::Type::array:
            write_array(value.as_array());
            break;
        case Json::Type::object:
            write_object(value.as_object());
            break;
        }
    }

private:
    void write_real(double value)
    {
        if (std::isfinite(value)) {
            out_ += number_text(value);
        } else {
            out_ += '"' + number_text(value) + '"';
        }
    }

    void write_array(const JsonArray& items)
    {
        if (items.empty()) {
            out_ += "[]";
            return;
        }
        open('[');
        bool first = true;
        for (const auto& item : items) {
            separate(first);
            write(item);
        }
        close(']');
    }

    void write_object(const JsonObject& members)
    {
        if (members.empty()) {
            out_ += "{}";
            return;
        }
        open('{');
        bool first = true;
        for (const auto& [key, value] : members) {
            separate(first);
            write_string(out_, key);
            out_ += pretty_ ? ": " : ":";
            write(value);
        }
        close('}');
    }

    void open(char bracket)
    {
        out_ += bracket;
        ++depth_;
    }

    void close(char bracket)
    {
        --depth_;
        new_line();
        out_ += bracket;
    }

    void separate(bool& first)
    {
        if (!first) out_ += ',';
        first = false;
        new_line();
    }

    void new_line()
    {
        if (!pretty_) return;
        out_ += '\n';
        out_.append(depth_ * 2, ' ');
    }

    std::string& out_;
    bool pretty_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string to_json(const Json& value, JsonStyle style)
{
    std::string out;
    Writer(out, style).write(value);
    return out;
}

}  // namespace ponk
