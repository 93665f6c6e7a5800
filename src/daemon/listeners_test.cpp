// SPDX-License-Identifier: Apache-2.0
#include "daemon/listeners.hpp"
#include "os/tcp_socket.hpp"

#include <gtest/gtest.h>

namespace ponk::daemon {
namespace {

class Listening : public testing::Test {
protected:
    Listening() : home_(*os::make_temporary_directory(testing::TempDir(), "ponk-listen-")) {}
    ~Listening() override { static_cast<void>(os::remove_tree(home_)); }

    std::vector<net::Listener> listen(api::Endpoints& endpoints)
    {
        return listen_on_loopback(
            endpoints, home_, [this](const std::string& line) { told_ += line + "\n"; });
    }

    os::Path home_;
    std::string told_;
};

TEST_F(Listening, AHomeKeepsItsPort)
{
    std::string first;
    {
        api::Endpoints endpoints(home_);
        const auto listeners = listen(endpoints);
        ASSERT_FALSE(listeners.empty());
        for (const auto& listener : listeners)
            EXPECT_EQ(listener.listener_kind, net::ListenerKind::loopback);
        first = endpoints.tracking_uri;
    }
    api::Endpoints endpoints(home_);
    const auto listeners = listen(endpoints);
    EXPECT_EQ(endpoints.tracking_uri, first);
    EXPECT_TRUE(first.starts_with("https://127.0.0.1:2")) << first;
    EXPECT_EQ(told_, "");
}

TEST_F(Listening, APortThatSomebodyElseHasIsLeftToThem)
{
    api::Endpoints endpoints(home_);
    const auto theirs = *os::listen_tcp(os::loopback_address(AF_INET, 0));
    const auto taken = *os::port_of(theirs.get());
    ASSERT_TRUE(endpoints.remember_port(taken));

    const auto listeners = listen(endpoints);

    ASSERT_FALSE(listeners.empty());
    EXPECT_NE(endpoints.note().port, taken);
    EXPECT_EQ(api::Endpoints(home_).note().port, endpoints.note().port);
    EXPECT_NE(told_.find("another port is chosen"), std::string::npos);
}

TEST_F(Listening, WithoutTlsOnlyThisMachineIsServedUnlessToldSo)
{
    api::Endpoints endpoints(home_);
    ServeOptions options{.host = "0.0.0.0", .port = 0};
    const auto refused = listen_as_told(options, endpoints);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().hint().find("--tls-cert"), std::string::npos);
    EXPECT_TRUE(endpoints.addresses.empty());

    options.host = "127.0.0.1";
    const auto own = listen_as_told(options, endpoints);
    ASSERT_TRUE(own) << own.error().message();
    EXPECT_EQ(own->front().listener_kind, net::ListenerKind::loopback);
    ASSERT_EQ(endpoints.addresses.size(), 1U);
    EXPECT_FALSE(endpoints.addresses[0].ends_with(":0")) << endpoints.addresses[0];

    options.certificate = home_ / "none.pem";
    options.key = home_ / "none.key";
    const auto without = listen_as_told(options, endpoints);
    ASSERT_FALSE(without);
    EXPECT_NE(without.error().message().find("none.pem"), std::string::npos);
}

}  // namespace
}  // namespace ponk::daemon
