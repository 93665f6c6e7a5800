// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/diagnostic.hpp"
#include "config/text_places.hpp"
#include "config/yaml_document.hpp"

#include <cstdint>
#include <utility>
#include <vector>

// Mistakes that are seen line by line, before or beside any parser: what a person sees at once and
// a parser reports in its own words, later, or not at all.
namespace ponk::config {

using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// "<<<<<<<", "=======" and ">>>>>>>" of an unresolved merge. True when there are any.
bool report_conflict_markers(const TextPlaces& places, Report& report);

// Of a text that parsed: tabs that indent content (`inner` lines excepted) are errors, as is a
// "..." line with content after it; one at the end is a warning.
void report_odd_lines(const TextPlaces& places, const LineRanges& inner, Report& report);

// Of a text that did not parse: the same, as far as they stand up to the failure. True when one was
// found, which then is the better message.
bool report_cause_by_lines(const TextPlaces& places,
                           const LineRanges& inner,
                           Place failure,
                           Report& report);

// Rewrites the parser's message for the mistakes that real files have.
void explain_syntax(const TextPlaces& places, YamlProblem& problem);

}  // namespace ponk::config
