// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/schema/schema.hpp"

namespace ponk::config {

const Node* SectionReader::find(std::string_view key) const
{
    const Node* value = map_ != nullptr && map_->is_map() ? map_->find(key) : nullptr;
    return value != nullptr && !value->is_null() ? value : nullptr;
}

SectionReader SectionReader::section(std::string_view key) const
{
    return SectionReader(find(key));
}

void SectionReader::read(std::string_view key, Located<std::string>& out) const
{
    const Node* value = find(key);
    if (value != nullptr && value->is_scalar())
        out = {std::string(trim(value->text)), value->place};
}

void SectionReader::read(std::string_view key, Located<bool>& out) const
{
    const Node* value = find(key);
    if (value == nullptr) return;
    if (const auto boolean = boolean_of(*value)) out = {*boolean, value->place};
}

void SectionReader::read(std::string_view key, Located<std::int64_t>& out) const
{
    const Node* value = find(key);
    if (value == nullptr || !value->is_scalar()) return;
    if (const auto integer = parse_integer(value->text)) out = {*integer, value->place};
}

void SectionReader::read_seconds(std::string_view key, Located<std::int64_t>& out) const
{
    const Node* value = find(key);
    if (value == nullptr || !value->is_scalar()) return;
    if (const auto seconds = seconds_of(value->text)) out = {*seconds, value->place};
}

void SectionReader::read(std::string_view key, std::vector<Located<std::string>>& out) const
{
    const Node* value = find(key);
    if (value == nullptr || !value->is_list()) return;
    for (const auto& item : value->items) {
        if (item.is_scalar() && !item.is_null()) out.push_back({item.text, item.place});
    }
}

}  // namespace ponk::config
