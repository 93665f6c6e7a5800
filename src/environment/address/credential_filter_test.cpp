// SPDX-License-Identifier: Apache-2.0
#include "environment/address/address.hpp"
#include "environment/address/credential_filter.hpp"

#include <gmock/gmock.h>

namespace ponk::environment {
namespace {

using testing::Contains;

TEST(CredentialFilter, HidesWhatStandsInTheRightPlaceHoweverShortItIs)
{
    EXPECT_EQ(without_credentials("-i https://bob:hush5@pypi.example/simple"),
              "-i https://***@pypi.example/simple");
    EXPECT_EQ(
        without_credentials("https://h.example/x?page=7&sig=abc12#top https://tok3n@h.example"),
        "https://h.example/x?page=7&sig=***#top https://***@h.example");
    EXPECT_EQ(
        without_credentials("https://c.example/t/tk1/main, https://tok:x-oauth-basic@g.example"),
        "https://c.example/t/***/main, https://***@g.example");
}

TEST(CredentialFilter, HidesTheLoginOfAProxyThatHasNoScheme)
{
    EXPECT_EQ(without_credentials("proxy = carl:secretpw77@proxy.local:3128\n"),
              "proxy = ***@proxy.local:3128\n");
    EXPECT_EQ(without_credentials("HTTPS_PROXY=carl:p/w@d@proxy.local"),
              "HTTPS_PROXY=***@proxy.local");
    EXPECT_THAT(credentials_in("proxy = carl:secretpw77@proxy.local:3128"), Contains("secretpw77"));
}

TEST(CredentialFilter, LeavesWhatOnlyLooksAlike)
{
    for (const char* text : {"git+ssh://git@host.example/tool.git and git@host.example:tool.git",
                             "mailto:ann@x.example, a@b.example",
                             "image python:3.11@sha256:0123456789abcdef0123456789abcdef",
                             "f = lambda x:w@x",
                             "https://h.example/x?page=seventeen"})
        EXPECT_EQ(without_credentials(text), text);
}

TEST(CredentialFilter, SeesEveryAddressOfAListWithoutBlanksAndThoseInsideQueries)
{
    EXPECT_EQ(
        without_credentials("https://a.example/x,https://u:p1@b.example,https://c:d@e.example"),
        "https://a.example/x,https://***@b.example,https://***@e.example");
    EXPECT_EQ(without_credentials("https://a.example/?next=https://u:p1@b.example/"),
              "https://a.example/?next=https://***@b.example/");
}

TEST(CredentialFilter, SeesTheWordsOfEachQueryInAnother)
{
    EXPECT_EQ(without_credentials("https://a.example/?sig=k1&next=https://b.example/?sig=k2&u="
                                  "https://c.example/?token=k3&x=1&key=k4#sig=5 "
                                  "https://d.example/?key=k6"),
              "https://a.example/?sig=***&next=https://b.example/?sig=***&u="
              "https://c.example/?token=***&x=1&key=***#sig=5 https://d.example/?key=***");
}

TEST(CredentialFilter, ALineOfProgressIsALineToo)
{
    EXPECT_EQ(without_credentials("fetch proxy.py 10%\rjoe:x@home"),
              "fetch proxy.py 10%\rjoe:x@home");
    EXPECT_EQ(without_credentials("fetch 10%\rproxy: joe:x@home"), "fetch 10%\rproxy: ***@home");
}

// Whoever compares each byte with all others would be at it for hours.
TEST(CredentialFilter, TextsMadeToKeepItBusyDoNot)
{
    for (const std::string piece : {"a:@", "a:b@c", "x://", "://?sig=1&", "://?", "://x/t/"}) {
        std::string text;
        while (text.size() < (256 << 10))
            text += piece;
        EXPECT_LE(without_credentials(text).size(), text.size() + text.size() / 2) << piece;
    }
}

TEST(CredentialFilter, TheResultDoesNotDependOnHowTheTextWasCut)
{
    const std::string text = "one https://bob:hush5@h.example/a?sig=abc12\n\n" +
                             std::string(200'000, 'x') + " https://u:p1@h.example " +
                             "proxy=carl:pw@proxy.local:3128";
    const auto whole = without_credentials(text);
    for (const std::size_t piece : {1'001UL, 65'536UL, text.size()}) {
        CredentialFilter filter;
        std::string out;
        for (std::size_t at = 0; at < text.size(); at += piece)
            out += filter.feed(std::string_view(text).substr(at, piece));
        out += filter.finish();
        EXPECT_EQ(out, whole) << piece;
    }
    EXPECT_EQ(whole.find("p1"), std::string::npos);
}

}  // namespace
}  // namespace ponk::environment
