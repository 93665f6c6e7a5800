// SPDX-License-Identifier: Apache-2.0
#include "query/search/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::query::search {
namespace {

Error error_of(std::string_view text)
{
    const auto filter = parse_filter(history_runs, text);
    return filter ? Error(ErrorKind::internal, "no error") : filter.error();
}

// The first line, without the picture of the place.
std::string line(const Error& error)
{
    return error.message().substr(0, error.message().find('\n'));
}

struct Row {
    const char* text;
    const char* line;
    const char* hint;
};

TEST(FilterErrors, NameTheTokenItsColumnAndTheNextStep)
{
    constexpr Row rows[] = {
        {"metrics.m > '1'",
         "filter at column 13: expected a number for 'metrics.m', but found ''1''",
         "Write it without quotes."},
        {"start_time > 'yesterday'",
         "filter at column 14: expected a time for 'start_time', but found ''yesterday''",
         "Write it as '2026-01-31 12:00' in UTC, or in milliseconds since 1970."},
        {"metrics.m > '2026-01-01'",
         "filter at column 13: expected a number for 'metrics.m', but found ''2026-01-01''",
         "Write it in milliseconds since 1970: 1767225600000."},
        {"params.p = Foo",
         "filter at column 12: expected a text in quotes for 'params.p', but found 'Foo'",
         "Write 'Foo'."},
        {"metrics.m == 1",
         "filter at column 11: expected an operator after 'metrics.m' (=, !=, >, >=, <, <=), but "
         "found '=='",
         "Equal is '='."},
        {"metrics.m LIKE '1'",
         "filter at column 11: 'metrics.m' cannot be compared with LIKE",
         "Allowed here: =, !=, >, >=, <, <=."},
        {"metrics.m > 1 OR metrics.m < 0",
         "filter at column 15: expected AND or the end, but found 'OR'",
         "Only AND joins comparisons."},
        {"(metrics.m > 1)",
         "filter at column 1: expected a name, but found '('",
         "Parentheses are not supported: all comparisons must be true."},
        {"NOT metrics.m > 1",
         "filter at column 1: expected a name, but found 'NOT'",
         "Write the opposite comparison instead."},
        {"1 < metrics.m",
         "filter at column 1: expected a name, but found '1'",
         "Write the name on the left side and the value on the right."},
        {"metric5.m > 1", "filter at column 1: runs have no 'metric5'", "Did you mean 'metrics'?"},
        {"wholly.m > 1",
         "filter at column 1: runs have no 'wholly'",
         "Names begin with one of: attributes, metrics, params, tags, datasets."},
        {"attributes.statsu = 'Failed'",
         "filter at column 12: there is no attribute 'statsu' to compare",
         "Did you mean 'status'?"},
        {"accuracy > 0.9",
         "filter at column 1: there is no attribute 'accuracy' to compare",
         "Allowed: run_id, run_name, status, user_id, artifact_uri, start_time, end_time, "
         "script, target, experiment. Values that a script logs are metrics.NAME, params.NAME and "
         "tags.NAME."},
        {"status = 'Complete'",
         "filter at column 10: 'Complete' is not a status",
         "Did you mean 'Completed'?"},
        {"run name = 'x'",
         "filter at column 1: put a name with a space in backticks",
         "Write `run name`."},
        {"metrics.m > 1 -- why",
         "filter at column 15: unexpected '-'",
         "Comments are not allowed here."},
        {"params.p = 'x", "filter at column 12: what begins here is not closed: ' is missing", ""},
        {"run_id IN ('a'; 'b')",
         "filter at column 15: unexpected ';'",
         "One filter has no end mark."},
        {"run_id IN ()", "filter at column 12: expected a text in quotes, but found ')'", ""},
        {"metrics.m >",
         "filter at column 12: expected a number for 'metrics.m', but the text ends",
         ""},
        {"params.p IS 3", "filter at column 13: expected NULL or NOT NULL, but found '3'", ""},
        {"params.\u00e9t\u00e9 = '' AND params.x = 2",
         "filter at column 32: expected a text in quotes for 'params.x', but found '2'",
         "Write '2'."},
    };
    for (const auto& row : rows) {
        const auto error = error_of(row.text);
        EXPECT_EQ(line(error), row.line) << row.text;
        EXPECT_EQ(error.hint(), row.hint) << row.text;
    }
}

TEST(FilterErrors, ShowThePlaceBelowTheText)
{
    EXPECT_EQ(error_of("metrics.m = 'a'").message(),
              "filter at column 13: expected a number for 'metrics.m', but found ''a''\n"
              "  metrics.m = 'a'\n"
              "              ^");
}

TEST(FilterErrors, AZeroByteIsRefusedWhereverItStands)
{
    for (const auto text : {std::string_view("params.p = 'a\0b'", 16),
                            std::string_view("params.`a\0b` = 'a'", 18),
                            std::string_view("metrics.m\0 > 1", 14),
                            std::string_view("\0", 1)})
        EXPECT_EQ(error_of(text).kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace ponk::query::search
