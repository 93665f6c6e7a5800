// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// How long names and values may be that a run logs, in characters, not bytes.
namespace ponk::model::limits {

inline constexpr std::size_t key = 250;  // of a metric, a parameter, a tag
// A parameter, a tag or a text that a script logs by itself, or that an import brings.
inline constexpr std::size_t logged_text = 100'000;
// The same by a call of MLflow's.
inline constexpr std::size_t param_value = 6000;
inline constexpr std::size_t tag_value = 8000;
inline constexpr std::size_t experiment_name = 500;
inline constexpr std::size_t experiment_tag_value = 20'000;
inline constexpr std::size_t dataset_name = 500;
inline constexpr std::size_t dataset_digest = 36;
inline constexpr std::size_t dataset_source = 65'535;
inline constexpr std::size_t dataset_schema = 1'048'575;
inline constexpr std::size_t dataset_profile = 16'777'215;
inline constexpr std::size_t input_tag_key = 255;
inline constexpr std::size_t input_tag_value = 500;

}  // namespace ponk::model::limits
