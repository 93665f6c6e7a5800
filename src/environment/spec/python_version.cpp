// SPDX-License-Identifier: Apache-2.0
#include "environment/spec/python_version.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::environment {

namespace {

// nullopt unless the text is numbers with dots between.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view version)
{
    std::vector<std::int64_t> numbers;
    for (const auto& part : split(version, '.')) {
        const auto number = parse_integer(part);
        if (!number || *number < 0) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

bool begins_with(const std::vector<std::int64_t>& version, const std::vector<std::int64_t>& start)
{
    return version.size() >= start.size() &&
           std::equal(start.begin(), start.end(), version.begin());
}

int compare(std::vector<std::int64_t> left, std::vector<std::int64_t> right)
{
    const auto size = std::max(left.size(), right.size());
    left.resize(size);
    right.resize(size);
    return left < right ? -1 : left == right ? 0 : 1;
}

// One term such as ">=3.6" or "=3.5.*".
bool fits_term(const std::vector<std::int64_t>& version, std::string_view term)
{
    term = trim(term);
    if (term.empty() || term == "*") return true;
    const auto operator_end = std::min(term.find_first_not_of("=<>!~"), term.size());
    const auto operation = term.substr(0, operator_end);
    auto text = trim(term.substr(operator_end));
    const bool open = text.ends_with(".*") || text.ends_with('*');
    while (!text.empty() && (text.back() == '*' || text.back() == '.'))
        text.remove_suffix(1);
    const auto wanted = numbers_of(text);
    if (!wanted) return false;
    const int order = compare(version, *wanted);
    if (operation.empty() || operation == "=") return begins_with(version, *wanted);
    if (operation == "==") return open ? begins_with(version, *wanted) : order == 0;
    if (operation == "!=") return open ? !begins_with(version, *wanted) : order != 0;
    if (operation == ">=") return order >= 0;
    if (operation == ">") return order > 0;
    if (operation == "<=") return order <= 0;
    if (operation == "<") return order < 0;
    if (operation == "~=" && wanted->size() > 1) {
        const std::vector<std::int64_t> series(wanted->begin(), wanted->end() - 1);
        return order >= 0 && begins_with(version, series);
    }
    return false;
}

}  // namespace

bool fits(std::string_view version, std::string_view constraint)
{
    const auto numbers = numbers_of(version);
    if (!numbers) return false;
    const auto choices = split(constraint, '|');
    return std::any_of(choices.begin(), choices.end(), [&numbers](const std::string& choice) {
        const auto terms = split(choice, ',');
        return std::all_of(terms.begin(), terms.end(), [&numbers](const std::string& term) {
            return fits_term(*numbers, term);
        });
    });
}

int compare_releases(std::string_view left, std::string_view right)
{
    const auto first = numbers_of(left);
    const auto second = numbers_of(right);
    return compare(first.value_or(std::vector<std::int64_t>{}),
                   second.value_or(std::vector<std::int64_t>{}));
}

}  // namespace ponk::environment
