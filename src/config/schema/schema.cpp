// SPDX-License-Identifier: Apache-2.0
#include "config/schema/schema.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace ponk::config {

const Key* Schema::find(std::string_view name) const
{
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

std::optional<bool> boolean_of(const Node& node)
{
    if (!node.is_scalar() || node.is_quoted()) return std::nullopt;
    const auto word = lower(node.text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    return std::nullopt;
}

std::optional<std::int64_t> seconds_of(std::string_view text)
{
    static constexpr std::array<std::pair<char, std::int64_t>, 4> units{
        {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
    std::int64_t factor = 1;
    for (const auto& [unit, seconds] : units) {
        if (!text.ends_with(unit)) continue;
        factor = seconds;
        text.remove_suffix(1);
        break;
    }
    const auto count = parse_integer(trim(text));
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (!count || *count < 0 || *count > most / factor) return std::nullopt;
    return *count * factor;
}

bool is_placeholder(std::string_view text)
{
    text = trim(text);
    if (text.size() > 2 && text.starts_with('<') && text.ends_with('>')) return true;
    return text.starts_with("AzureMlSecret=<") && text.ends_with('>');
}

bool is_access_placeholder(std::string_view text)
{
    text = trim(text);
    if (is_placeholder(text)) return true;
    static constexpr std::array<std::string_view, 14> known{"IP_ADDRESS",
                                                            "IPADDRESS",
                                                            "IP-ADDRESS",
                                                            "USER",
                                                            "USERNAME",
                                                            "USER_NAME",
                                                            "PASSWORD",
                                                            "HOST",
                                                            "HOSTNAME",
                                                            "ADDRESS",
                                                            "FQDN",
                                                            "SSH_USER",
                                                            "xxx",
                                                            "XXX"};
    return std::find(known.begin(), known.end(), text) != known.end();
}

namespace {

Json texts_of(const Node& value)
{
    if (value.is_list()) {
        JsonArray array;
        for (const auto& item : value.items)
            array.push_back(texts_of(item));
        return array;
    }
    if (value.is_map()) {
        JsonObject object;
        for (const auto& member : value.members)
            object.append(member.key, texts_of(member.value));
        return object;
    }
    return value.is_null() ? Json() : Json(value.text);
}

Json value_by(const Key& key, const Node& value)
{
    if (value.is_null()) return {};
    switch (key.kind) {
    case ValueKind::text:
    case ValueKind::duration:
    case ValueKind::text_or_list:
    case ValueKind::text_list:
    case ValueKind::text_map:
    case ValueKind::text_tree:
        return texts_of(value);
    case ValueKind::boolean:
        if (const auto boolean = boolean_of(value)) return *boolean;
        break;
    case ValueKind::section:
        if (value.is_map() && key.section != nullptr) return values_by(*key.section, value);
        break;
    case ValueKind::section_list:
        if (value.is_list() && key.section != nullptr) {
            JsonArray array;
            for (const auto& item : value.items) {
                array.push_back(item.is_map() ? values_by(*key.section, item) : plain_json(item));
            }
            return array;
        }
        break;
    default:
        break;
    }
    return plain_json(value);
}

}  // namespace

Json values_by(const Schema& schema, const Node& map)
{
    if (!map.is_map()) return plain_json(map);
    JsonObject object;
    for (const auto& member : map.members) {
        const Key* key = schema.find(member.key);
        object.append(member.key,
                      key != nullptr ? value_by(*key, member.value) : plain_json(member.value));
    }
    return object;
}

}  // namespace ponk::config
