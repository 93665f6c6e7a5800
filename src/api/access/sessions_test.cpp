// SPDX-License-Identifier: Apache-2.0
#include "api/access/sessions.hpp"
#include "base/time.hpp"
#include "os/golden_test_support.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace ponk::api {
namespace {

class SessionFiles : public testing::Test {
protected:
    SessionFiles()
        : home_(*os::make_temporary_directory(testing::TempDir(), "ponk-sessions-")),
          tokens_(std::move(*Tokens::open(home_)))
    {
    }
    ~SessionFiles() override { static_cast<void>(os::remove_tree(home_)); }
    std::unique_ptr<Sessions> open() { return std::move(*Sessions::open(home_, *tokens_)); }

    os::Path home_;
    std::unique_ptr<Tokens> tokens_;
};

TEST_F(SessionFiles, OneOfTheOwnerOutlivesTheDaemonAndItsTextIsNotStored)
{
    const auto made = *open()->create({.token = {}, .peer = "127.0.0.1", .agent = "Firefox\n"});

    const auto sessions = open();
    const auto known = sessions->find(made.text);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->role, Role::administer);
    EXPECT_EQ(known->token, "");
    EXPECT_EQ(known->session.agent.find('\n'), std::string::npos);
    EXPECT_EQ(os::read_file(home_ / "sessions")->find(made.text.substr(13)), std::string::npos);
    struct stat info {};
    ASSERT_EQ(::stat((home_ / "sessions").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_FALSE(sessions->find(made.text + "0"));
    EXPECT_FALSE(sessions->find(""));
    EXPECT_FALSE(sessions->find(made.session.digest.text()));
}

TEST_F(SessionFiles, OneOfATokenHasItsRoleAndEndsWithIt)
{
    const auto reader = *tokens_->create("reader", Role::read, std::nullopt);
    const auto sessions = open();
    const auto made = *sessions->create({.token = reader, .peer = "", .agent = ""});
    EXPECT_EQ(sessions->find(made.text)->role, Role::read);
    EXPECT_EQ(sessions->find(made.text)->token, "reader");
    EXPECT_EQ(sessions->create({.token = "ponk_0", .peer = "", .agent = ""}).error().kind(),
              ErrorKind::not_found);

    ASSERT_TRUE(tokens_->remove("reader"));
    EXPECT_FALSE(sessions->find(made.text));
    // Another token of that name is another one.
    ASSERT_TRUE(tokens_->create("reader", Role::administer, std::nullopt));
    EXPECT_FALSE(sessions->find(made.text));
    EXPECT_TRUE(sessions->list().empty());
}

TEST_F(SessionFiles, AreEndedByTheirId)
{
    const auto sessions = open();
    const auto first = *sessions->create({});
    const auto second = *sessions->create({});
    ASSERT_TRUE(sessions->remove(first.session.id));
    EXPECT_FALSE(sessions->find(first.text));
    EXPECT_TRUE(sessions->find(second.text));
    EXPECT_FALSE(open()->find(first.text));
    EXPECT_EQ(sessions->remove(first.session.id).error().kind(), ErrorKind::not_found);
}

TEST_F(SessionFiles, ManyOfOneTokenPushOutItsOwnOnly)
{
    const auto reader = *tokens_->create("reader", Role::read, std::nullopt);
    const auto sessions = open();
    const auto owners = *sessions->create({});
    for (int i = 0; i < 60; ++i)
        ASSERT_TRUE(sessions->create({.token = reader, .peer = "", .agent = ""}));
    EXPECT_EQ(sessions->list().size(), 51U);
    EXPECT_TRUE(sessions->find(owners.text));
}

TEST_F(SessionFiles, ADamagedListIsSetAside)
{
    ASSERT_TRUE(os::replace_file(home_ / "sessions", "{"));
    const auto sessions = open();
    EXPECT_NE(sessions->notice().find("sessions.damaged-"), std::string::npos);
    EXPECT_TRUE(sessions->list().empty());
    EXPECT_TRUE(sessions->create({}));
}

TEST(SessionFormat, IsAsDocumented)
{
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/api/sessions.json";
    Session owners{.id = "0123456789abcdef",
                   .digest = sha256("a"),
                   .token = {},
                   .created = 1'700'000'000'000,
                   .expires = 1'702'592'000'000,
                   .peer = "127.0.0.1",
                   .agent = "Mozilla/5.0"};
    auto readers = owners;
    readers.id = "fedcba9876543210";
    readers.digest = sha256("b");
    readers.token = sha256("c");
    const auto text = sessions_text({owners, readers});
    os::expect_golden(golden, text);
    EXPECT_EQ(*parse_sessions(text), (std::vector<Session>{owners, readers}));
    for (const char* wrong :
         {"", "{}", R"({"version":2,"sessions":[]})", R"({"version":1,"sessions":[{"id":"a"}]})"})
        EXPECT_FALSE(parse_sessions(wrong)) << wrong;
}

TEST(LoginCodes, AreForOneUseWithinAMinute)
{
    std::int64_t now = 1000;
    LoginCodes codes([&now] { return now; });
    const auto first = codes.make();
    EXPECT_EQ(first.size(), 64U);
    EXPECT_FALSE(codes.take("0" + first.substr(1, 62)));
    EXPECT_TRUE(codes.take(first));
    EXPECT_FALSE(codes.take(first));
    const auto late = codes.make();
    now += LoginCodes::lifetime;
    EXPECT_FALSE(codes.take(late));
    EXPECT_FALSE(codes.take(""));
    const auto oldest = codes.make();
    now += 1;
    for (int i = 0; i < 100; ++i)
        codes.make();
    EXPECT_FALSE(codes.take(oldest));  // a hundred at most
}

TEST(LoginCodes, KeepFewVariablesAndNotForLong)
{
    std::int64_t now = 1000;
    LoginCodes codes([&now] { return now; });
    const auto plain = codes.make();
    std::vector<std::weak_ptr<const PromptRight>> rights;
    std::vector<std::string> made;
    for (int i = 0; i < 5; ++i) {
        now += 1;
        const auto right = std::make_shared<const PromptRight>();
        rights.emplace_back(right);
        made.push_back(codes.make({right}));
    }
    EXPECT_TRUE(rights[0].expired());  // four at most
    EXPECT_FALSE(codes.take(made[0]));
    EXPECT_TRUE(codes.take(made[1]));
    EXPECT_TRUE(codes.take(plain));
    now += LoginCodes::lifetime;
    EXPECT_FALSE(codes.take("another"));
    EXPECT_TRUE(rights[4].expired());
    const auto right = std::make_shared<const PromptRight>();
    codes.make({right});
    now += LoginCodes::lifetime;
    codes.drop_expired();
    EXPECT_EQ(right.use_count(), 1);
}

}  // namespace
}  // namespace ponk::api
