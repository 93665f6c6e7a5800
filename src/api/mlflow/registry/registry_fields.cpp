// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/registry/registry_fields.hpp"

#include "api/mlflow/limits.hpp"
#include "base/text.hpp"
#include "query/search/filter.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

constexpr std::size_t longest_model_name = 256;
constexpr std::size_t longest_registry_tag = 100'000;
constexpr std::size_t longest_alias = 255;
constexpr std::string_view stages[] = {"None", "Staging", "Production", "Archived"};

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_version_word(std::string_view alias)
{
    return alias.size() > 1 && (alias[0] == 'v' || alias[0] == 'V') &&
           std::all_of(alias.begin() + 1, alias.end(), is_digit);
}

}  // namespace

Result<std::string> model_name_of(const Fields& fields, std::string_view field)
{
    auto name = TRY(fields.text(field));
    if (trim(name).empty()) return tl::unexpected(fields.missing(field));
    if (name.find_first_of("/:") != std::string::npos)
        return fail(ErrorKind::invalid_argument,
                    "Invalid model name '{}'. Names cannot contain '/' or ':'.",
                    printable(name));
    if (name == "." || name.starts_with(".."))
        return tl::unexpected(fields.invalid(
            field,
            "Names may be treated as files in certain cases, and must not resolve to other names"
            " when treated as such"));
    TRY(check_length("name", name, longest_model_name));
    return name;
}

Result<std::int64_t> version_of(const Fields& fields)
{
    const auto text = TRY(fields.text("version"));
    if (const auto version = parse_integer(trim(text))) return *version;
    return fail(ErrorKind::invalid_argument,
                "Parameter 'version' must be an integer, got '{}'.",
                printable(text));
}

Result<std::string> parse_stage(std::string_view text)
{
    for (const auto stage : stages) {
        if (same_ignoring_case(stage, text)) return std::string(stage);
    }
    return fail(ErrorKind::invalid_argument,
                "Invalid Model Version stage: {}. Value must be one of None, Staging, Production,"
                " Archived.",
                printable(text));
}

Result<std::string> alias_of(const Fields& fields)
{
    auto alias = TRY(fields.text("alias"));
    // Word characters are those of keys, which may hold some signs more.
    if (!is_key(alias) || alias.find_first_of("/.: ") != std::string::npos)
        return fail(ErrorKind::invalid_argument,
                    "Invalid alias name: '{}'. Names may only contain alphanumerics, underscores"
                    " (_), and dashes (-).",
                    printable(alias));
    TRY(check_length("Registered model alias name", alias, longest_alias));
    return alias;
}

Result<std::string> new_alias_of(const Fields& fields)
{
    auto alias = TRY(alias_of(fields));
    if (same_ignoring_case(alias, "latest"))
        return fail(ErrorKind::invalid_argument,
                    "'latest' alias name (case insensitive) is reserved.");
    if (is_version_word(alias))
        return fail(ErrorKind::invalid_argument, "Version alias name '{}' is reserved.", alias);
    return alias;
}

Result<std::string> registry_tag_value_of(const Fields& fields)
{
    auto value = TRY(fields.find_text("value")).value_or("");
    TRY(check_length("value", value, longest_registry_tag));
    return value;
}

Result<store::Pairs> registry_tags_of(const Fields& fields)
{
    store::Pairs tags;
    for (const auto& tag : TRY(fields.objects("tags"))) {
        auto key = TRY(key_of(tag, "key", "key"));
        tags.emplace_back(std::move(key), TRY(registry_tag_value_of(tag)));
    }
    return tags;
}

Result<store::RegistrySearch> registry_search_of(const Fields& fields,
                                                 const query::search::Grammar& grammar,
                                                 std::int64_t otherwise,
                                                 std::int64_t most)
{
    store::RegistrySearch search;
    search.filter =
        TRY(query::search::parse_filter(grammar, TRY(fields.find_text("filter")).value_or("")));
    search.order_by = TRY(query::search::parse_order_by(grammar, TRY(fields.texts("order_by"))));
    search.limit = static_cast<std::size_t>(TRY(page_size_of(fields, otherwise, most)));
    search.page = TRY(fields.find_text("page_token")).value_or("");
    return search;
}

}  // namespace ponk::api::mlflow
