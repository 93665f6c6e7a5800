// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/document.hpp"
#include "config/text/text_places.hpp"

#include <optional>
#include <string_view>

namespace ponk::config {

// Why a text is not JSON. A bare word, a comment or a single quote where a value or a key should
// begin may still be YAML's flow style; anything else is a mistake in either language.
struct JsonProblem {
    Place place;
    std::string code;
    std::string message;
    std::string hint;
    bool may_be_yaml = false;
};

// Strict JSON (RFC 8259) as a positioned tree. Absent when `problem` was set.
std::optional<Node> read_json_document(std::string_view text,
                                       const TextPlaces& places,
                                       const DocumentLimits& limits,
                                       JsonProblem& problem);

}  // namespace ponk::config
