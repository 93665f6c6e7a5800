// SPDX-License-Identifier: Apache-2.0
#include "config/text/toml_document.hpp"

#include "base/text.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_UNDEF_MACROS 1
#include <sstream>
#include <toml++/toml.h>

namespace ponk::config {

namespace {

Place place_of(const toml::source_region& source)
{
    return {source.begin.line, source.begin.column};
}

Node node_of(const toml::node& value);

Node map_of(const toml::table& table)
{
    Node node;
    node.type = Node::Type::map;
    for (const auto& [key, value] : table)
        node.members.push_back({std::string(key.str()), place_of(key.source()), node_of(value)});
    return node;
}

Node list_of(const toml::array& array)
{
    Node node;
    node.type = Node::Type::list;
    for (const auto& item : array)
        node.items.push_back(node_of(item));
    return node;
}

Node scalar_of(const toml::node& value)
{
    Node node;
    if (const auto text = value.value_exact<std::string>()) {
        node.style = Node::Style::quoted;
        node.text = *text;
        return node;
    }
    node.style = Node::Style::json_literal;
    std::ostringstream written;
    written << toml::node_view<const toml::node>(value);
    node.text = written.str();
    return node;
}

Node node_of(const toml::node& value)
{
    auto node = value.is_table()   ? map_of(*value.as_table())
                : value.is_array() ? list_of(*value.as_array())
                                   : scalar_of(value);
    node.place = place_of(value.source());
    return node;
}

}  // namespace

std::optional<Node> read_toml_document(std::string_view text, Report& report)
{
    const auto result = toml::parse(text);
    if (result) return node_of(result.table());
    report.error(place_of(result.error().source()),
                 "toml-syntax",
                 printable(std::string(result.error().description())));
    return std::nullopt;
}

}  // namespace ponk::config
