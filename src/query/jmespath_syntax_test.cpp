// SPDX-License-Identifier: Apache-2.0
#include "query/query_rows.hpp"

#include <array>

namespace ponk::query {
namespace {

TEST(JmespathSyntax, NamesSelectMembers)
{
    constexpr std::array rows{
        Row{"foo", R"({"bar":{"baz":[0,1,2]},"n":null})"},
        Row{"foo.bar", R"({"baz":[0,1,2]})"},
        Row{"foo . bar\n.\tbaz", "[0,1,2]"},
        Row{"foo.n", "null"},
        Row{"foo.missing.more", "null"},
        Row{"foo.bar.baz.not_on_a_list", "null"},
        Row{R"("with space")", "1"},
        Row{R"("with space".x)", "null"},
        Row{R"("quote\"d")", "2"},
        Row{R"("\u00fcmlaut")", "3"},
        Row{"\"\xc3\xbcmlaut\"", "3"},
        Row{"_under_9", "4"},
        Row{R"("and")", "5"},
        Row{"and", "5"},
    };
    expect_rows(R"({"foo": {"bar": {"baz": [0, 1, 2]}, "n": null}, "with space": 1, "quote\"d": 2,
                    "ümlaut": 3, "_under_9": 4, "and": 5})",
                rows);
}

TEST(JmespathSyntax, IndexesCountFromBothEnds)
{
    constexpr std::array rows{
        Row{"a[0]", "\"x\""},
        Row{"a[2]", "[1,2]"},
        Row{"a[-1]", "[1,2]"},
        Row{"a[-3]", "\"x\""},
        Row{"a[3]", "null"},
        Row{"a[-4]", "null"},
        Row{"a[2][1]", "2"},
        Row{"a [ 1 ]", "\"y\""},
        Row{"o[0]", "null"},
        Row{"a[99999999999999999999]", "null"},
        Row{"a[-99999999999999999999]", "null"},
        Row{"a[-9223372036854775808]", "null"},
    };
    expect_rows(R"({"a": ["x", "y", [1, 2]], "o": {"0": 1}})", rows);
    constexpr std::array top{Row{"[0]", "7"}, Row{"[-1]", "9"}, Row{"[5]", "null"}};
    expect_rows("[7, 8, 9]", top);
}

TEST(JmespathSyntax, SlicesStepBothWays)
{
    constexpr std::array rows{
        Row{"n[0:3]", "[0,1,2]"},
        Row{"n[:2]", "[0,1]"},
        Row{"n[4:]", "[4,5]"},
        Row{"n[:]", "[0,1,2,3,4,5]"},
        Row{"n[::]", "[0,1,2,3,4,5]"},
        Row{"n[::2]", "[0,2,4]"},
        Row{"n[1::2]", "[1,3,5]"},
        Row{"n[::-1]", "[5,4,3,2,1,0]"},
        Row{"n[4:1:-1]", "[4,3,2]"},
        Row{"n[-2:]", "[4,5]"},
        Row{"n[:-4]", "[0,1]"},
        Row{"n[-1:-4:-2]", "[5,3]"},
        Row{"n[10:-20:-1]", "[5,4,3,2,1,0]"},
        Row{"n[-20:10]", "[0,1,2,3,4,5]"},
        Row{"n[3:3]", "[]"},
        Row{"n[5:0]", "[]"},
        Row{"n[0:9223372036854775807:9223372036854775807]", "[0]"},
        Row{"n[::-9223372036854775808]", "[5]"},
        Row{"text[0:2]", "null"},
        Row{"text[0:2].a", "null"},
        Row{"o[:2].a", "[1,2]"},
        Row{"o[:2].b", "[]"},
        Row{"o[::-1].a.b", "[]"},
        Row{"deep[0][:].a", "[1,2]"},
    };
    expect_rows(R"({"n": [0, 1, 2, 3, 4, 5], "text": "abc", "o": [{"a": 1}, {"a": 2}, {"a": 3}],
                    "deep": [[{"a": 1}, {"a": 2}]]})",
                rows);
}

