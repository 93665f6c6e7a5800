// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ponk::cli {

// What a report holds at most: it is one file, which a browser has in memory as a whole.
inline constexpr std::size_t most_report_runs = 100;
inline constexpr std::size_t most_report_metrics = 60;
inline constexpr std::size_t most_report_names = 200;      // of parameters, tags… of a run
inline constexpr std::size_t most_report_text = 2000;      // bytes of one text
inline constexpr std::size_t most_report_packages = 2000;  // of a run
inline constexpr std::size_t most_report_files = 2000;     // that differ between its runs
inline constexpr std::size_t most_curve_bytes = std::size_t{24} << 20;  // of all curves

// What a reader of a report gets of a run: no path of the machine that it was written on, and no
// more than fits. `cut` counts what was left out or shortened.
JsonObject report_fields(const Json& run, std::size_t& cut);

// The same value with short texts and few members.
Json bounded(const Json& value, std::size_t& cut);

// A block of data for the script of the report: JSON that no text in it can end.
std::string report_block(std::string_view name, const Json& data);

// `page`, the report without data, with these blocks in their place.
Result<std::string> report_document(std::string_view page, std::string_view blocks);

}  // namespace ponk::cli
