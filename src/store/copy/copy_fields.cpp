// SPDX-License-Identifier: Apache-2.0
#include "store/copy/copy_fields.hpp"

#include "base/text.hpp"

namespace ponk::store {

Json pairs_json(const Pairs& pairs)
{
    JsonObject object;
    for (const auto& [key, value] : pairs)
        object.set(key, value);
    return object;
}

tl::unexpected<Error> wrong(std::string_view member, std::string_view wanted)
{
    return fail(ErrorKind::invalid_argument, "'{}' is not {}", member, wanted);
}

Result<Pairs> pairs_of(const Json& json, std::string_view member)
{
    Pairs pairs;
    const auto& object = json[member];
    if (object.is_null()) return pairs;
    if (!object.is_object()) return wrong(member, "an object");
    for (const auto& [key, value] : object.as_object()) {
        if (!value.is_string()) return wrong(fmt::format("{}.{}", member, printable(key)), "text");
        pairs.emplace_back(key, value.as_string());
    }
    return pairs;
}

Result<std::string> text_of(const Json& json, std::string_view member)
{
    const auto& value = json[member];
    if (value.is_null()) return std::string();
    if (!value.is_string()) return wrong(member, "text");
    return value.as_string();
}

Result<std::int64_t> integer_of(const Json& json, std::string_view member)
{
    const auto& value = json[member];
    if (value.is_null()) return 0;
    if (!value.is_integer()) return wrong(member, "a whole number");
    return value.as_integer();
}

Result<bool> flag_of(const Json& json, std::string_view member, bool otherwise)
{
    const auto& value = json[member];
    if (value.is_null()) return otherwise;
    if (!value.is_bool()) return wrong(member, "true or false");
    return value.as_bool();
}

Json optional_text(const std::optional<std::string>& text)
{
    return text ? Json(*text) : Json();
}

Result<std::optional<std::string>> optional_text_of(const Json& json, std::string_view member)
{
    if (json[member].is_null()) return std::optional<std::string>();
    return std::optional(TRY(text_of(json, member)));
}

Result<std::vector<std::string>> texts_of(const Json& json, std::string_view member)
{
    std::vector<std::string> texts;
    if (json[member].is_null()) return texts;
    if (!json[member].is_array()) return wrong(member, "a list");
    for (const auto& item : json[member].as_array()) {
        if (!item.is_string()) return wrong(member, "a list of texts");
        texts.push_back(item.as_string());
    }
    return texts;
}

}  // namespace ponk::store