TEST(JmespathSyntax, ListProjectionsApplyTheRestToEachElement)
{
    constexpr std::array rows{
        Row{"l[*]", R"([{"a":1},{"a":2},{"b":3}])"},
        Row{"l[*].a", "[1,2]"},
        Row{"l[*].missing", "[]"},
        Row{"l[*].b", "[3]"},
        Row{"m[*][0]", "[1,3]"},
        Row{"m[*][*]", "[[1,2],[3]]"},
        Row{"m[*][*].x", "[[],[]]"},
        Row{"deep[*].list[*].v", "[[1,2],[3]]"},
        Row{"deep[*].list[0].v", "[1,3]"},
        Row{"(l[*].a)[0]", "1"},
        Row{"l[*].a | [0]", "1"},
        Row{"o[*]", "null"},
        Row{"text[*].x", "null"},
        Row{"missing[*].x", "null"},
    };
    expect_rows(R"({"l": [{"a": 1}, {"a": 2}, {"b": 3}, null], "m": [[1, 2], [3]],
                    "deep": [{"list": [{"v": 1}, {"v": 2}]}, {"list": [{"v": 3}]}, {}],
                    "o": {"x": 1}, "text": "abc"})",
                rows);
}

TEST(JmespathSyntax, ObjectProjectionsApplyTheRestToEachMember)
{
    constexpr std::array rows{
        Row{"*", R"([{"x":{"n":1},"y":{"n":2}},{"x":{"n":3}},[1,{"n":4}],"t"])"},
        Row{"*.x", R"([{"n":1},{"n":3}])"},
        Row{"*.x.n", "[1,3]"},
        Row{"a.*", R"([{"n":1},{"n":2}])"},
        Row{"a.*.n", "[1,2]"},
        Row{"*.*", R"([[{"n":1},{"n":2}],[{"n":3}]])"},
        Row{"*.*.n", "[[1,2],[3]]"},
        Row{"@.*.x.n", "[1,3]"},
        Row{"@.*.x.n.more", "[]"},
        Row{"a.*.keys(@)", R"([["n"],["n"]])"},
        Row{"*[0]", "[1]"},
        Row{"list.*", "null"},
        Row{"text.*", "null"},
        Row{"* | [0].x.n", "1"},
    };
    expect_rows(R"({"a": {"x": {"n": 1}, "y": {"n": 2}}, "b": {"x": {"n": 3}},
                    "list": [1, {"n": 4}], "text": "t"})",
                rows);
}

TEST(JmespathSyntax, FlattenMergesOneLevelAndProjects)
{
    constexpr std::array rows{
        Row{"m[]", "[1,2,[3],4]"},
        Row{"m[][]", "[1,2,3,4]"},
        Row{"m[][][]", "[1,2,3,4]"},
        Row{"n[]", "[1,2]"},
        Row{"[m[0], n][]", "[1,2,1,[2]]"},
        Row{"r[].i[].s", R"(["x","y","z"])"},
        Row{"r[*].i[].s", R"(["x","y","z"])"},
        Row{"r[*].i[*].s", R"([["x","y"],["z"]])"},
        Row{"r[*].i[*].s[]", R"(["x","y","z"])"},
        Row{"r[].i[][0]", "[]"},
        Row{"r[].i[] | [0].s", "\"x\""},
        Row{"t[]", "null"},
        Row{"t[].a", "null"},
    };
    expect_rows(R"({"m": [[1, 2], [[3]], 4], "t": "text", "n": [1, null, [2]],
                    "r": [{"i": [{"s": "x"}, {"s": "y"}]}, {"i": [{"s": "z"}]}]})",
                rows);
    expect_rows("[[0, 1], 2]", std::array{Row{"[]", "[0,1,2]"}, Row{"[][0]", "[]"}});
}

