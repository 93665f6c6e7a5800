// SPDX-License-Identifier: Apache-2.0
#include "query/query_rows.hpp"

#include <array>

namespace ponk::query {
namespace {

Error error_of(std::string_view expression, std::string_view document = "{}")
{
    const auto parsed = parse_jmespath(expression);
    if (!parsed) return parsed.error();
    const auto value = parsed->search(*parse_json(document));
    if (value) return {ErrorKind::internal, "no error but " + to_json(*value)};
    return value.error();
}

// The class and the column, without the words.
std::string place(std::string_view expression, std::string_view document = "{}")
{
    const auto message = error_of(expression, document).message();
    return message.substr(0, message.find(':'));
}

TEST(JmespathErrors, SyntaxErrorsNameTheColumn)
{
    constexpr std::array rows{
        Row{"", "syntax at column 1"},           Row{"  ", "syntax at column 3"},
        Row{".a", "syntax at column 1"},         Row{"a.", "syntax at column 3"},
        Row{"a..b", "syntax at column 3"},       Row{"a b", "syntax at column 3"},
        Row{"a.1", "syntax at column 3"},        Row{"a.[", "syntax at column 4"},
        Row{"a[", "syntax at column 3"},         Row{"a[0", "syntax at column 4"},
        Row{"a]", "syntax at column 2"},         Row{"a[b]", "syntax at column 3"},
        Row{"a[0 1]", "syntax at column 5"},     Row{"a[1:2:3:4]", "syntax at column 8"},
        Row{"a[*", "syntax at column 4"},        Row{"a[*]b", "syntax at column 5"},
        Row{"a[?", "syntax at column 4"},        Row{"a[?]", "syntax at column 4"},
        Row{"a[?b", "syntax at column 5"},       Row{"a[?b==]", "syntax at column 7"},
        Row{"[ ]", "syntax at column 3"},        Row{"[a,]", "syntax at column 4"},
        Row{"[,a]", "syntax at column 2"},       Row{"{}", "syntax at column 2"},
        Row{"{a}", "syntax at column 3"},        Row{"{a:}", "syntax at column 4"},
        Row{"{a: b,}", "syntax at column 7"},    Row{"{'a': b}", "syntax at column 2"},
        Row{"{a: b", "syntax at column 6"},      Row{"a{b: c}", "syntax at column 2"},
        Row{"(a", "syntax at column 3"},         Row{"a)", "syntax at column 2"},
        Row{"()", "syntax at column 2"},         Row{"a |", "syntax at column 4"},
        Row{"| a", "syntax at column 1"},        Row{"a ||", "syntax at column 5"},
        Row{"|| a", "syntax at column 1"},       Row{"a &&", "syntax at column 5"},
        Row{"a & b", "syntax at column 3"},      Row{"&a", "syntax at column 1"},
        Row{"a = b", "syntax at column 3"},      Row{"a ==", "syntax at column 5"},
        Row{"!", "syntax at column 2"},          Row{"-1", "syntax at column 1"},
        Row{"5", "syntax at column 1"},          Row{"a-b", "syntax at column 2"},
        Row{"a * b", "syntax at column 3"},      Row{"**", "syntax at column 2"},
        Row{"a$", "syntax at column 2"},         Row{"#", "syntax at column 1"},
        Row{"a.'b'", "syntax at column 3"},      Row{"a.`1`", "syntax at column 3"},
        Row{"a.@", "syntax at column 3"},        Row{"'a", "syntax at column 1"},
        Row{"'a\\'", "syntax at column 1"},      Row{"\"a", "syntax at column 1"},
        Row{"\"a\\", "syntax at column 1"},      Row{"\"\\x\"", "syntax at column 1"},
        Row{"`1", "syntax at column 1"},         Row{"`{\"a\"`", "syntax at column 1"},
        Row{"\"abs\"(a)", "syntax at column 1"}, Row{"@(a)", "syntax at column 2"},
        Row{"abs(a", "syntax at column 6"},      Row{"abs(a,", "syntax at column 7"},
        Row{"abs(a b)", "syntax at column 7"},   Row{"abs(a,)", "syntax at column 7"},
        Row{"abs(,)", "syntax at column 5"},     Row{"a.abs", "no error but null"},
        Row{"\xc3\xa9", "syntax at column 1"},   Row{"'\xc3\xa9' x", "syntax at column 5"},
    };
    for (const auto& row : rows)
        EXPECT_EQ(place(row.expression), row.expected) << row.expression;
}

TEST(JmespathErrors, FunctionsAreCheckedBeforeData)
{
    constexpr std::array rows{
        Row{"nope(@)", "unknown-function at column 1"},
        Row{"a[*].nope(@)", "unknown-function at column 6"},
        Row{"`1` || nope(@)", "unknown-function at column 8"},
        Row{"abs()", "invalid-arity at column 1"},
        Row{"abs(a, b)", "invalid-arity at column 1"},
        Row{"join(',')", "invalid-arity at column 1"},
        Row{"sort_by(@)", "invalid-arity at column 1"},
        Row{"merge()", "invalid-arity at column 1"},
        Row{"not_null()", "invalid-arity at column 1"},
        Row{"a[::0]", "invalid-value at column 2"},
        Row{"a[1:5:0].b", "invalid-value at column 2"},
    };
    for (const auto& row : rows)
        EXPECT_EQ(place(row.expression), row.expected) << row.expression;
}

TEST(JmespathErrors, EveryFunctionRefusesArgumentsOfOtherTypes)
{
    for (const char* expression : {"abs('1')",          "avg(n)",
                                   "avg(`[1, \"2\"]`)", "ceil(s)",
                                   "contains(n, n)",    "contains(o, 'a')",
                                   "ends_with(s, n)",   "ends_with(n, s)",
                                   "floor(`null`)",     "join(n, l)",
                                   "join(s, l)",        "join(s, s)",
                                   "keys(l)",           "keys(s)",
                                   "length(n)",         "length(`true`)",
                                   "length(missing)",   "map(l, l)",
                                   "map(&a, o)",        "max(`[1, \"a\"]`)",
                                   "max(`[true]`)",     "max(o)",
                                   "max_by(l, l)",      "max_by(l, &@.a)",
                                   "max_by(o, &a)",     "merge(o, n)",
                                   "merge(l)",          "min(`[\"a\", 1]`)",
                                   "min_by(l, &a)",     "reverse(n)",
                                   "reverse(o)",        "sort(`[1, \"a\"]`)",
                                   "sort(`[[1]]`)",     "sort(s)",
                                   "sort_by(l, &a)",    "sort_by(`[1, \"a\"]`, &@)",
                                   "sort_by(o, &a)",    "starts_with(s, n)",
                                   "sum(`[\"1\"]`)",    "sum(n)",
                                   "values(l)",         "abs(&a)",
                                   "to_array(&a)",      "type(&a)"}) {
        EXPECT_TRUE(place(expression, R"({"n": 1, "s": "x", "l": [1, 2], "o": {"a": 1}})")
                        .starts_with("invalid-type at column "))
            << expression;
    }
}

TEST(JmespathErrors, ShowTheExpressionWithACaret)
{
    const auto error = error_of("runs[*].lenght(@)");

    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(error.message(),
              "unknown-function at column 9: there is no function 'lenght'\n"
              "  runs[*].lenght(@)\n"
              "          ^");
    EXPECT_EQ(error.hint(), "Did you mean 'length'?");
}

TEST(JmespathErrors, PlaceTheCaretByColumnsOfTheTerminal)
{
    EXPECT_EQ(error_of("'\xe6\x97\xa5\xe6\x9c\xac\n' x").message(),
              "syntax at column 7: expected the end or an operator, but found 'x'\n"
              "  '\xe6\x97\xa5\xe6\x9c\xac\\n' x\n"
              "           ^");
}

TEST(JmespathErrors, ShowOnlyTheNeighbourhoodInALongExpression)
{
    const std::string many(300, 'a');

    const auto message = error_of(many + " x " + many).message();

    EXPECT_EQ(message,
              "syntax at column 302: expected the end or an operator, but found 'x'\n"
              "  ..." +
                  std::string(49, 'a') + " x " + std::string(23, 'a') + "...\n" +
                  std::string(2 + 3 + 50, ' ') + "^");
}

TEST(JmespathErrors, AdviseOnUsualMistakes)
{
    constexpr std::array rows{
        Row{"a[?b = 'c']", "Compare with '=='."},
        Row{"a[?b > 5]", "Write a number as a literal: `5`."},
        Row{"a[?b and c]", "Write '&&' for 'and'."},
        Row{"a[?b OR c]", "Write '||' for 'or'."},
        Row{"a[?b > ]",
            "Put the whole query in single quotes: a shell runs `…` inside double quotes as a "
            "command."},
        Row{"a & b", "'&' is allowed only before an argument of a function; the operator is '&&'."},
        Row{"run-id", "A name with '-' in it needs double quotes."},
        Row{"count(@)", "Did you mean 'length'?"},
        Row{"Sort_By(@, &a)", "Did you mean 'sort_by'?"},
        Row{"max_by(`[{\"a\": 1}, {\"a\": \"NaN\"}]`, &a)",
            "Keep those of one type first: [?type(a) == 'number']."},
        Row{"max_by(`[{}]`, &Accuracy)", "Leave such elements out first: [?Accuracy != `null`]."},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(error_of(row.expression).hint(), row.expected) << row.expression;
    }
    EXPECT_EQ(error_of("frobnicate(@)").hint().substr(0, 27), "The functions are abs, avg,");
}

TEST(JmespathErrors, SayWhichElementIsOfTheWrongType)
{
    EXPECT_EQ(error_of("sum(n)", R"({"n": [1, 2, "3"]})").message(),
              "invalid-type at column 5: argument 1 of 'sum' must be an array of numbers, not an "
              "array whose element 2 is a string\n  sum(n)\n      ^");
    EXPECT_EQ(error_of("max_by(@, &a)", R"([{"a": 1}, {"a": "x"}])").message(),
              "invalid-type at column 11: 'max_by' needs all numbers or all strings from its "
              "expression, but element 1 gives a string\n  max_by(@, &a)\n            ^");
}

}  // namespace
}  // namespace ponk::query
