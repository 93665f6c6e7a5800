// SPDX-License-Identifier: Apache-2.0
#include "query/query_rows.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace ponk::query {
namespace {

constexpr const char* document = R"({
    "i": -7, "r": -2.5, "s": "abc", "e": "h\u00e9llo", "n": [3, 1, 2], "m": [1, 2.5],
    "w": ["b", "a", "\u00e9", "B"], "none": [], "o": {"x": 1, "y": [2]}, "empty": {},
    "p": [{"k": "b", "n": 2}, {"k": "a", "n": 3}, {"k": "c", "n": 2}], "t": true})";

TEST(JmespathFunctions, OnNumbers)
{
    constexpr std::array rows{
        Row{"abs(i)", "7"},
        Row{"abs(r)", "2.5"},
        Row{"abs(`0`)", "0"},
        Row{"abs(`-9223372036854775808`)", "9.223372036854776e+18"},
        Row{"ceil(r)", "-2"},
        Row{"ceil(`1.001`)", "2"},
        Row{"ceil(i)", "-7"},
        Row{"ceil(`1e300`)", "1e+300"},
        Row{"floor(r)", "-3"},
        Row{"floor(`1.999`)", "1"},
        Row{"floor(`9223372036854775807`)", "9223372036854775807"},
        Row{"avg(n)", "2.0"},
        Row{"avg(m)", "1.75"},
        Row{"avg(none)", "null"},
        Row{"sum(n)", "6"},
        Row{"sum(m)", "3.5"},
        Row{"sum(none)", "0"},
        Row{"sum(`[9223372036854775807, 1]`)", "9.223372036854776e+18"},
        Row{"to_number('12')", "12"},
        Row{"to_number('-1.5e3')", "-1500.0"},
        Row{"to_number(i)", "-7"},
        Row{"to_number(' 1')", "null"},
        Row{"to_number('0x1f')", "null"},
        Row{"to_number('1_000')", "null"},
        Row{"to_number('+1')", "null"},
        Row{"to_number('')", "null"},
        Row{"to_number(t)", "null"},
        Row{"to_number(o)", "null"},
        Row{"to_number(missing)", "null"},
    };
    expect_rows(document, rows);
}

