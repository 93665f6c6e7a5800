// SPDX-License-Identifier: Apache-2.0
#include "mlflow/names.hpp"

#include "base/text.hpp"
#include "mlflow/word_characters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

namespace ponk::mlflow {

namespace {

constexpr std::string_view alphabet_rule =
    "Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), spaces ( ),"
    " colon(:) and slashes (/).";
constexpr std::string_view path_rule =
    "Names may be treated as files in certain cases, and must not resolve to other names when"
    " treated as such.";

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

}  // namespace

double clamped(double value)
{
    if (!std::isinf(value)) return value;
    constexpr auto largest = std::numeric_limits<double>::max();
    return value > 0 ? largest : -largest;
}

bool is_key(std::string_view key)
{
    return has_only_legal_characters(key) && is_normal_path(key);
}

Result<std::string> key_of(const Fields& fields, std::string_view name, std::string_view what)
{
    auto key = TRY(fields.text(name));
    if (!has_only_legal_characters(key)) return tl::unexpected(fields.invalid(name, alphabet_rule));
    if (!is_normal_path(key)) return tl::unexpected(fields.invalid(name, path_rule));
    TRY(check_length(what, key, limits::key));
    return key;
}

Result<std::string> run_id_of(const Fields& fields)
{
    auto id = TRY(fields.run_id());
    const auto is_plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const bool legal = id.size() <= limits::run_id && !id.empty() && is_plain(id.front()) &&
                       std::all_of(id.begin(), id.end(), [&](char c) {
                           return is_plain(c) || c == '_' || c == '-';
                       });
    if (!legal) return tl::unexpected(fields.invalid("run_id"));
    return id;
}

Result<> check_length(std::string_view what, std::string_view text, std::size_t most)
{
    if (text.size() <= most || utf8_length(text) <= most) return {};
    return fail(ErrorKind::invalid_argument,
                "'{}' exceeds the maximum length of {} characters",
                what,
                most);
}

Result<std::string> logged_model_name_of(const Fields& fields)
{
    auto name = TRY(fields.find_text("name")).value_or("");
    if (name.find_first_of("/:.%\"'") != std::string::npos)
        return fail(ErrorKind::invalid_argument,
                    "Invalid model name ('{}') provided. Model name must be a non-empty string and"
                    " cannot contain the following characters: ('/', ':', '.', '%', '\"', \"'\")",
                    printable(name));
    TRY(check_length("name", name, limits::experiment_name));
    return name;
}

Result<> check_twins(const std::vector<std::pair<std::string, std::string>>& params)
{
    std::set<std::string_view> seen;
    for (const auto& [key, value] : params) {
        if (seen.insert(key).second) continue;
        return fail(ErrorKind::invalid_argument,
                    "Duplicate parameter keys have been submitted: '{}'",
                    printable(key));
    }
    return {};
}

Result<> check_dataset(std::string_view name, std::string_view digest)
{
    TRY(check_length("dataset_name", name, limits::dataset_name));
    TRY(check_length("dataset_digest", digest, limits::dataset_digest));
    if (name.empty() == digest.empty()) return {};
    return fail(ErrorKind::invalid_argument,
                "Both dataset_name and dataset_digest must be provided if one is provided");
}

Error too_many(std::string_view things, std::size_t most, std::size_t found)
{
    return {ErrorKind::invalid_argument,
            fmt::format("A batch logging request can contain at most {} {}. Got {}{}. Please split "
                        "up the request and try again",
                        most,
                        things,
                        found > limits::batch_all ? "more than " : "",
                        std::min(found, limits::batch_all))};
}

Result<> check_batch(std::size_t metrics, std::size_t params, std::size_t tags)
{
    const auto check = [](std::string_view what, std::size_t count, std::size_t most) -> Result<> {
        if (count <= most) return {};
        return tl::unexpected(too_many(what, most, count));
    };
    TRY(check("metrics", metrics, limits::batch_metrics));
    TRY(check("params", params, limits::batch_params));
    TRY(check("tags", tags, limits::batch_tags));
    return check("metrics, params, and tags", metrics + params + tags, limits::batch_all);
}

}  // namespace ponk::mlflow
