// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"

#include "api/mlflow/word_characters.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ponk::api::mlflow {

namespace {

constexpr std::string_view alphabet_rule =
    "Names may only contain letters, numbers, underscores (_), dashes (-), periods (.), spaces ( ),"
    " colons (:) and slashes (/)";
constexpr std::string_view path_rule =
    "Names that are a path may not be changed by resolving it: no empty part, no '.', no '..', no "
    "slash at either end";
constexpr std::size_t longest_decimal = 4000;

std::uint32_t decode(std::string_view sequence)
{
    const auto byte = [&](std::size_t at) {
        return std::uint32_t{static_cast<unsigned char>(sequence[at])};
    };
    switch (sequence.size()) {
    case 1:
        return byte(0);
    case 2:
        return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
    case 3:
        return (byte(0) & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
    default:
        return (byte(0) & 0x07U) << 18U | (byte(1) & 0x3fU) << 12U | (byte(2) & 0x3fU) << 6U |
               (byte(3) & 0x3fU);
    }
}

bool has_only_legal_characters(std::string_view key)
{
    constexpr std::string_view signs = "/.-: ";
    while (!key.empty()) {
        const auto length = utf8_sequence(key);
        if (length == 0) return false;
        const bool legal = (length == 1 && signs.find(key[0]) != std::string_view::npos) ||
                           is_word_character(decode(key.substr(0, length)));
        if (!legal) return false;
        key.remove_prefix(length);
    }
    return true;
}

bool is_normal_path(std::string_view key)
{
    if (key.starts_with("..")) return false;
    const auto parts = split(key, '/');
    return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
        return part.empty() || part == "." || part == "..";
    });
}

Result<store::Pairs> pairs_of(const Fields& fields,
                              std::string_view list,
                              Result<std::string> (*value_of)(const Fields&))
{
    store::Pairs pairs;
    for (const auto& entry : TRY(fields.objects(list))) {
        auto key = TRY(key_of(entry, "key", list == "params" ? "Param key" : "key"));
        pairs.emplace_back(std::move(key), TRY(value_of(entry)));
    }
    return pairs;
}

}  // namespace

bool is_key(std::string_view key)
{
    return has_only_legal_characters(key) && is_normal_path(key);
}

Result<std::string> key_of(const Fields& fields, std::string_view name, std::string_view what)
{
    auto key = TRY(fields.text(name));
    if (!has_only_legal_characters(key)) return tl::unexpected(fields.invalid(name, alphabet_rule));
    if (!is_normal_path(key)) return tl::unexpected(fields.invalid(name, path_rule));
    TRY(check_length(what, key, longest_key));
    return key;
}

Result<> check_length(std::string_view what, std::string_view text, std::size_t most)
{
    if (text.size() <= most || utf8_length(text) <= most) return {};
    return fail(ErrorKind::invalid_argument,
                "'{}' exceeds the maximum length of {} characters",
                what,
                most);
}

std::string shortened(std::string text, std::size_t most)
{
    if (text.size() <= most) return text;
    std::size_t at = 0;
    for (std::size_t characters = 0; characters < most && at < text.size(); ++characters)
        at += std::max<std::size_t>(1, utf8_sequence(std::string_view(text).substr(at)));
    text.resize(at);
    return text;
}

Result<std::string> param_value_of(const Fields& fields)
{
    return shortened(TRY(fields.find_text("value")).value_or(""), longest_param);
}

Result<std::string> tag_value_of(const Fields& fields)
{
    return shortened(TRY(fields.find_text("value")).value_or(""), longest_tag);
}

Result<std::string> experiment_tag_value_of(const Fields& fields)
{
    auto value = TRY(fields.find_text("value")).value_or("");
    TRY(check_length("value", value, longest_experiment_tag));
    return value;
}

Result<store::Pairs> params_of(const Fields& fields)
{
    auto params = TRY(pairs_of(fields, "params", param_value_of));
    std::set<std::string_view> seen;
    for (const auto& [key, value] : params) {
        if (seen.insert(key).second) continue;
        return fail(ErrorKind::invalid_argument,
                    "Duplicate parameter keys have been submitted: '{}'",
                    printable(key));
    }
    return params;
}

Result<store::Pairs> tags_of(const Fields& fields)
{
    return pairs_of(fields, "tags", tag_value_of);
}

Error too_many(std::string_view things, std::size_t most, std::size_t found)
{
    return {ErrorKind::invalid_argument,
            fmt::format("A batch logging request can contain at most {} {}. Got {}{}. Please split "
                        "up the request and try again",
                        most,
                        things,
                        found > most_together ? "more than " : "",
                        found > most_together ? most_together : found)};
}

Result<std::int64_t>
parse_experiment_id(const Fields& fields, std::string_view name, std::string_view text)
{
    if (text.empty()) return store::default_experiment;
    const auto digits = text.starts_with('-') ? text.substr(1) : text;
    const bool decimal =
        !digits.empty() && digits.size() <= longest_decimal &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!decimal) return tl::unexpected(fields.invalid(name, "an experiment id is a whole number"));
    const auto id = parse_integer(text);
    if (!id)
        return fail(ErrorKind::not_found, "No Experiment with id={} exists", text.substr(0, 40));
    return *id;
}

Result<std::int64_t> experiment_id(const Fields& fields, std::string_view name)
{
    return parse_experiment_id(fields, name, TRY(fields.text(name)));
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