TEST(JmespathSyntax, FiltersKeepWhatIsTrue)
{
    constexpr std::array rows{
        Row{"p[?age > `30`].name", R"(["ann","cy"])"},
        Row{"p[?age >= `30`].name", R"(["ann","bob","cy"])"},
        Row{"p[?age < `31`].name", R"(["bob"])"},
        Row{"p[?age <= `31`].name", R"(["ann","bob"])"},
        Row{"p[?age == `30`].name", R"(["bob"])"},
        Row{"p[?age == `30.0`].name", R"(["bob"])"},
        Row{"p[?age != `30`].name", R"(["ann","cy","dee"])"},
        Row{"p[?name == 'bob'].age", "[30]"},
        Row{"p[?name == `\"bob\"`].age", "[30]"},
        Row{"p[?name == `bob`].age", "[30]"},
        Row{"p[?name > 'bob'].name", R"(["cy","dee"])"},
        Row{"p[?name > `1`].name", "[]"},
        Row{"p[?age > 'x'].name", "[]"},
        Row{"p[?age].name", R"(["ann","bob","cy"])"},
        Row{"p[?!age].name", R"(["dee"])"},
        Row{"p[?!address.city].name", R"(["ann","bob","dee"])"},
        Row{"p[?age > `30` && age < `40`].name", R"(["ann"])"},
        Row{"p[?age < `31` || name == 'cy'].name", R"(["bob","cy"])"},
        Row{"p[?address.city == 'Bonn'].name", R"(["cy"])"},
        Row{"p[?tags[?@ == 'x']].name", R"(["ann"])"},
        Row{"p[?contains(name, 'b')].name", R"(["bob"])"},
        Row{"p[?age == max_age].name", R"(["dee"])"},
        Row{"p[?`true`] | length(@)", "4"},
        Row{"p[?'']", "[]"},
        Row{"p[?age].tags[]", R"(["x","y","z"])"},
        Row{"p[?age][].name", R"(["ann","bob","cy"])"},
        Row{"p[?age].[name][]", R"(["ann","bob","cy"])"},
        Row{"p[?missing].a.b", "[]"},
        Row{"o[?a]", "null"},
        Row{"p[?address == `{\"zip\": 1, \"city\": \"Bonn\"}`].name", R"(["cy"])"},
        Row{"p[?tags == `[\"z\"]`].name", R"(["bob"])"},
    };
    expect_rows(R"({"p": [{"name": "ann", "age": 31, "tags": ["x", "y"]},
                          {"name": "bob", "age": 30, "tags": ["z"]},
                          {"name": "cy", "age": 44, "address": {"city": "Bonn", "zip": 1}},
                          {"name": "dee"}], "o": {"a": 1}})",
                rows);
    expect_rows("[0, 1, 2]", std::array{Row{"[?@ > `0`]", "[1,2]"}, Row{"[?@]", "[0,1,2]"}});
}

TEST(JmespathSyntax, MultiSelectsBuildListsAndObjects)
{
    constexpr std::array rows{
        Row{"[a, b.c]", "[1,2]"},
        Row{"a.[x]", "[null]"},
        Row{"missing.[x, y]", "null"},
        Row{"missing.{x: y}", "null"},
        Row{"{first: a, \"second one\": b.c}", R"({"first":1,"second one":2})"},
        Row{"{x: a, y: b, x: b.c}", R"({"x":2,"y":{"c":2}})"},
        Row{"b.[c, d]", "[2,null]"},
        Row{"l[*].[n, m]", "[[1,2],[3,null]]"},
        Row{"l[*].{n: n}", R"([{"n":1},{"n":3}])"},
        Row{"l[*].[n, m][]", "[1,2,3]"},
        Row{"l[*].[n][0]", "[1]"},
        Row{"l[].{n: n, twice: [n, n]}", R"([{"n":1,"twice":[1,1]},{"n":3,"twice":[3,3]}])"},
        Row{"{l: l[*].n, k: keys(b)}", R"({"l":[1,3],"k":["c"]})"},
        Row{"b.{c: c}.c", "2"},
        Row{"[[a], [[b.c]]]", "[[1],[[2]]]"},
        Row{"[*]", "null"},
        Row{"[*, a] | [1]", "1"},
    };
    expect_rows(R"({"a": 1, "b": {"c": 2}, "l": [{"n": 1, "m": 2}, {"n": 3}]})", rows);
}

TEST(JmespathSyntax, PipesEndProjections)
{
    constexpr std::array rows{
        Row{"l[*].n | [0]", "1"},
        Row{"l[*].n | [-1]", "2"},
        Row{"l[*].n[0]", "[]"},
        Row{"l | [0] | n", "1"},
        Row{"missing | `5`", "5"},
        Row{"l[*].n | sum(@) | to_string(@)", "\"3\""},
        Row{"l[0] || l[1] | n", "1"},
        Row{"missing || l | [1].n", "2"},
    };
    expect_rows(R"({"l": [{"n": 1}, {"n": 2}]})", rows);
}

