// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "secrets/redactor.hpp"
#include "secrets/secret_pieces.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ponk::secrets {
namespace {

using Values = std::vector<std::string>;

// The definition for a text in which nothing is escaped or encoded, written as simply as possible:
// mark every byte of every occurrence. Shows the first `count` bytes.
std::string
by_definition(const Values& values, const std::string& text, std::size_t count = std::string::npos)
{
    std::vector<bool> marked(text.size());
    for (const auto& value : values) {
        for (const auto& form : pieces_of(value)) {
            for (auto at = text.find(form); at != std::string::npos; at = text.find(form, at + 1))
                std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(at), form.size(), true);
        }
    }
    std::string out;
    for (std::size_t i = 0; i < std::min(text.size(), count); ++i) {
        if (!marked[i]) out += text[i];
        if (marked[i] && (i == 0 || !marked[i - 1])) out += Redactor::mask;
    }
    return out;
}

std::string in_pieces(const Values& values, const std::string& text, const std::vector<int>& sizes)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(values));
    std::string out;
    std::string_view rest = text;
    for (const int size : sizes) {
        const auto piece = rest.substr(0, static_cast<std::size_t>(size));
        out += redactor.feed(piece);
        rest.remove_prefix(piece.size());
    }
    out += redactor.feed(rest);
    out += redactor.finish();
    return out;
}

// Few letters, so that values occur, overlap and nearly occur all the time. With these no value's
// base64 or hex begins like another value.
rc::Gen<std::string> dense_text()
{
    return rc::gen::container<std::string>(rc::gen::element('a', 'b', 'z', ' '));
}

rc::Gen<Values> dense_values()
{
    return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, 4), [](std::size_t count) {
        return rc::gen::container<Values>(count, rc::gen::scale(0.1, dense_text()));
    });
}

TEST(Redactor, HidesValuesAndLeavesTheRest)
{
    EXPECT_EQ(redact({"hunter2"}, "user=ann password=hunter2 ok\n"), "user=ann password=*** ok\n");
    EXPECT_EQ(redact({"hunter2"}, "hunter hunter1 hunter22"), "hunter hunter1 ***2");
    EXPECT_EQ(redact({"hunter2", "swordfish"}, "swordfishhunter2"), "***");
}

TEST(Redactor, HidesBase64WhereverTheValueStands)
{
    // What Python's base64 says of "x" * n + "hunter2" + "yz".
    EXPECT_EQ(redact({"hunter2"}, "aHVudGVyMnl6"), "***l6");
    EXPECT_EQ(redact({"hunter2"}, "eGh1bnRlcjJ5eg=="), "e***5eg==");
    EXPECT_EQ(redact({"hunter2"}, "eHhodW50ZXIyeXo="), "eH***eXo=");
    // The whole value, encoded alone.
    EXPECT_EQ(redact({"hunter2"}, "Authorization: Basic aHVudGVyMg=="),
              "Authorization: Basic ***==");
}

TEST(Redactor, HidesBothBase64Alphabets)
{
    const std::string value = "\xfb\xff\xfe\xfb\xff\xfe";

    EXPECT_EQ(redact({value}, "+//++//+"), "***");
    EXPECT_EQ(redact({value}, "-__--__-"), "***");
}

TEST(Redactor, HidesPercentEncodedForms)
{
    const Values values{"p@ss w/rd"};

    EXPECT_EQ(redact(values, "GET /?q=p%40ss%20w%2Frd"), "GET /?q=***");
    EXPECT_EQ(redact(values, "GET /?q=p%40ss%20w%2frd"), "GET /?q=***");
    EXPECT_EQ(redact(values, "q=p%40ss+w%2Frd&x=1"), "q=***&x=1");
    EXPECT_EQ(redact(values, "q=p%40ss%20w/rd"), "q=***");
}

