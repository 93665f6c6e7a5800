// SPDX-License-Identifier: Apache-2.0
#include "base/field_json.hpp"

#include <gmock/gmock.h>

#include <array>

namespace ponk {
namespace {

using testing::HasSubstr;

enum class Colour { red, green };
constexpr std::array<std::string_view, 2> names_of(Colour)
{
    return {"red", "green"};
}

struct Inner {
    std::string text = "usual";
    int number = 3;

    static constexpr auto fields()
    {
        return std::tuple(field("text", &Inner::text), field("number", &Inner::number));
    }
    friend bool operator==(const Inner&, const Inner&) = default;
};

struct Outer {
    RunId id;
    Digest digest;
    bool flag = true;
    std::optional<std::string> choice;
    std::vector<std::string> words;
    TextPairs pairs;
    std::chrono::seconds span{5};
    Colour colour = Colour::red;
    Inner inner;
    std::optional<Inner> maybe;

    static constexpr auto fields()
    {
        return std::tuple(field("id", &Outer::id),
                          field("digest", &Outer::digest),
                          field("flag", &Outer::flag),
                          field("choice", &Outer::choice),
                          field("words", &Outer::words),
                          field("pairs", &Outer::pairs),
                          field("span", &Outer::span),
                          field("colour", &Outer::colour),
                          field("inner", &Outer::inner),
                          field("maybe", &Outer::maybe));
    }
    friend bool operator==(const Outer&, const Outer&) = default;
};

Result<Outer> read(const std::string& text)
{
    Outer out;
    TRY(read_fields(TRY(parse_json(text)), out));
    return out;
}

TEST(Fields, OfADefaultValueAreLeftOut)
{
    EXPECT_EQ(to_json(fields_to_json(Outer())), "{}");
    EXPECT_EQ(read("{}").value(), Outer());
    EXPECT_EQ(read(R"({"flag": null, "inner": null, "unknown": [1]})").value(), Outer());
}

TEST(Fields, ReadBackWhatWasWritten)
{
    Outer value;
    value.id = RunId::make();
    value.digest = sha256("x");
    value.flag = false;
    value.choice = "";
    value.words = {"a", "", "\xff"};
    value.pairs = {{"b", "1"}, {"a", ""}};
    value.span = std::chrono::seconds(0);
    value.colour = Colour::green;
    value.inner.number = -1;
    value.maybe = Inner();
    const auto text = to_json(fields_to_json(value));
    EXPECT_EQ(read(text).value(), value) << text;
    EXPECT_THAT(text, HasSubstr(R"("choice":"")")) << "empty is not absent";
    EXPECT_THAT(text, HasSubstr(R"("maybe":{})"));
    EXPECT_THAT(text, HasSubstr(R"("inner":{"number":-1})"));
}

TEST(Fields, OfAnotherTypeAreNamed)
{
    const std::pair<const char*, const char*> wrong[] = {
        {R"([])", "'it' must be an object"},
        {R"({"flag": 1})", "'flag' must be true or false"},
        {R"({"words": "a"})", "'words' must be a list of texts"},
        {R"({"words": [1]})", "'words' must be a list of texts"},
        {R"({"pairs": {"a": 1}})", "'pairs.a' must be a text"},
        {R"({"pairs": []})", "'pairs' must be an object of texts"},
        {R"({"span": "5"})", "'span' must be a whole number"},
        {R"({"colour": "blue"})", "'colour' must be one of 'red', 'green'"},
        {R"({"colour": 1})", "'colour' must be one of 'red', 'green'"},
        {R"({"digest": "abc"})", "'digest' must be a digest"},
        {R"({"inner": 1})", "'inner' must be an object"},
        {R"({"inner": {"text": []}})", "'inner.text' must be a text"},
        {R"({"inner": {"number": 3000000000}})", "'inner.number' must be a whole number"},
        {R"({"maybe": {"number": 1.5}})", "'maybe.number' must be a whole number"},
    };
    for (const auto& [text, message] : wrong) {
        const auto out = read(text);
        ASSERT_FALSE(out) << text;
        EXPECT_EQ(out.error().message(), message);
        EXPECT_EQ(out.error().kind(), ErrorKind::invalid_argument);
    }
    EXPECT_FALSE(read(R"({"id": "no id"})"));
}

}  // namespace
}  // namespace ponk