TEST(JmespathSyntax, BooleanOperatorsGiveTheDecidingValue)
{
    constexpr std::array rows{
        Row{"t || f", "true"},        Row{"f || t", "true"},
        Row{"f || missing", "null"},  Row{"es || eo || el || n1", "1"},
        Row{"missing || el", "[]"},   Row{"t && n1", "1"},
        Row{"es && t", "\"\""},       Row{"n0 && t", "true"},
        Row{"el && t", "[]"},         Row{"!t", "false"},
        Row{"!missing", "true"},      Row{"!n0", "false"},
        Row{"!es", "true"},           Row{"!!t", "true"},
        Row{"! t || t", "true"},      Row{"!(t || t)", "false"},
        Row{"t || t && f", "true"},   Row{"(t || t) && f", "false"},
        Row{"f && f || t", "true"},   Row{"f && (f || t)", "false"},
        Row{"!t == f", "true"},       Row{"!o.in.deep", "false"},
        Row{"!o.in.missing", "true"}, Row{"!li[]", "false"},
        Row{"!li[5]", "true"},        Row{"n1 == `1` && n0 == `0`", "true"},
        Row{"n1 < `2` == t", "true"},
    };
    expect_rows(R"({"t": true, "f": false, "n0": 0, "n1": 1, "es": "", "eo": {}, "el": [],
                    "o": {"in": {"deep": "x"}}, "li": [1]})",
                rows);
}

TEST(JmespathSyntax, ComparisonsKnowTypes)
{
    constexpr std::array rows{
        Row{"`1` == `1.0`", "true"},
        Row{"`1` == `true`", "false"},
        Row{"`0` == `false`", "false"},
        Row{"`[1, true]` == `[1.0, true]`", "true"},
        Row{"`[1]` == `[true]`", "false"},
        Row{"`1` == '1'", "false"},
        Row{"`null` == missing", "true"},
        Row{"`{\"a\": 1, \"b\": 2}` == `{\"b\": 2, \"a\": 1}`", "true"},
        Row{"`{\"a\": 1}` == `{\"a\": 1, \"b\": 2}`", "false"},
        Row{"`{\"a\": 1}` != `{\"b\": 1}`", "true"},
        Row{"`9007199254740993` == `9007199254740992.0`", "false"},
        Row{"`9007199254740993` > `9007199254740992.0`", "true"},
        Row{"`2` > `1`", "true"},
        Row{"`-0.5` < `0`", "true"},
        Row{"`0` > `-0.5`", "true"},
        Row{"`1e300` > `9223372036854775807`", "true"},
        Row{"`-1e300` < `-9223372036854775807`", "true"},
        Row{"'a' < 'b'", "true"},
        Row{"'Z' < 'a'", "true"},
        Row{"'\xc3\xa9' > 'z'", "true"},
        Row{"`true` < `false`", "null"},
        Row{"`[1]` < `[2]`", "null"},
        Row{"missing < `1`", "null"},
        Row{"`1` < '2'", "null"},
    };
    expect_rows("{}", rows);
}

TEST(JmespathSyntax, LiteralsAreJsonOrTextWithoutQuotes)
{
    constexpr std::array rows{
        Row{"`1`", "1"},
        Row{"`1.50`", "1.5"},
        Row{"` [1, {\"a\": null}] `", R"([1,{"a":null}])"},
        Row{"`\"text\"`", "\"text\""},
        Row{"`\"a\\`b\"`", "\"a`b\""},
        Row{"`\"\\u00e9\"`", "\"\xc3\xa9\""},
        Row{"`{\"a\": {\"b\": [5]}}`.a.b[0]", "5"},
        Row{"`Completed`", "\"Completed\""},
        Row{"`  two words`", "\"two words\""},
        Row{"`01`", "\"01\""},
        Row{"`a\\`b`", "\"a`b\""},
        Row{"``", "\"\""},
        Row{"'raw'", "\"raw\""},
        Row{"''", "\"\""},
        Row{"'it\\'s'", "\"it's\""},
        Row{"'back\\slash'", "\"back\\\\slash\""},
        Row{"'\\\\'", "\"\\\\\\\\\""},
        Row{"' keeps  blanks '", "\" keeps  blanks \""},
        Row{"'`\"`'", "\"`\\\"`\""},
        Row{"'two\nlines'", "\"two\\nlines\""},
        Row{"'[1]'[0]", "null"},
    };
    expect_rows("{}", rows);
}