TEST(Redactor, DoesNotLookForVeryShortValues)
{
    EXPECT_EQ(redact({"abc", ""}, "abcabc"), "abcabc");
    EXPECT_EQ(redact({"abcd"}, "abcd"), "***");
}

TEST(Redactor, GivesBackTheSameBytesWithoutValues)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(Values{}));
    const std::string text = "some bytes";

    const auto out = redactor.feed(text);

    EXPECT_EQ(out.data(), text.data());
    EXPECT_EQ(out.size(), text.size());
    EXPECT_EQ(redactor.finish(), "");
}

TEST(Redactor, HoldsBackOnlyWhatMayBecomeAValue)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(Values{"hunter2"}));

    EXPECT_EQ(redactor.feed("loss: 0.3 hun"), "loss: 0.3 ");
    EXPECT_EQ(redactor.feed("ger\n"), "hunger\n");
    EXPECT_EQ(redactor.feed("hunter"), "");
    EXPECT_EQ(redactor.feed("2"), "***");
    EXPECT_EQ(redactor.feed("hunter"), "");
    EXPECT_EQ(redactor.finish(), "hunter");
}

TEST(Redactor, HidesBase64ThatIsBrokenIntoLines)
{
    const Values values{"correct horse battery"};  // Y29ycmVjdCBob3JzZSBiYXR0ZXJ5
    for (const std::string line_break : {"\n", "\r\n", "\\n", "\\r\\n", "%0A", "\n    ", "\n\t"}) {
        const auto text = "Y29ycmVjdCBob3" + line_break + "JzZSBiYXR0ZXJ5";
        EXPECT_EQ(redact(values, text + "\nok\n"), "***\nok\n") << text;
    }
    EXPECT_EQ(redact(values, "Y2\n9y\ncm\nVj\ndC\nBob3JzZSBiYXR0ZXJ5="), "***=");
}

TEST(Redactor, HidesHex)
{
    const Values values{"hunter2\xff"};
    for (const auto* text : {"68756e74657232ff",
                             "68756E74657232FF",
                             "68:75:6e:74:65:72:32:ff",
                             "68 75 6E 74 65 72 32 FF",
                             "68756e74\n657232ff",
                             "68, 0x75, 0x6e, 0x74, 0x65, 0x72, 0x32, 0xff",
                             "68-75-6e-74-65-72-32-ff"})
        EXPECT_EQ(redact(values, fmt::format("[{}]", text)), "[***]") << text;
}

