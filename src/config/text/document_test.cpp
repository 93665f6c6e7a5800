// SPDX-License-Identifier: Apache-2.0
#include "config/text/document.hpp"
#include "config/text/flow_depth.hpp"

#include <gtest/gtest.h>

#include <fstream>

#if defined(__has_feature)
#define PONK_HAS_FEATURE(x) __has_feature(x)
#else
#define PONK_HAS_FEATURE(x) 0
#endif

namespace ponk::config {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    PONK_HAS_FEATURE(address_sanitizer) || PONK_HAS_FEATURE(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// The tree as JSON, or the remarks "line:column code" with blanks between them.
std::string read(std::string_view text)
{
    Report report("f");
    const auto root = read_document(text, report);
    std::string remarks;
    for (const auto& d : report.diagnostics()) {
        remarks += fmt::format("{}{}:{} {}", remarks.empty() ? "" : " ", d.line, d.column, d.code);
    }
    if (!root) return remarks;
    return to_json(plain_json(*root)) + (remarks.empty() ? "" : " " + remarks);
}

struct Case {
    std::string text;
    std::string expected;
};

TEST(Document, ReadsWhatYamlAllows)
{
    const Case cases[] = {
        {"a: 1\nb: true\nc: text\n", R"({"a":1,"b":true,"c":"text"})"},
        {"a: 1\r\nb: \"x\"\r\n", R"({"a":1,"b":"x"})"},
        {"a: no final newline", R"({"a":"no final newline"})"},
        {"a:\t\"4g\"", R"({"a":"4g"})"},
        {"# c\tx\na: 1\n\t# tab before a comment\n", R"({"a":1})"},
        {"a:\n- 1\n- 2\n", R"({"a":[1,2]})"},
        {"a:\n    - 1\n", R"({"a":[1]})"},
        {"---\na: 1\n", R"({"a":1})"},
        {"a: 1\n...\n", R"({"a":1} 2:1 pasted-ellipsis)"},
        {"", "{}"},
        {"# only a comment", "{}"},
        {"a:\nb: ~\nc: null\nd: ''\n", R"({"a":null,"b":null,"c":null,"d":""})"},
        {"a: [x, y]", R"({"a":["x","y"]})"},
        {"\xEF\xBB\xBF"
         "a: 1",
         R"({"a":1})"},
        {"a: &x [1, 2]\nb: *x\n", R"({"a":[1,2],"b":[1,2]})"},
        {"a: !!str 5", R"({"a":"5"})"},
        {"a: |\n  one\n  ...\n  \ttwo\n", R"({"a":"one\n...\n\ttwo\n"})"},
        {"a: 'one\n \ttwo'\n", R"({"a":"one two"})"},
        {"a : 1", R"({"a":1})"},
        {"a: 1.5\nb: 1e3\nc: 3.5.2\nd: .5\ne: 0x10\n",
         R"({"a":1.5,"b":1000.0,"c":"3.5.2","d":0.5,"e":"0x10"})"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(read(text), expected) << text;
}

TEST(Document, ReadsJsonAndFlowStyle)
{
    const Case cases[] = {
        {R"({"a": [1, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}})",
         "{\"a\":[1,true,null,\"x\\n\u00e9\U0001F600\"],\"b\":{}}"},
        {"\r\n{\r\n\t\"a\":1\r\n}\r\n", R"({"a":1})"},
        {"{a: b, 'c': [d]}", R"({"a":"b","c":["d"]})"},
        {"{\"a\": 1, # why\n \"b\": 2}", R"({"a":1,"b":2})"},
        {"{\"a\": 1,}", R"({"a":1})"},
        {"{\"a\": -1.5e+3}", R"({"a":-1500.0})"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(read(text), expected) << text;
}

TEST(Document, TellsEveryPastedEllipsis)
{
    std::string at_the_left;
    std::string indented;
    for (int i = 0; i < 2000; ++i) {
        at_the_left += fmt::format("a{}: 1\n...\n", i);
        indented += fmt::format("a{}:\n  ...\n  - b\n", i);
    }
    Report every("f");
    EXPECT_TRUE(read_document(at_the_left + "b: 1\n", every));
    EXPECT_EQ(every.diagnostics().size(), 2000U);

    Report inside("f");
    EXPECT_TRUE(read_document(indented, inside));
    EXPECT_EQ(inside.diagnostics().size(), 2000U);
}

TEST(Document, NamesThePlaceOfEveryMistake)
{
    const Case cases[] = {
        {"{\n  \"a\": true.\n  \"b\": 1\n}", "2:12 json-syntax"},
        {"{\n  \"a\": 1\n  \"b\": 2\n}", "3:3 json-syntax"},
        {"{\"a\": 1", "1:8 json-syntax"},
        {"{\"a\": \"x\n\"}", "1:7 json-syntax"},
        {"{\"a\": \"C:\\Users\"}", "1:10 json-syntax"},
        {"{\"a\": 1, \"a\": 2}", "1:10 duplicate-key"},
        {"{\"a\": 1} x", "1:10 json-syntax"},
        {"{\"\u00e9\u00e9\": 1 2}", "1:10 json-syntax"},
        {"a: 1\n\tb: 2\n", "2:1 tab-indentation"},
        {"a: x\n\ty\n", "2:1 tab-indentation"},
        {"a:\n\t- 1\n\t- 2\n", "2:1 tab-indentation 3:1 tab-indentation"},
        {"a:\n  \t- 1\n", "2:3 tab-indentation"},
        {"a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n", "2:1 conflict-marker"},
        {"a: 1\n=======\nb: 2\n", "2:1 conflict-marker"},
        {"a: 1\n...\nb: 2\n", R"({"a":1,"b":2} 2:1 pasted-ellipsis)"},
        {"...\na: 1\n", R"({"a":1} 1:1 pasted-ellipsis)"},
        {"a:\n  ...\n  - b\n", R"({"a":["b"]} 2:3 pasted-ellipsis)"},
        {"a: 1\n...\nb: [x\n...\nc: 2\n",
         "2:1 pasted-ellipsis 4:1 pasted-ellipsis 6:1 yaml-syntax"},
        {"a: 1\n...\nb:\n  \tc: 2\n", "2:1 pasted-ellipsis 4:3 tab-indentation"},
        {"a: 1\n---\nb: 2\n", "2:1 second-document"},
        {"a: 1\nb: 2\na: 3\n", "3:1 duplicate-key"},
        {"a: *nothing\n", "1:4 unknown-alias"},
        {"a: !!python/object:os.system x\n", "1:4 tag"},
        {"a: !mine x\n", "1:4 tag"},
        {"a: {b: [c}\n", "1:10 yaml-syntax"},
        {"  \"a\":\"1\"\n  \"b\":\"2\"\n", "1:6 missing-blank"},
        {"x: 1\na:\n  - b\n- c\n", "4:1 list-indentation"},
        {"a:\n- b:\n  - ", "3:3 empty-item"},
        {"{}: 1\n", "1:3 json-syntax"},
        {"? [a]\n: 1\n", "1:3 complex-key"},
        {"<<: {a: 1}\n", "1:1 merge-key"},
        {"a: \xFF\n", "1:4 encoding"},
        {"\u00e4: \x01\n", "1:4 encoding"},
        {std::string("\xFF\xFE"
                     "a\0",
                     4),
         "1:1 encoding"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(read(text), expected) << text;
}

TEST(Document, KnowsWhereEverythingStands)
{
    Report report("f");
    const auto root = read_document("first: \"x\"\n\u00e4\u00e4: [a,  b]\n", report);
    ASSERT_TRUE(root);
    const auto& second = root->members.at(1);
    EXPECT_EQ(root->members.at(0).value.place, (Place{1, 8}));
    EXPECT_EQ(second.place, (Place{2, 1}));
    EXPECT_EQ(second.value.place, (Place{2, 5}));
    EXPECT_EQ(second.value.items.at(1).place, (Place{2, 10}));
}

TEST(Document, BracketsInTextsAreNoNesting)
{
    const std::string many(200, '[');
    EXPECT_EQ(find_too_deep_flow("a: \"" + many + "\"\nb: '" + many + "' # " + many + "\n", 64),
              std::nullopt);
    EXPECT_EQ(
        find_too_deep_flow("a: [\"\\\"" + many + "\", '" + many + "']\nb: x" + many + "\n", 64),
        std::nullopt);
    EXPECT_EQ(find_too_deep_flow("a: [1, [2], [3, {b: []}]]\n", 4), std::nullopt);
    EXPECT_EQ(find_too_deep_flow("a: [1, [2], [3, {b: [[]]}]]\n", 4), 21U);
    EXPECT_EQ(find_too_deep_flow(many, 64), 64U);
}

TEST(Document, TellsDepthAndSizeWithoutFollowingThem)
{
    const std::string deep = "a: " + std::string(100000, '[');
    EXPECT_EQ(read(deep).substr(read(deep).find(' ')), " too-deep");
    EXPECT_NE(read("{\"a\": " + std::string(100000, '[')).find("too-deep"), std::string::npos);
    std::string nested;
    for (int i = 0; i < 100; ++i)
        nested += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_NE(read(nested).find("too-deep"), std::string::npos);
    EXPECT_EQ(read(std::string((1 << 20) + 1, '#')), "0:0 too-large");
}

// Peak of this process in KiB.
std::size_t peak_memory()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    std::size_t value = 0;
    while (status >> word) {
        if (word == "VmHWM:") status >> value;
    }
    return value;
}

TEST(Document, RefusesBombsCheaply)
{
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        laughs += fmt::format(
            "a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    }
    // One long text, many times; anchors within anchors; one anchor said again and again.
    std::string text = "t: &t " + std::string(1 << 19, 'x') + "\nl: [";
    for (int i = 0; i < 90; ++i)
        text += "*t, ";
    text += "y]\n";
    std::string anchors = "a: ";
    for (int i = 0; i < 60; ++i)
        anchors += fmt::format("&n{} [", i);
    for (int i = 0; i < 40000; ++i)
        anchors += "x,";
    anchors += std::string(60, ']') + "\n";
    std::string many = "a: &a x\nl: [";
    for (int i = 0; i < 200; ++i)
        many += "*a, ";
    many += "x]\n";
    const std::size_t before = peak_memory();
    EXPECT_NE(read(laughs).find("too-many-"), std::string::npos);
    EXPECT_NE(read(text).find("too-many-nodes"), std::string::npos);
    EXPECT_NE(read(anchors).find("too-many-nodes"), std::string::npos);
    EXPECT_NE(read(many).find("too-many-aliases"), std::string::npos);
    // A sanitizer keeps memory of its own beside each byte.
    if (!sanitized) {
        EXPECT_LT(peak_memory() - before, 96U << 10);
    }
}

TEST(Document, ReadsLongLinesInOneGo)
{
    // A place per value on one line: counting columns from its start each time would be quadratic.
    std::string text = "a: [";
    for (int i = 0; i < 90000; ++i)
        text += "\u00e9, ";
    text += "z]";
    Report report("f");
    const auto root = read_document(text, report);
    ASSERT_TRUE(root);
    EXPECT_EQ(root->members[0].value.items.back().place.column, 5U + 90000U * 3U);
}

}  // namespace
}  // namespace ponk::config
