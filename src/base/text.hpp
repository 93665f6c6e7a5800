// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk {

// Length of the UTF-8 sequence at the start of `text`, or 0 when there is none (overlong forms,
// surrogates and values past U+10FFFF are none).
std::size_t utf8_sequence(std::string_view text);
bool is_utf8(std::string_view text);
void append_utf8(std::string& out, std::uint32_t code);
// Number of code points; a byte that is no UTF-8 counts as one.
std::size_t utf8_length(std::string_view text);
// As many of them.
std::string first_characters(std::string text, std::size_t most);
// Columns a terminal needs: wide characters two, combining marks none.
std::size_t display_width(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
// Editors of Windows begin files with a byte order mark: every file that people write may have it.
std::string_view without_byte_order_mark(std::string_view text);
std::string lower(std::string_view text);
bool same_ignoring_case(std::string_view left, std::string_view right);

// Control bytes as \n, \x1b…, marks of writing direction as \u202e…; for messages and terminals.
// Printable UTF-8 stays as it is.
std::string printable(std::string_view text);
// 'it'\''s': one word for a POSIX shell, quoted only when needed.
std::string shell_word(std::string_view text);

// Whole text as a decimal number.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_real(std::string_view text);

// "1.5 GiB"; for people.
std::string byte_size_text(std::uint64_t bytes);

// Edit distance where a swap of neighbours counts as one.
std::size_t edit_distance(std::string_view left, std::string_view right);
// The candidate that was probably meant by `word`, when one is near enough.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

}  // namespace ponk
