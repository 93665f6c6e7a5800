// SPDX-License-Identifier: Apache-2.0
#include "secrets/redaction_forms.hpp"
#include "secrets/redactor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ponk::secrets {
namespace {

using Values = std::vector<std::string>;

// The definition, written as simply as possible: mark every byte of every occurrence. Shows the
// first `count` bytes.
std::string
by_definition(const Values& values, const std::string& text, std::size_t count = std::string::npos)
{
    std::vector<bool> marked(text.size());
    for (const auto& value : values) {
        for (const auto& form : redaction_forms(value)) {
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

// Few letters, so that values occur, overlap and nearly occur all the time.
rc::Gen<std::string> dense_text()
{
    return rc::gen::container<std::string>(rc::gen::element('a', 'b', '%', ' '));
}

rc::Gen<Values> dense_values()
{
    return rc::gen::container<Values>(rc::gen::scale(0.1, dense_text()));
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
    EXPECT_EQ(redact({"hunter2"}, "aHVudGVyMnl6"), "***nl6");
    EXPECT_EQ(redact({"hunter2"}, "eGh1bnRlcjJ5eg=="), "eG***J5eg==");
    EXPECT_EQ(redact({"hunter2"}, "eHhodW50ZXIyeXo="), "eHh***eXo=");
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

TEST(Redactor, ShowsATextFromTheMiddleWithoutItsLead)
{
    const std::string text = "one hunter2 two";
    const auto patterns = std::make_shared<const RedactionPatterns>(Values{"hunter2"});
    for (std::size_t from = 0; from <= text.size(); ++from) {
        const auto lead = std::min(from, patterns->lead());
        Redactor redactor(patterns, lead);

        std::string out(redactor.feed(std::string_view(text).substr(from - lead)));
        out += redactor.finish();

        EXPECT_EQ(out.find("unter"), std::string::npos) << from;
        const auto expected = from <= 4   ? text.substr(from, 4 - from) + "*** two"
                              : from < 11 ? "*** two"
                                          : text.substr(from);
        EXPECT_EQ(out, expected) << from;
    }
}

RC_GTEST_PROP(RedactorProperty, AnyCutGivesWhatTheDefinitionSays, ())
{
    const auto values = *dense_values();
    const auto text = *dense_text();
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7));

    RC_ASSERT(in_pieces(values, text, sizes) == by_definition(values, text));
}

RC_GTEST_PROP(RedactorProperty, NeverShowsAnyFormOfAValue, ())
{
    const auto value = *rc::gen::suchThat(rc::gen::arbitrary<std::string>(), [](const auto& text) {
        return text.size() >= shortest_redacted && text.find('*') == std::string::npos;
    });
    const auto before = *rc::gen::arbitrary<std::string>();
    const auto after = *rc::gen::arbitrary<std::string>();
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
    const auto forms = redaction_forms(value);
    const auto form = *rc::gen::elementOf(forms);

    const auto out = in_pieces({value}, before + form + after, sizes);

    for (const auto& hidden : forms)
        RC_ASSERT(out.find(hidden) == std::string::npos);
}

// How many of the last bytes begin a form that is not complete yet.
std::size_t open_end(const Values& values, std::string_view text)
{
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        const auto end = text.substr(begin);
        for (const auto& value : values) {
            for (const auto& form : redaction_forms(value)) {
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

}  // namespace
}  // namespace ponk::secrets
