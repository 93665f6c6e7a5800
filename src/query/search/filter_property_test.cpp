// SPDX-License-Identifier: Apache-2.0
#include "base/like.hpp"
#include "base/text.hpp"
#include "query/search/filter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>

namespace ponk::query::search {
namespace {

// All kinds of characters, but not one of each kind of quote, which no text of the language has.
rc::Gen<std::string> texts(std::string_view alphabet)
{
    return rc::gen::container<std::string>(
        rc::gen::elementOf(std::string(alphabet) + "abZ_.% \t-/;()=<>,\\0é"));
}

rc::Gen<std::string> keys()
{
    return rc::gen::nonEmpty(texts("`'"));
}

// What is compared so where texts and numbers can stand.
bool is_number(Operator op)
{
    if (op == Operator::like || op == Operator::ilike) return false;
    return (op != Operator::equal && op != Operator::not_equal) || *rc::gen::arbitrary<bool>();
}

Comparison make(const Family& family, const Key& key)
{
    Comparison made;
    made.entity = family.entity;
    made.key = family.keys.empty() ? *keys() : std::string(key.name);
    std::vector<Operator> allowed;
    for (unsigned i = 0; i <= static_cast<unsigned>(Operator::is_not_null); ++i) {
        if (has(key.operators, static_cast<Operator>(i)))
            allowed.push_back(static_cast<Operator>(i));
    }
    made.op = *rc::gen::elementOf(allowed);
    if (made.op == Operator::is_null || made.op == Operator::is_not_null) return made;
    const auto quote = *rc::gen::element<std::string>("\"", "'", "`");
    if (made.op == Operator::in || made.op == Operator::not_in) {
        made.value = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(texts(quote)));
    } else if (key.type == ValueType::either ? is_number(made.op) : key.type != ValueType::text) {
        made.value = *rc::gen::suchThat(rc::gen::arbitrary<double>(),
                                        [](double number) { return std::isfinite(number); });
    } else if (!key.values.empty() && made.op != Operator::like && made.op != Operator::ilike) {
        made.value = std::string(*rc::gen::elementOf(
            std::vector<std::string_view>(key.values.begin(), key.values.end())));
    } else {
        made.value = *texts(quote);
    }
    return made;
}

Comparison make_comparison(const Grammar& grammar)
{
    const auto& family =
        grammar.families[*rc::gen::inRange<std::size_t>(0, grammar.families.size())];
    if (family.keys.empty()) return make(family, family.any);
    std::vector<Key> known;
    for (const auto& key : family.keys) {
        if (key.operators != 0) known.push_back(key);
    }
    return make(family, known[*rc::gen::inRange<std::size_t>(0, known.size())]);
}

void expect_holds(const std::function<void()>& property)
{
    EXPECT_TRUE(rc::check(property));
}

TEST(FilterProperties, PrintedFiltersParseToThemselves)
{
    for (const auto* grammar : {&runs,
                                &history_runs,
                                &experiments,
                                &logged_models,
                                &registered_models,
                                &model_versions}) {
        expect_holds([grammar] {
            Filter filter;
            for (int i = *rc::gen::inRange(0, 5); i > 0; --i)
                filter.push_back(make_comparison(*grammar));
            const auto text = to_text(filter);
            const auto parsed = parse_filter(*grammar, text);
            if (!parsed) RC_FAIL(text + ": " + parsed.error().message());
            RC_ASSERT(*parsed == filter);
            RC_ASSERT(to_text(*parsed) == text);
        });
    }
}

TEST(FilterProperties, PrintedOrdersParseToThemselves)
{
    expect_holds([] {
        const OrderKey key{*rc::gen::element(Entity::metric, Entity::param, Entity::tag),
                           *keys(),
                           *rc::gen::element(Direction::ascending, Direction::descending)};
        const auto parsed = parse_order_by(runs, {to_text(key)});
        RC_ASSERT(parsed.has_value());
        RC_ASSERT(parsed->front() == key);
    });
}

TEST(FilterProperties, AnyTextIsParsedOrRefusedWithAColumnInIt)
{
    expect_holds([] {
        constexpr char some[] =
            "metrics.params.run_id status AND IN NOT IS NULL LIKE()=!<>'\"`,;-.1234e\t\n\0é";
        const auto text = *rc::gen::container<std::string>(
            rc::gen::elementOf(std::string(some, sizeof(some) - 1)));
        const auto parsed = parse_filter(runs, text);
        if (parsed) return;
        const auto& message = parsed.error().message();
        RC_ASSERT(message.starts_with("filter at column "));
        const auto column = parse_integer(message.substr(17, message.find(':') - 17));
        RC_ASSERT(column.has_value());
        RC_ASSERT(*column >= 1);
        RC_ASSERT(*column <= static_cast<std::int64_t>(utf8_length(text)) + 1);
    });
}

// The meaning in one line, with exponential time.
bool slowly_like(std::string_view pattern, std::string_view text)
{
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '%')
        return slowly_like(pattern.substr(1), text) ||
               (!text.empty() && slowly_like(pattern, text.substr(1)));
    return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
           slowly_like(pattern.substr(1), text.substr(1));
}

TEST(FilterProperties, LikeMeansWhatItsDefinitionSays)
{
    expect_holds([] {
        const auto some = [](const char* alphabet) {
            return *rc::gen::resize(
                12, rc::gen::container<std::string>(rc::gen::elementOf(std::string(alphabet))));
        };
        const auto pattern = some("ab%_");
        const auto text = some("ab");
        RC_ASSERT(matches_like(pattern, text, Letters::exact) == slowly_like(pattern, text));
    });
}

}  // namespace
}  // namespace ponk::query::search
