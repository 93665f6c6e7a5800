// SPDX-License-Identifier: Apache-2.0
#include "api/access/tokens.hpp"
#include "base/time.hpp"
#include "base/work_count.hpp"
#include "os/golden_test_support.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::api {
namespace {

class TokenFiles : public testing::Test {
protected:
    TokenFiles() : home_(*os::make_temporary_directory(testing::TempDir(), "ponk-tokens-")) {}
    ~TokenFiles() override { static_cast<void>(os::remove_tree(home_)); }

    std::unique_ptr<Tokens> open() { return std::move(*Tokens::open(home_)); }
    static mode_t mode_of(const os::Path& path)
    {
        struct stat info {};
        return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0;
    }

    os::Path home_;
};

TEST_F(TokenFiles, ATokenIsToldOnceAndKnownFromThenOn)
{
    const auto text = *open()->create("ci", Role::read, std::nullopt);

    EXPECT_EQ(text.size(), 5U + 64U);
    EXPECT_EQ(open()->role_of(text), Role::read);
    EXPECT_EQ(os::read_file(home_ / "tokens")->find(text), std::string::npos);
    EXPECT_EQ(mode_of(home_ / "tokens"), 0600U);
    EXPECT_FALSE(open()->role_of(text + "x"));
    EXPECT_FALSE(open()->role_of(""));
    EXPECT_FALSE(open()->role_of(open()->list()[0].digest.text()));
}

TEST_F(TokenFiles, RemovedAndExpiredOnesAreNoTokens)
{
    const auto tokens = open();
    const auto first = *tokens->create("first", Role::administer, std::nullopt);
    const auto second = *tokens->create("second", Role::write, wall_milliseconds() + 30);
    EXPECT_EQ(tokens->create("first", Role::read, std::nullopt).error().kind(),
              ErrorKind::conflict);

    ASSERT_TRUE(tokens->remove("first"));
    while (tokens->role_of(second))
        ::usleep(1000);

    EXPECT_FALSE(tokens->role_of(first));
    EXPECT_EQ(tokens->remove("first").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(tokens->list().size(), 1U);
    EXPECT_FALSE(tokens->create("late", Role::read, wall_milliseconds() - 1));
}

TEST_F(TokenFiles, ATokenThatWasSeenIsNotHashedAgain)
{
    const auto tokens = open();
    std::vector<std::string> texts;
    for (const char* name : {"a", "b", "c", "d"})
        texts.push_back(*tokens->create(name, Role::write, std::nullopt));
    for (const auto& text : texts)
        ASSERT_TRUE(tokens->find(text));

    const WorkCount work;
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(tokens->find(texts[static_cast<std::size_t>(i) % 4])->role, Role::write);
    EXPECT_EQ(work.steps(), 0U);
    // A wrong one is never remembered, and a removed one is forgotten.
    EXPECT_FALSE(tokens->find(texts[0].substr(1) + "x"));
    EXPECT_FALSE(tokens->find(texts[0].substr(1) + "x"));
    EXPECT_EQ(work.steps(), 2 * texts[0].size());
    ASSERT_TRUE(tokens->remove("a"));
    EXPECT_FALSE(tokens->find(texts[0]));
    EXPECT_EQ(tokens->find(texts[1])->name, "b");
}

TEST_F(TokenFiles, NamesAreThoseThatFitEverywhere)
{
    const auto tokens = open();
    for (const char* name : {"", ".", "-x", "a b", "a/b", "local", "\xc3\xa9"})
        EXPECT_EQ(tokens->create(name, Role::read, std::nullopt).error().kind(),
                  ErrorKind::invalid_argument)
            << name;
    EXPECT_TRUE(tokens->create(std::string(64, 'a'), Role::read, std::nullopt));
    EXPECT_FALSE(tokens->create(std::string(65, 'a'), Role::read, std::nullopt));
}

TEST_F(TokenFiles, TheLocalOneStaysUntilItIsRemoved)
{
    const auto text = *open()->local_token();
    EXPECT_EQ(*open()->local_token(), text);
    EXPECT_EQ(open()->role_of(text), Role::promote);
    EXPECT_EQ(mode_of(home_ / "token"), 0600U);

    ASSERT_TRUE(open()->remove("local"));
    EXPECT_FALSE(open()->role_of(text));
    const auto next = *open()->local_token();
    EXPECT_NE(next, text);
    // Its text is lost: the one before must not work any longer.
    ::unlink((home_ / "token").c_str());
    EXPECT_NE(*open()->local_token(), next);
    EXPECT_FALSE(open()->role_of(next));
    EXPECT_EQ(open()->list().size(), 1U);
}

TEST_F(TokenFiles, TheLocalOneOfAnOlderVersionMayPromote)
{
    const auto text = *open()->local_token();
    auto list = open()->list();
    list[0].role = Role::write;
    ASSERT_TRUE(os::replace_file(home_ / "tokens", tokens_text(list)));
    EXPECT_EQ(*open()->local_token(), text);
    EXPECT_EQ(open()->role_of(text), Role::promote);
}

TEST_F(TokenFiles, ADamagedListLetsNobodyInAndIsKept)
{
    const auto text = *open()->create("ci", Role::read, std::nullopt);
    const auto good = *os::read_file(home_ / "tokens");
    ASSERT_TRUE(os::replace_file(home_ / "tokens", good.substr(0, good.size() / 2)));

    const auto tokens = open();

    EXPECT_FALSE(tokens->role_of(text));
    EXPECT_NE(tokens->notice().find("tokens.damaged-"), std::string::npos);
    EXPECT_TRUE(tokens->create("ci", Role::read, std::nullopt));
    EXPECT_EQ(open()->notice(), "");
}

TEST(TokenFormat, IsAsDocumented)
{
    std::vector<Token> tokens(2);
    tokens[0] = {"local", Role::write, sha256("ponk_0"), 1'700'000'000'000};
    tokens[1] = {"ci", Role::read, sha256("ponk_1"), 1'700'000'000'123, 1'800'000'000'000};
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/api/tokens.json";
    const auto text = tokens_text(tokens);
    os::expect_golden(golden, text);
    const auto stored = os::read_file(golden).value_or("");
    const auto read = parse_tokens(stored);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(tokens_text(*read), text);
    for (const char* wrong : {"",
                              "{}",
                              R"({"version":2,"tokens":[]})",
                              R"({"version":1,"tokens":[{}]})",
                              R"({"version":1,"tokens":[{"name":"a","role":"root"}]})"})
        EXPECT_FALSE(parse_tokens(wrong)) << wrong;
}

}  // namespace
}  // namespace ponk::api
