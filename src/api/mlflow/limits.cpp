// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

constexpr std::size_t longest_decimal = 4000;

}  // namespace

Result<std::string> experiment_tag_value_of(const Fields& fields)
{
    auto value = TRY(fields.find_text("value")).value_or("");
    TRY(check_length("value", value, limits::experiment_tag_value));
    return value;
}

Result<std::int64_t> parse_experiment_id(std::string_view text)
{
    if (text.empty()) return store::default_experiment;
    const auto digits = text.starts_with('-') ? text.substr(1) : text;
    const bool decimal =
        !digits.empty() && digits.size() <= longest_decimal &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!decimal)
        return fail(ErrorKind::invalid_argument,
                    "Invalid experiment ID '{}'. Experiment ID must be a valid integer.",
                    printable(text.substr(0, 80)));
    const auto id = parse_integer(text);
    if (!id)
        return fail(ErrorKind::not_found, "No Experiment with id={} exists", text.substr(0, 40));
    return *id;
}

Result<std::int64_t> experiment_id(const Fields& fields, std::string_view name)
{
    return parse_experiment_id(TRY(fields.text(name)));
}

std::optional<std::string> unless_empty(std::optional<std::string> text)
{
    return text && text->empty() ? std::nullopt : std::move(text);
}

Result<store::Lifecycle> lifecycle_of(const Fields& fields, std::string_view name)
{
    const auto word = TRY(fields.find_name(name, {"ACTIVE_ONLY", "DELETED_ONLY", "ALL"}));
    if (word == "ALL") return store::Lifecycle::all;
    return word == "DELETED_ONLY" ? store::Lifecycle::deleted : store::Lifecycle::active;
}

Result<std::int64_t> page_size_of(const Fields& fields, std::int64_t otherwise, std::int64_t most)
{
    const auto size = TRY(fields.find_integer("max_results")).value_or(otherwise);
    if (size >= 1 && size <= most) return size;
    return fail(ErrorKind::invalid_argument,
                "Invalid value {} for parameter 'max_results' supplied: It must be at least 1 and "
                "at most {}",
                size,
                most);
}

}  // namespace ponk::api::mlflow
