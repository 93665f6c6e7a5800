// SPDX-License-Identifier: Apache-2.0
#include "os/identity.hpp"
#include "ssh/connection.hpp"
#include "sshd.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ponk::ssh {
namespace {

using std::chrono::seconds;

class SshConnection : public testing::Test {
protected:
    static void SetUpTestSuite() { server_ = std::make_unique<TestSshd>(); }
    static void TearDownTestSuite() { server_->reset(); }
    void SetUp() override
    {
        server_->reset();
        if (const auto reason = server_->missing(); !reason.empty()) GTEST_SKIP() << reason;
        connection_.emplace(Connection::make(server_->attached(home_.path())).value());
    }
    void TearDown() override
    {
        if (connection_) connection_->close();
    }
    static Deadline soon() { return after(seconds(30)); }
    [[nodiscard]] os::ProcessIdentity master() const
    {
        return find_master(connection_->client()).value_or(os::ProcessIdentity{});
    }

    static inline std::unique_ptr<TestSshd> server_;
    os::TestFolder home_;
    std::optional<Connection> connection_;
};

TEST_F(SshConnection, StartsAProgramWithItsThreeStreams)
{
    auto child = connection_->start("cat; echo oops >&2; exit 7", soon(), {});
    ASSERT_TRUE(child) << child.error().message();

    ASSERT_TRUE(os::write_all(child->in.get(), "there and back"));
    child->in.reset();

    std::string got(64, '\0');
    const auto size = ::read(child->out.get(), got.data(), got.size());
    EXPECT_EQ(got.substr(0, static_cast<std::size_t>(size)), "there and back");
    EXPECT_EQ(child->wait(soon(), {})->status(), 7);
}

TEST_F(SshConnection, RunsAScriptWithArgumentsOfAnyBytes)
{
    const std::string odd = "it's \"odd\" $HOME `x`\n;\\ \xff end";

    const auto output = connection_->run("take; printf '<%s>' \"$value\"; take; printf '<%s>' "
                                         "\"$value\"; cat; exit 3",
                                         {odd, ""},
                                         soon(),
                                         {},
                                         "rest");

    ASSERT_TRUE(output) << output.error().message();
    EXPECT_EQ(output->out, "<" + odd + "><>rest");
    EXPECT_EQ(output->exit.status(), 3);
}

TEST_F(SshConnection, SharesOneMasterBetweenCalls)
{
    ASSERT_TRUE(connection_->connect(soon(), {}));
    const auto first = master();

    ASSERT_TRUE(connection_->run("true", {}, soon(), {}));
    ASSERT_TRUE(Connection::make(server_->access(home_.path()))->run("true", {}, soon(), {}));

    EXPECT_GT(first.pid, 1);
    EXPECT_EQ(master(), first);
}

TEST_F(SshConnection, ManyThreadsOpenOneMaster)
{
    std::vector<std::jthread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&] {
            const auto output = connection_->run("echo here", {}, soon(), {});
            if (output && output->out == "here\n") ++good;
        });
    }
    threads.clear();

    EXPECT_EQ(good, 6);
}

TEST_F(SshConnection, ComesBackAfterItsMasterWasKilled)
{
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(connection_->connect(soon(), {}));
        ASSERT_GT(master().pid, 1);
        ::kill(master().pid, SIGKILL);

        const auto output = connection_->run("echo again", {}, soon(), {});

        ASSERT_TRUE(output) << output.error().message();
        EXPECT_EQ(output->out, "again\n");
    }
}

TEST_F(SshConnection, AMasterThatHangsIsReplaced)
{
    ASSERT_TRUE(connection_->connect(soon(), {}));
    const auto stuck = master();
    ASSERT_GT(stuck.pid, 1);
    ::kill(stuck.pid, SIGSTOP);

    const auto output = connection_->run("echo again", {}, soon(), {});

    ASSERT_TRUE(output) << output.error().message();
    EXPECT_EQ(output->out, "again\n");
    EXPECT_FALSE(os::is_alive(stuck));
}

TEST_F(SshConnection, AServerThatHangsIsATimeoutNotAWait)
{
    ASSERT_TRUE(connection_->connect(soon(), {}));
    server_->signal_all(SIGSTOP);

    const auto child = connection_->start("true", after(std::chrono::milliseconds(700)), {});

    server_->signal_all(SIGCONT);
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().kind(), ErrorKind::timeout);
    EXPECT_FALSE(child.error().hint().empty());
}

TEST_F(SshConnection, StopsWhenAsked)
{
    ASSERT_TRUE(connection_->connect(soon(), {}));
    std::stop_source source;
    std::jthread stopper([&] {
        os::sleep_for(std::chrono::milliseconds(200), {});
        source.request_stop();
    });

    const auto output = connection_->run("sleep 60", {}, soon(), source.get_token());

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().kind(), ErrorKind::cancelled);
}

TEST_F(SshConnection, UnknownAndChangedHostKeysAreToldApart)
{
    const auto& folder = connection_->client().folder();
    ASSERT_TRUE(os::replace_file(folder.known_hosts(), ""));

    const auto unknown = connection_->connect(soon(), {});

    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind(), ErrorKind::conflict);
    EXPECT_NE(unknown.error().message().find("not known yet"), std::string::npos);
    ASSERT_TRUE(
        os::replace_file(folder.known_hosts(),
                         fmt::format("[127.0.0.1]:{} {}",
                                     server_->port(),
                                     os::read_file(server_->path() / "client.pub").value())));

    const auto changed = connection_->connect(soon(), {});

    ASSERT_FALSE(changed);
    EXPECT_NE(changed.error().message().find("not the one that is known"), std::string::npos);
}

TEST_F(SshConnection, AClosedPortIsRefused)
{
    server_->stop();

    const auto refused = connection_->connect(soon(), {});

    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("refuses connections on port"), std::string::npos);
}

TEST_F(SshConnection, AKeyThatTheBoxDoesNotKnowIsDenied)
{
    ASSERT_TRUE(os::replace_file(server_->path() / "authorized", ""));

    const auto denied = connection_->connect(soon(), {});

    ASSERT_FALSE(denied);
    EXPECT_NE(denied.error().message().find("refused the login"), std::string::npos);
}

}  // namespace
}  // namespace ponk::ssh
