// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/document.hpp"
#include "config/text/text_places.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

struct YamlProblem {
    Place place;
    std::string code;
    std::string message;
    std::string hint;
};

// What the events of the parser tell beyond the tree.
struct YamlRead {
    std::optional<Node> root;  // absent: see problem; an empty document has an empty map
    YamlProblem problem;
    // Lines on which a tab or an ellipsis at the start is content: those after the first line of
    // a quoted or block scalar or of a flow collection, as pairs of first and last.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> inner_lines;
    // An unquoted scalar that goes on over lines, if any.
    std::optional<Place> folded_plain;
};

YamlRead
read_yaml_document(std::string_view text, const TextPlaces& places, const DocumentLimits& limits);

}  // namespace ponk::config