TEST(Redactor, HidesEscapedForms)
{
    // What Python's repr, ascii, json.dumps and shlex.quote, and a shell's printf %q say of it.
    const Values values{"pa\"ss\\w'rd\n\xc3\xa9\xf0\x9f\x94\x91$"};
    for (const auto* text : {R"(pa"ss\w\'rd\né🔑$)",
                             R"(pa"ss\\w\'rd\n\xe9\U0001f511$)",
                             R"(pa\"ss\\w'rd\n\u00e9\ud83d\udd11$)",
                             R"(pa\"ss\\w'rd\né🔑$)",
                             R"(pa\\\"ss\\\\w'rd\\n\\u00e9\\ud83d\\udd11$)",
                             R"(pa"ss\\w\'rd\n\xc3\xa9\xf0\x9f\x94\x91$)",
                             R"(pa\"ss\\w\'rd\n\303\251\360\237\224\221\$)",
                             R"(pa\u0022ss\u005Cw\u0027rd\u000A\u00E9\uD83D\uDD11\u0024)",
                             R"(pa&quot;ss\w&#39;rd&#10;&#233;&#x1F511;$)"})
        EXPECT_EQ(redact(values, fmt::format("<{}>", text)), "<***>") << text;
    EXPECT_EQ(redact({"it's me"}, R"(x='it'"'"'s me')"), "x='***'");
    EXPECT_EQ(redact({"it's me"}, R"(x='it'\''s me')"), "x='***'");
    EXPECT_EQ(redact({"it's me"}, R"(x=it\'s\ me;)"), "x=***;");
}

TEST(Redactor, HidesWhatSurroundingBlanksDoNotChange)
{
    EXPECT_EQ(redact({"hunter2\n"}, "password hunter2.\n"), "password ***.\n");
}

TEST(Redactor, HidesEachLineAndEachTextOfJson)
{
    const std::string key = "-----BEGIN KEY-----\nAAAABBBBCCCC\nDDDDEEEEFFFF\n-----END KEY-----\n";
    EXPECT_EQ(redact({key}, "12:01 AAAABBBBCCCC\n12:02 DDDDEEEEFFFF\n"), "12:01 ***\n12:02 ***\n");
    const std::string json = R"({"user": "ann", "login": {"password": "hunter2hunter2"}})";
    EXPECT_EQ(redact({json}, "ann hunter2hunter2"), "ann ***");
}

TEST(Redactor, HidesALongValueWholeAndHoldsBackLittle)
{
    std::string value;
    for (int i = 0; value.size() < 5000; ++i)
        value += fmt::format("{:x}é", i * 7919);
    const auto patterns = std::make_shared<const RedactionPatterns>(Values{value});
    Redactor redactor(patterns);

    // All but the end that may still grow is decided: the mask is out long before the value ends.
    EXPECT_EQ(redactor.feed("key " + value.substr(0, 2000)), "key ***");
    EXPECT_EQ(redactor.feed(value.substr(2000) + "."), ".");
    EXPECT_EQ(redact({value}, "key " + to_hex(value) + "."), "key ***.");
}

RC_GTEST_PROP(RedactorProperty, AnyCutGivesWhatTheDefinitionSays, ())
{
    const auto values = *dense_values();
    const auto text = *dense_text();
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7));

    RC_ASSERT(in_pieces(values, text, sizes) == by_definition(values, text));
}

// How many of the last bytes begin a form that is not complete yet.
std::size_t open_end(const Values& values, std::string_view text)
{
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        const auto end = text.substr(begin);
        for (const auto& value : values) {
            for (const auto& form : pieces_of(value)) {
                if (form.size() > end.size() && form.starts_with(end)) return end.size();
            }
        }
    }
    return 0;
}

RC_GTEST_PROP(RedactorProperty, EveryHeldByteMayStillBecomeAValue, ())
{
    const auto values = *dense_values();
    const auto text = *dense_text();
    Redactor redactor(std::make_shared<const RedactionPatterns>(values));

    const std::string shown(redactor.feed(text));

    // All of the text that cannot change any more is shown, the first byte of a mask included, even
    // when other bytes of the same mask may belong to something longer and are still held.
    const auto settled = text.size() - open_end(values, text);
    RC_ASSERT(shown == by_definition(values, text, settled));
}

TEST(Redactor, GoesOnFromEveryMomentAtWhichItHoldsNothingBack)
{
    const auto patterns =
        std::make_shared<const RedactionPatterns>(std::vector<std::string>{"hunter2-x", "abcabcd"});
    std::string text;
    for (const char* part :
         {"hunter2-x", "abcabcabcd", " plain ", "hunter2", "-xabcabcd", "aHVudGVyMi14", "abc"}) {
        text += part;
        text += text + "\n";
    }
    text.resize(600);
    Redactor whole(patterns);
    std::string before;
    int resumed = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        before += whole.feed(std::string_view(text).substr(at, 1));
        if (whole.rest() == Redactor::Rest::holding) continue;
        ++resumed;
        Redactor next(patterns);
        next.resume(whole.rest());
        auto out = before + std::string(next.feed(std::string_view(text).substr(at + 1)));
        out += next.finish();
        ASSERT_EQ(out, redact({"hunter2-x", "abcabcd"}, text)) << at;
    }
    EXPECT_GT(resumed, 20);
}

}  // namespace
}  // namespace ponk::secrets
