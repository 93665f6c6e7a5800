// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A configuration text as a tree in which everything knows its place. Nothing here knows what keys
// mean; scalars are text, because only a schema can say whether 3.10 is a number or a version.
namespace ponk::config {

struct Member;

struct Node {
    enum class Type { scalar, list, map };
    // json_literal: true, false, null or a number of a JSON text. block: "|" and ">" of YAML.
    enum class Style { plain, quoted, block, json_literal };

    Type type = Type::scalar;
    Style style = Style::plain;
    std::string text;             // of a scalar
    std::vector<Node> items;      // of a list
    std::vector<Member> members;  // of a map, in the order written
    Place place;                  // of the first character, quotes and brackets included

    [[nodiscard]] bool is_scalar() const noexcept { return type == Type::scalar; }
    [[nodiscard]] bool is_list() const noexcept { return type == Type::list; }
    [[nodiscard]] bool is_map() const noexcept { return type == Type::map; }
    // Nothing, ~ or null, unquoted.
    [[nodiscard]] bool is_null() const;
    [[nodiscard]] bool is_quoted() const noexcept
    {
        return style == Style::quoted || style == Style::block;
    }
    [[nodiscard]] const Node* find(std::string_view key) const;
};

struct Member {
    std::string key;
    Place place;  // of the key
    Node value;
};

// "text", "a list", …; for messages.
std::string type_name(const Node& node);
// The scalar as YAML 1.2's core schema resolves it; lists and maps as such.
Json plain_json(const Node& node);

struct DocumentLimits {
    std::size_t bytes = std::size_t{1} << 20;
    std::size_t depth = 64;
    std::size_t aliases = 100;
    std::size_t nodes = 100'000;  // after aliases are replaced by what they stand for
};

// Reads YAML 1.2 or JSON. A text that begins with "{" is read as strict JSON; YAML's flow style is
// taken only where every difference is one that JSON readers merely do not know (comments, bare
// words), so that `true.` or a missing comma is reported and never folded into a neighbour.
// Without a root the errors are in `report`. An empty text is an empty map.
std::optional<Node>
read_document(std::string_view text, Report& report, const DocumentLimits& limits = {});

}  // namespace ponk::config
