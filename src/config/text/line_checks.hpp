// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/text_places.hpp"
#include "config/text/yaml_document.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Mistakes that are seen line by line, before or beside any parser: what a person sees at once and
// a parser reports in its own words, later, or not at all.
namespace ponk::config {

using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// "<<<<<<<", "=======" and ">>>>>>>" of an unresolved merge. True when there are any.
bool report_conflict_markers(const TextPlaces& places, Report& report);

// "..." lines with content after them, up to `last_line` (`inner` lines excepted), are errors. What
// stands around them is worth checking all the same: returns the text with blanks in their place,
// or nothing when there are none.
std::string without_ellipses(std::string_view text,
                             const TextPlaces& places,
                             const LineRanges& inner,
                             std::size_t last_line,
                             Report& report);

// Of a text that parsed: tabs that indent content (`inner` lines excepted) are errors; a "..." line
// at the end is a warning.
void report_odd_lines(const TextPlaces& places, const LineRanges& inner, Report& report);

// Of a text that did not parse: tabs, up to the failure. True when one was
// found, which then is the better message.
bool report_cause_by_lines(const TextPlaces& places,
                           const LineRanges& inner,
                           Place failure,
                           Report& report);

// Rewrites the parser's message for the mistakes that real files have.
void explain_syntax(const TextPlaces& places, YamlProblem& problem);

}  // namespace ponk::config
