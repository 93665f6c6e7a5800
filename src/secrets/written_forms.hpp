// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "secrets/form_graph.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

// How programs write what they print: the ways to write a byte or a character of a text, a
// character of base64, and a byte in hex. docs/design/secrets.md lists them.
namespace ponk::secrets {

// A byte of a text: itself, or escaped as URLs, JSON, Python, C, shells and HTML do. These and the
// other graphs without an owner are made once and kept for ever.
const FormGraph& text_byte(unsigned char byte);

// A character that has several bytes in UTF-8: byte by byte, or by its number.
std::unique_ptr<const FormGraph> text_character(std::string_view utf8, char32_t number);

// A character of base64 of which only some bits are known: `known` of 6, the last ones when the
// bits before are foreign, else the first ones. Both alphabets.
enum class KnownBits { first, last };
const FormGraph& base64_character(unsigned bits, unsigned known, KnownBits which);

// Two hex digits.
const FormGraph& hex_byte(unsigned char byte);

// What may be between two characters of base64: a line break, as it is or escaped, and blanks.
const FormGraph& base64_gap();
// What may be between two bytes in hex: the same, or one of the usual separators.
const FormGraph& hex_gap();

}  // namespace ponk::secrets
