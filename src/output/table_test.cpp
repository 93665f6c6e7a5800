// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "output/cell.hpp"
#include "output/column_order.hpp"
#include "output/render.hpp"
#include "output/table.hpp"
#include "output/table_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ponk::output {
namespace {

using testing::ElementsAre;

Json json(std::string_view text)
{
    return parse_json(text).value();
}

TEST(Table, AlignsColumnsAndNumbers)
{
    EXPECT_EQ(render_table(json(R"([{"name": "a", "n": 5, "x": "l"},
                                    {"name": "longer", "n": 1234.5}])"),
                           {}),
              "name         n  x\n"
              "------  ------  -\n"
              "a            5  l\n"
              "longer  1234.5\n");
}

TEST(Table, HeadsWithTheUnionOfKeysInOrderOfFirstSight)
{
    EXPECT_EQ(render_table(json(R"([{"b": 1}, {"a": 2, "b": 3}])"), {}),
              "b  a\n"
              "-  -\n"
              "1\n"
              "3  2\n");
}

TEST(Table, TakesTitlesAndAlignmentFromTheCaller)
{
    const Columns columns{{.key = "n", .title = "Count", .align = Align::left},
                          {.key = "s", .align = Align::right},
                          {.key = "missing"}};

    EXPECT_EQ(render_table(json(R"([{"s": "text", "n": 5, "hidden": 1}])"), {}, columns),
              "Count     s  missing\n"
              "-----  ----  -------\n"
              "5      text\n");
}

TEST(Table, CountsColumnsOfTheTerminalNotBytes)
{
    EXPECT_EQ(render_table(json(R"([{"k": "数据", "v": 1}, {"k": "é", "v": 2}])"), {}),
              "k     v\n"
              "----  -\n"
              "数据  1\n"
              "é     2\n");
}

TEST(Table, NeverSendsControlCharactersOfTheData)
{
    const auto text = render_table(
        json(R"([{"\u001b[2Jkey": "\u001b]0;title\u0007 \u009b31m \u0000 \u202e \u007f"}])"),
        {.width = 60});

    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("\\x1b]0;title\\x07 \\x9b31m \\x00 \\u202e \\x7f"), std::string::npos);
}

TEST(Table, FitsEveryWidthAndSaysWhatIsMissing)
{
    const auto runs = json(R"([{"run": "0197f3a1c2d47000", "script": "a long name of a script.py",
                                "accuracy": 0.9731, "target": "gpu-host-number-seven"}])");
    for (int width = 1; width <= 90; ++width) {
        const auto text = render_table(runs, {.width = width});
        for (const auto& line : split(text, '\n'))
            EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
    EXPECT_EQ(render_table(runs, {.width = 32}),
              "run         script      accuracy\n"
              "----------  ----------  --------\n"
              "0197f3a1c…  a long na…    0.9731\n"
              "(1 more column in -o json:\n"
              "target)\n");
}

TEST(Table, NeverCutsANumber)
{
    EXPECT_EQ(render_table(json(R"([{"n": 123456789012, "text": "some words in a row"}])"),
                           {.width = 25}),
              "           n  text\n"
              "------------  -----------\n"
              "123456789012  some words…\n");
}

TEST(Table, ShowsOneObjectAsNamesAndValues)
{
    EXPECT_EQ(render_table(json(R"({"id": "x", "git": {"commit": "94", "dirty": false},
                                    "none": null, "error": "one\ntwo\n", "list": [1, 2]})"),
                           {}),
              "id          x\n"
              "git.commit  94\n"
              "git.dirty   false\n"
              "none\n"
              "error       one\n"
              "            two\n"
              "list        [1,2]\n");
}

TEST(Table, ContinuesLongValuesBelow)
{
    EXPECT_EQ(render_table(json(R"({"k": "abcdefghijklmnopqrstuvwxyz"})"), {.width = 13}),
              "k  abcdefghij\n"
              "   klmnopqrst\n"
              "   uvwxyz\n");
    EXPECT_EQ(
        render_table(json(R"({"k": "seven words, each of them quite short"})"), {.width = 16}),
        "k  seven words,\n"
        "   each of them\n"
        "   quite short\n");
}