TEST(JmespathFunctions, OnStrings)
{
    constexpr std::array rows{
        Row{"contains(s, 'bc')", "true"},
        Row{"contains(s, 'bd')", "false"},
        Row{"contains(s, '')", "true"},
        Row{"contains(s, `1`)", "false"},
        Row{"starts_with(s, 'ab')", "true"},
        Row{"starts_with(s, 'b')", "false"},
        Row{"ends_with(s, 'bc')", "true"},
        Row{"ends_with(s, 'abcd')", "false"},
        Row{"join(', ', w)", "\"b, a, \xc3\xa9, B\""},
        Row{"join('', none)", "\"\""},
        Row{"length(s)", "3"},
        Row{"length(e)", "5"},
        Row{"length('')", "0"},
        Row{"reverse(e)", "\"oll\xc3\xa9h\""},
        Row{"reverse('')", "\"\""},
        Row{"to_string(s)", "\"abc\""},
        Row{"to_string(i)", "\"-7\""},
        Row{"to_string(`1.0`)", "\"1.0\""},
        Row{"to_string(t)", "\"true\""},
        Row{"to_string(missing)", "\"null\""},
        Row{"to_string(o)", R"("{\"x\":1,\"y\":[2]}")"},
        Row{"to_string([s, o.x])", R"("[\"abc\",1]")"},
    };
    expect_rows(document, rows);
}

TEST(JmespathFunctions, OnArrays)
{
    constexpr std::array rows{
        Row{"contains(n, `1`)", "true"},
        Row{"contains(n, `1.0`)", "true"},
        Row{"contains(n, `true`)", "false"},
        Row{"contains(n, '1')", "false"},
        Row{"contains(p, `{\"n\": 3, \"k\": \"a\"}`)", "true"},
        Row{"length(n)", "3"},
        Row{"length(none)", "0"},
        Row{"map(&n, p)", "[2,3,2]"},
        Row{"map(&missing, p)", "[null,null,null]"},
        Row{"map(&[@, @], n)", "[[3,3],[1,1],[2,2]]"},
        Row{"map(&n, none)", "[]"},
        Row{"max(n)", "3"},
        Row{"max(m)", "2.5"},
        Row{"max(w)", "\"\xc3\xa9\""},
        Row{"max(none)", "null"},
        Row{"min(n)", "1"},
        Row{"min(w)", "\"B\""},
        Row{"min(none)", "null"},
        Row{"max_by(p, &n).k", "\"a\""},
        Row{"max_by(p, &k).k", "\"c\""},
        Row{"max_by(none, &n)", "null"},
        Row{"min_by(p, &n).k", "\"b\""},
        Row{"min_by(p, &k).k", "\"a\""},
        Row{"reverse(n)", "[2,1,3]"},
        Row{"reverse(none)", "[]"},
        Row{"sort(n)", "[1,2,3]"},
        Row{"sort(m)", "[1,2.5]"},
        Row{"sort(w)", "[\"B\",\"a\",\"b\",\"\xc3\xa9\"]"},
        Row{"sort(none)", "[]"},
        Row{"sort(`[\"\\ud83d\\ude00\", \"\\uffee\"]`)", "[\"\xef\xbf\xae\",\"\xf0\x9f\x98\x80\"]"},
        Row{"sort_by(p, &n)[*].k", R"(["b","c","a"])"},
        Row{"sort_by(p, &k)[*].n", "[3,2,2]"},
        Row{"sort_by(p, &to_string(n))[*].k", R"(["b","c","a"])"},
        Row{"sort_by(none, &n)", "[]"},
        Row{"to_array(n)", "[3,1,2]"},
        Row{"to_array(s)", R"(["abc"])"},
        Row{"to_array(o)", R"([{"x":1,"y":[2]}])"},
        Row{"to_array(missing)", "[null]"},
    };
    expect_rows(document, rows);
}

TEST(JmespathFunctions, OnObjectsAndAnything)
{
    constexpr std::array rows{
        Row{"keys(o)", R"(["x","y"])"},
        Row{"keys(empty)", "[]"},
        Row{"values(o)", "[1,[2]]"},
        Row{"values(empty)", "[]"},
        Row{"length(o)", "2"},
        Row{"merge(o, empty)", R"({"x":1,"y":[2]})"},
        Row{"merge(o, `{\"z\": 3, \"x\": 0}`)", R"({"x":0,"y":[2],"z":3})"},
        Row{"merge(o)", R"({"x":1,"y":[2]})"},
        Row{"merge({a: i}, {b: s}, {a: t})", R"({"a":true,"b":"abc"})"},
        Row{"not_null(missing, none, s)", "[]"},
        Row{"not_null(missing, `null`)", "null"},
        Row{"not_null(i)", "-7"},
        Row{"type(i)", "\"number\""},
        Row{"type(r)", "\"number\""},
        Row{"type(s)", "\"string\""},
        Row{"type(t)", "\"boolean\""},
        Row{"type(n)", "\"array\""},
        Row{"type(o)", "\"object\""},
        Row{"type(missing)", "\"null\""},
        Row{"o.keys(@)", R"(["x","y"])"},
        Row{"p[*].keys(@)[]", R"(["k","n","k","n","k","n"])"},
        Row{"sort(keys(@))[0]", "\"e\""},
        Row{"length (s)", "3"},
    };
    expect_rows(document, rows);
}

TEST(JmespathFunctions, NeverPreferNotANumber)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Json values(JsonArray{nan, 2, nan, 1, 3.5});

    EXPECT_EQ(search("max(@)", values), "3.5");
    EXPECT_EQ(search("min(@)", values), "1");
    EXPECT_EQ(search("sort(@)[:3]", values), "[1,2,3.5]");
    EXPECT_EQ(search("[?@ > `0`]", values), "[2,1,3.5]");
}

}  // namespace
}  // namespace ponk::query