TEST(JmespathSyntax, TheCurrentNodeIsWhatTheStepBeforeGave)
{
    constexpr std::array rows{
        Row{"@", R"({"a":[{"b":1},{"b":2}]})"},
        Row{"@.a", R"([{"b":1},{"b":2}])"},
        Row{"a[*].@ | @",
            "syntax at column 6: expected a name, '*', '[' or '{' after '.', but "
            "found '@'\n  a[*].@ | @\n       ^"},
        Row{"a[?@.b == `2`] | @[0].b", "2"},
        Row{"a[*].b | [?@ > `1`]", "[2]"},
        Row{"a[*].length(@)", "[1,1]"},
        Row{"@ | @ | a[0].b", "1"},
    };
    expect_rows(R"({"a": [{"b": 1}, {"b": 2}]})", rows);
}

// The queries that the predecessor's documents show, and their neighbours in daily use.
TEST(JmespathSyntax, AnswersTheQueriesOfTheOldDocuments)
{
    constexpr std::array rows{
        Row{"[?Accuracy != null] | max_by(@, &Accuracy)",
            R"({"run_id":"c3","status":"Completed","duration":"0:00:07.100","script_name":"iris.py","start_time_utc":"2017-11-03T08:00:00Z","Accuracy":0.97})"},
        Row{"[?Accuracy != null] | max_by(@, &Accuracy).Accuracy", "0.97"},
        Row{"max_by([?Accuracy != null], &Accuracy).run_id", "\"c3\""},
        Row{"[?Accuracy != `null`] | min_by(@, &Accuracy).run_id", "\"a1\""},
        Row{"[?status == 'Completed'].run_id", R"(["a1","c3"])"},
        Row{"[?status != 'Completed'].[run_id, status]", R"([["b2","Failed"],["d4","Running"]])"},
        Row{"sort_by(@, &start_time_utc)[-1].run_id", "\"d4\""},
        Row{"sort_by(@, &start_time_utc) | [-1].run_id", "\"d4\""},
        Row{"reverse(sort_by(@, &start_time_utc))[*].run_id", R"(["d4","c3","b2","a1"])"},
        Row{"sort_by([?duration], &duration)[].{id: run_id, took: duration}",
            R"([{"id":"a1","took":"0:00:05.123"},{"id":"c3","took":"0:00:07.100"},{"id":"b2","took":"0:01:00.000"}])"},
        Row{"[?script_name == 'iris.py'] | length(@)", "3"},
        Row{"[?start_time_utc > '2017-11-02T12'].run_id", R"(["c3","d4"])"},
        Row{"[?starts_with(script_name, 'iris') && Accuracy > `0.95`].run_id", R"(["c3"])"},
        Row{"[*].not_null(Accuracy, `0`)", "[0.91,0,0.97,0]"},
        Row{"avg([].Accuracy)", "0.94"},
        Row{"[0].run_id", "\"a1\""},
        Row{"[].run_id | join(' ', @)", "\"a1 b2 c3 d4\""},
    };
    expect_rows(R"([
        {"run_id": "a1", "status": "Completed", "duration": "0:00:05.123", "script_name": "iris.py",
         "start_time_utc": "2017-11-01T08:00:00Z", "Accuracy": 0.91},
        {"run_id": "b2", "status": "Failed", "duration": "0:01:00.000", "script_name": "iris.py",
         "start_time_utc": "2017-11-02T00:00:00Z"},
        {"run_id": "c3", "status": "Completed", "duration": "0:00:07.100", "script_name": "iris.py",
         "start_time_utc": "2017-11-03T08:00:00Z", "Accuracy": 0.97},
        {"run_id": "d4", "status": "Running", "script_name": "train.py",
         "start_time_utc": "2017-11-04T08:00:00Z"}])",
                rows);
    expect_rows(R"({"id": "/subscriptions/1", "name": "p"})",
                std::array{Row{"id", "\"/subscriptions/1\""}, Row{"nothing", "null"}});
}

}  // namespace
}  // namespace ponk::query
