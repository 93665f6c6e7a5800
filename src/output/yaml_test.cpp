// SPDX-License-Identifier: Apache-2.0
#include "output/formats.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ponk::output {
namespace {

std::string yaml(std::string_view json)
{
    return render_yaml(parse_json(json).value());
}

TEST(Yaml, WritesBlocks)
{
    EXPECT_EQ(yaml(R"({"a": 1, "b": {"c": [1, {"d": null, "e": true}], "f": []}, "g": {}})"),
              "a: 1\n"
              "b:\n"
              "  c:\n"
              "    - 1\n"
              "    - d: null\n"
              "      e: true\n"
              "  f: []\n"
              "g: {}\n");
    EXPECT_EQ(yaml("[[1, [2]], []]"), "- - 1\n  - - 2\n- []\n");
    EXPECT_EQ(yaml("\"text\""), "text\n");
    EXPECT_EQ(yaml("null"), "null\n");
}

TEST(Yaml, QuotesWhatCouldBeTakenForSomethingElse)
{
    for (const char* text : {"yes",
                             "No",
                             "ON",
                             "off",
                             "y",
                             "n",
                             "null",
                             "Null",
                             "~",
                             "true",
                             "FALSE",
                             "3.6",
                             "1e5",
                             "12",
                             "-1",
                             "+1",
                             ".5",
                             "0x1f",
                             "0o17",
                             "1_000",
                             "12:30:00",
                             "2026-03-01",
                             "2026-03-01T12:30:05Z",
                             ".inf",
                             "-.inf",
                             ".nan",
                             ".NaN",
                             "",
                             " x",
                             "x ",
                             "a: b",
                             "a:",
                             "a #b",
                             "#a",
                             "- a",
                             "-",
                             "? a",
                             "&a",
                             "*a",
                             "!a",
                             "|",
                             ">",
                             "%a",
                             "@a",
                             "`a",
                             "{a",
                             "[a",
                             "]",
                             "}",
                             ",",
                             "'a",
                             "\\\"",
                             "---",
                             "...",
                             "=",
                             "<<",
                             "a\\tb",
                             "a\\u0000",
                             "\\u0085",
                             "\\u2028",
                             "\\ufeff",
                             "\\u001b"}) {
        const auto line = yaml('"' + std::string(text) + '"');
        EXPECT_TRUE(line.starts_with('"') && line.ends_with("\"\n")) << text << " became " << line;
    }
}

TEST(Yaml, LeavesPlainWhatIsPlain)
{
    for (const char* text : {"plain",
                             "train.py",
                             "/data/mnist",
                             "two words",
                             "v1.2.3-rc",
                             "a,b",
                             "a:b",
                             "a#b",
                             "Completed",
                             "é",
                             "0197f3a1c2d4g",
                             "it's",
                             "x=y",
                             "no way",
                             "(a)"}) {
        EXPECT_EQ(yaml('"' + std::string(text) + '"'), std::string(text) + "\n");
    }
}

TEST(Yaml, ShowsSeveralLinesAsLines)
{
    EXPECT_EQ(yaml(R"({"a": "one\n  two\n\nthree"})"), "a: |-\n  one\n    two\n\n  three\n");
    EXPECT_EQ(yaml(R"({"a": "one\ntwo\n"})"), "a: |\n  one\n  two\n");
    EXPECT_EQ(yaml(R"([{"a": "one\ntwo"}])"), "- a: |-\n    one\n    two\n");
    EXPECT_EQ(yaml(R"(["one\ntwo"])"), "- |-\n  one\n  two\n");
    EXPECT_EQ(yaml(R"({"a": " one\ntwo"})"), "a: \" one\\ntwo\"\n");
    EXPECT_EQ(yaml(R"({"a": "one\ntwo\n\n"})"), "a: \"one\\ntwo\\n\\n\"\n");
    EXPECT_EQ(yaml(R"({"a": "\none"})"), "a: \"\\none\"\n");
    EXPECT_EQ(yaml(R"({"a": "one\n"})"), "a: \"one\\n\"\n");
}

TEST(Yaml, KeepsTheTypesOfNumbers)
{
    EXPECT_EQ(yaml("[1, 1.0, 1e300, 1.5e-7, -0.0]"), "- 1\n- 1.0\n- 1.0e+300\n- 1.5e-07\n- -0.0\n");
    EXPECT_EQ(render_yaml(Json(JsonArray{std::nan(""), INFINITY, -INFINITY})),
              "- .nan\n- .inf\n- -.inf\n");
}

TEST(Yaml, WritesKeysOfAnyKind)
{
    EXPECT_EQ(yaml(R"({"": 1, "yes": 2, "a: b": 3, "1": 4, "two\nlines": 5})"),
              "\"\": 1\n\"yes\": 2\n\"a: b\": 3\n\"1\": 4\n\"two\\nlines\": 5\n");
    const std::string wide(2000, 'k');
    EXPECT_EQ(yaml("{\"" + wide + "\": {\"a\": 1}}"), "? " + wide + "\n:\n  a: 1\n");
}

TEST(Tsv, WritesOneLinePerElement)
{
    const auto tsv = [](std::string_view json) { return render_tsv(parse_json(json).value(), {}); };
    EXPECT_EQ(tsv(R"([{"a": 1, "b": "x"}, {"b": "y\tz\n", "c": true}])"),
              "1\tx\t\n\ty\\tz\\n\ttrue\n");
    EXPECT_EQ(tsv(R"({"a": null, "b": [1, "x"], "c": {"d": 1.5}})"), "\t[1,\"x\"]\t{\"d\":1.5}\n");
    EXPECT_EQ(tsv(R"(["a", "b"])"), "a\nb\n");
    EXPECT_EQ(tsv(R"([["a", 1], ["b"]])"), "a\t1\nb\t\n");
    EXPECT_EQ(tsv(R"("C:\\temp")"), "C:\\temp\n");
    EXPECT_EQ(tsv("[]"), "");
    EXPECT_EQ(tsv("null"), "");
}

}  // namespace
}  // namespace ponk::output