TEST(Table, ShowsPlainValuesAndLists)
{
    EXPECT_EQ(render_table(json("[1, \"two\", null]"), {}), "Result\n------\n1\ntwo\n\n");
    EXPECT_EQ(render_table(json("[[1, \"a\"], [2]]"), {}),
              "Column1  Column2\n-------  -------\n      1  a\n      2\n");
    EXPECT_EQ(render_table(json("\"a\\nb\""), {}), "a\\nb\n");
    EXPECT_EQ(render_table(json("[]"), {}), "");
    EXPECT_EQ(render_table(json("[{}]"), {}), "");
    EXPECT_EQ(render_table(json("{}"), {}), "");
    EXPECT_EQ(render_table(Json(), {}), "");
}

TEST(Table, RoundsNumbersForReading)
{
    EXPECT_EQ(brief_number(0.1), "0.1");
    EXPECT_EQ(brief_number(2.0), "2.0");
    EXPECT_EQ(brief_number(0.971234567890), "0.971235");
    EXPECT_EQ(brief_number(1.0 / 3 * 1e-12), "3.33333e-13");
    EXPECT_EQ(brief_number(std::nan("")), "NaN");
    EXPECT_EQ(brief_number(-INFINITY), "-Infinity");
}

TEST(TableLayout, TheWidestColumnsGiveWayFirst)
{
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}, {40, 6}}, 80, 2), ElementsAre(10, 20, 40));
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}, {40, 6}}, 54, 2), ElementsAre(10, 20, 20));
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}, {40, 6}}, 45, 2), ElementsAre(10, 16, 15));
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}, {40, 6}}, 22, 2), ElementsAre(6, 6, 6));
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}, {40, 6}}, 21, 2), ElementsAre(10, 9));
    EXPECT_THAT(fit_columns({{10, 6}, {20, 6}}, 3, 2), ElementsAre(3));
    EXPECT_THAT(fit_columns({}, 3, 2), ElementsAre());
    EXPECT_THAT(choose_columns({{9, 9}, {9, 9}, {9, 9}}, {0, 2, 1}, 20, 2), ElementsAre(0, 2));
    EXPECT_THAT(choose_columns({{9, 9}, {9, 9}, {9, 9}}, {0, 0, 0}, 20, 2), ElementsAre(0, 1));
    EXPECT_THAT(choose_columns({{9, 9}, {9, 9}}, {1, 0}, 3, 2), ElementsAre(1));
}

TEST(Table, LeavesOutWhatMattersLeast)
{
    const Columns columns{
        {.key = "a", .min = whole}, {.key = "b", .min = whole}, {.key = "c", .min = whole}};
    const Json rows = json(R"([{"a": "aaaa", "b": "bbbb", "c": "cccc"}])");
    const Terminal narrow{.width = 11};

    const auto ordered = order_by_rank(rows, columns, {0, 2, 1}, narrow);

    EXPECT_EQ(render_table(rows, narrow, ordered),
              "a     c\n"
              "----  ----\n"
              "aaaa  cccc\n"
              "(1 more\n"
              "column in\n"
              "-o json: b)\n");
    EXPECT_EQ(order_by_rank(rows, columns, {0, 2, 1}, {.width = 16})[1].key, "b") << "all fit";
    EXPECT_EQ(order_by_rank(rows, columns, {0, 2, 1}, {})[1].key, "b") << "a pipe has room";
}

TEST(Formats, HaveNamesAndSuggestions)
{
    EXPECT_EQ(parse_format("jsonc").value(), Format::jsonc);
    EXPECT_EQ(parse_format("YAML").value(), Format::yaml);
    EXPECT_EQ(parse_format("tabel").error().message(), "'tabel' is not an output format");
    EXPECT_EQ(parse_format("tabel").error().hint(), "Did you mean 'table'?");
    EXPECT_EQ(parse_format("xml-rpc").error().hint(),
              "The formats are table, json, jsonc, tsv, yaml.");
}

}  // namespace
}  // namespace ponk::output
