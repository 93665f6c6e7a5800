// SPDX-License-Identifier: Apache-2.0
#include "os/tcp_socket.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>

namespace ponk::os {
namespace {

TEST(TcpSocket, AnAddressIsHeldByOneListener)
{
    const auto first = listen_tcp(loopback_address(AF_INET, 0));
    ASSERT_TRUE(first) << first.error().message();
    const auto port = *port_of(first->get());

    const auto second = listen_tcp(loopback_address(AF_INET, port));

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind(), ErrorKind::conflict);
    EXPECT_NE(second.error().message().find(":" + std::to_string(port)), std::string::npos);
    EXPECT_TRUE(connect_tcp(loopback_address(AF_INET, port)));
}

TEST(TcpSocket, KnowsWhatOnlyThisMachineReaches)
{
    const auto loopback = [](const char* host) {
        const auto found = resolve_tcp(host, 80);
        return found && !found->empty() && found->front().is_loopback();
    };
    for (const char* host : {"127.0.0.1", "127.5.4.3", "::1"})
        EXPECT_TRUE(loopback(host)) << host;
    for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "::2", "::ffff:10.0.0.1"})
        EXPECT_FALSE(loopback(host)) << host;
    EXPECT_FALSE(resolve_tcp("no.such.name.invalid", 80));
}

TEST(TcpSocket, AddressesAreWrittenAsPeopleWriteThem)
{
    EXPECT_EQ(loopback_address(AF_INET, 80).text(), "127.0.0.1:80");
    EXPECT_EQ(loopback_address(AF_INET6, 80).text(), "[::1]:80");
    EXPECT_EQ(address_text(resolve_tcp("::ffff:10.0.0.1", 1)->front().value), "10.0.0.1");
    EXPECT_EQ(address_text({}), "");
}

}  // namespace
}  // namespace ponk::os
