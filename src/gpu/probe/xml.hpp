// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::gpu {

// An element of the plain XML that management programs print: no namespaces, no entities of its
// own.
struct XmlElement {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::string text;  // of the element itself, without white space around it
    std::vector<XmlElement> children;

    // The first element at a path below this one ("fb_memory_usage/total"), or null.
    [[nodiscard]] const XmlElement* find(std::string_view path) const;
    // Its text; empty when it is not there.
    [[nodiscard]] std::string text_at(std::string_view path) const;
    [[nodiscard]] std::string attribute(std::string_view key) const;
};

// The root element. Fails with the byte at which the text is not such XML.
Result<XmlElement> parse_xml(std::string_view text);

}  // namespace ponk::gpu
