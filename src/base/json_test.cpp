// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "base/keyed_hash_test_support.hpp"
#include "base/work_count.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ponk {
namespace {

std::string round_trip(std::string_view text)
{
    const auto value = parse_json(text);
    return value ? to_json(*value) : "error: " + value.error().message();
}

TEST(Json, KeepsWhatItReads)
{
    for (const char* text : {"null",
                             "true",
                             "[1,-2,3.5,1e+300]",
                             R"({"b":1,"a":{"c":[]},"d":{}})",
                             R"("quote \" slash \\ line \n")",
                             "9223372036854775807",
                             "1.0"}) {
        EXPECT_EQ(round_trip(text), text);
    }
}

TEST(Json, NamesThePlaceOfAnError)
{
    EXPECT_EQ(round_trip("{\n  \"a\": true.\n}"), "error: line 2, column 12: expected ',' or '}'");
    EXPECT_EQ(round_trip("[1,]"), "error: line 1, column 4: unexpected character");
    EXPECT_EQ(round_trip("[01]"), "error: line 1, column 3: expected ',' or ']'");
    EXPECT_EQ(round_trip(""), "error: line 1, column 1: unexpected end");
    EXPECT_EQ(round_trip("1 2"), "error: line 1, column 3: unexpected text after the document");
}

TEST(Json, EscapesControlCharactersOfEveryKind)
{
    EXPECT_EQ(to_json(Json("\x1b\x7f\xc2\x9b\xc2\xa0")), "\"\\u001b\\u007f\\u009b\xc2\xa0\"");
}

TEST(Json, RefusesDeepNesting)
{
    EXPECT_FALSE(parse_json(std::string(100'000, '[')));
    EXPECT_FALSE(parse_json(std::string(66, '[') + std::string(66, ']')));
    EXPECT_TRUE(parse_json(std::string(65, '[') + std::string(65, ']')));
}

TEST(Json, CarriesBytesThatAreNoUtf8)
{
    const Json value(std::string("a\xff\xc3(b"));

    const auto text = to_json(value);
    const auto back = parse_json(text);

    EXPECT_EQ(text, "\"a\\udcff\\udcc3(b\"");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->as_string(), value.as_string());
}

TEST(Json, ReadsSurrogatePairsAndRefusesHalves)
{
    EXPECT_EQ(round_trip("\"\\ud83d\\ude00\""), "\"😀\"");
    EXPECT_EQ(round_trip("\"\\ud83d\"").substr(0, 5), "error");
}

TEST(Json, OddNumbersAreReadWhereTheyMayBe)
{
    const auto read = parse_json("[NaN, Infinity, -Infinity, -1]", {.odd_numbers = true});
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(to_json(*read), R"(["NaN","Infinity","-Infinity",-1])");
    for (const char* text : {"NaN", "Infinity", "-Infinity"})
        EXPECT_EQ(round_trip(text), "error: line 1, column 1: unexpected character");
    for (const char* text : {"nan", "Na", "-Inf", "-NaN", "NaNx"})
        EXPECT_FALSE(parse_json(text, {.odd_numbers = true})) << text;
}

TEST(Json, SaysNonNumbersAsText)
{
    EXPECT_EQ(to_json(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
    EXPECT_EQ(to_json(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
    EXPECT_EQ(to_json(0.1), "0.1");
    EXPECT_EQ(to_json(1e22), "1e+22");
    EXPECT_EQ(round_trip("1e999"), "\"Infinity\"");
}

TEST(Json, LastOfEqualKeysWins)
{
    EXPECT_EQ(round_trip(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
}

TEST(Json, ComparesNumbersByValueAndObjectsInAnyOrder)
{
    EXPECT_EQ(*parse_json(R"({"a":1,"b":[2]})"), *parse_json(R"({"b":[2.0],"a":1.0})"));
    EXPECT_FALSE(*parse_json("[1,2]") == *parse_json("[2,1]"));
}

std::string object_of(const std::vector<std::string>& keys)
{
    std::string text = "{";
    for (const auto& key : keys)
        text += (text.size() > 1 ? ",\"" : "\"") + key + "\":1";
    return text + "}";
}

TEST(Json, TakesFewStepsForKeysThatWereChosenToCollide)
{
    const auto keys = CollidingKeys::make(12);
    const auto text = object_of(keys);

    const WorkCount work;
    const auto value = parse_json(text);
    ASSERT_TRUE(value);
    for (const auto& key : keys)
        ASSERT_EQ(value->integer(key), 1);
    EXPECT_EQ(*value, *parse_json(object_of({keys.rbegin(), keys.rend()})));

    EXPECT_LT(work.steps(), 50 * keys.size());
}

TEST(JsonObject, IsTheSameWithFewAndWithManyMembers)
{
    for (const int count : {3, 24, 25, 1000}) {
        JsonObject object;
        for (int i = 0; i < count; ++i)
            object.set("key" + std::to_string(i), i);
        object.set("key1", "again");
        EXPECT_TRUE(object.erase("key0"));
        EXPECT_FALSE(object.erase("key0"));
        const auto copy = object;
        object.append("last", 1);

        EXPECT_EQ(object.size(), static_cast<std::size_t>(count));
        EXPECT_EQ(object.begin()->first, "key1");
        EXPECT_EQ(*object.find("key1"), Json("again"));
        EXPECT_EQ(*object.find("last"), Json(1));
        EXPECT_EQ(copy.find("last"), nullptr);
        EXPECT_EQ(*copy.find("key2"), Json(2));
        EXPECT_EQ(copy.find("key0"), nullptr);
    }
}

TEST(JsonObject, MovesWhatItIsGivenInBraces)
{
    JsonArray items(1);
    const auto* const place = items.data();

    const Json outer(
        JsonObject{{"a", JsonObject{{"b", JsonObject{{"c", std::move(items)}}}}}, {"d", 1}});

    EXPECT_EQ(outer["a"]["b"]["c"].as_array().data(), place);
}

TEST(Json, LimitsTheNumberOfValues)
{
    EXPECT_TRUE(parse_json("[1,{\"a\":[]}]", {.values = 4}));
    EXPECT_EQ(parse_json("[1,{\"a\":[]}]", {.values = 3}).error().message(),
              "line 1, column 9: more than 3 values");
    std::string text = "[0";
    for (int i = 0; i < 1'000'000; ++i)
        text += ",0";
    EXPECT_FALSE(parse_json(text + "]"));
}

}  // namespace
}  // namespace ponk
