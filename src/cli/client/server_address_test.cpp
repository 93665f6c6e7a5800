// SPDX-License-Identifier: Apache-2.0
#include "cli/client/server_address.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

using Security = net::ServerPlace::Security;

class ServerAddressTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        for (const char* name : {"PONK_SERVER", "PONK_SERVER_INSECURE", "PONK_SERVER_CERT"})
            ::unsetenv(name);
    }
    void TearDown() override { SetUp(); }
};

TEST_F(ServerAddressTest, AnAddressHasASchemeAHostAndPerhapsAPort)
{
    const auto server = find_server("https://gpu.example:5000/").value().value();
    EXPECT_EQ(server.url, "https://gpu.example:5000");
    EXPECT_EQ(server.origin, "--server");
    EXPECT_EQ(server.place.host, "gpu.example");
    EXPECT_EQ(server.place.port, 5000);
    EXPECT_EQ(server.place.security, Security::tls);
    EXPECT_EQ(find_server("https://gpu.example").value()->place.port, 443);
    const auto six = find_server("http://[::1]:80").value().value();
    EXPECT_EQ(six.place.host, "::1");
    EXPECT_EQ(six.url, "http://[::1]:80");
    EXPECT_EQ(six.place.security, Security::plain_on_loopback);
}

TEST_F(ServerAddressTest, TheOptionComesBeforeTheVariableAndHereIsThisMachine)
{
    EXPECT_FALSE(find_server(std::nullopt).value());
    ::setenv("PONK_SERVER", "https://a.example", 1);
    EXPECT_EQ(find_server(std::nullopt).value()->origin, "PONK_SERVER");
    EXPECT_EQ(find_server("https://b.example").value()->place.host, "b.example");
    EXPECT_FALSE(find_server("here").value());
    ::setenv("PONK_SERVER", "here", 1);
    EXPECT_FALSE(find_server(std::nullopt).value());
}

TEST_F(ServerAddressTest, PlainHttpElsewhereNeedsASwitch)
{
    ::setenv("PONK_SERVER_INSECURE", "1", 1);
    EXPECT_EQ(find_server("http://gpu.example").value()->place.security, Security::plain);
    EXPECT_EQ(find_server("https://gpu.example").value()->place.security, Security::tls);
}

TEST_F(ServerAddressTest, WhatIsNoAddressIsRefusedAndAPasswordInItIsNotShown)
{
    for (const char* text : {"",
                             "gpu.example:5000",
                             "ftp://a",
                             "https://",
                             "https://a:0",
                             "https://a:70000",
                             "https://a:x",
                             "https://a/path",
                             "https://a?x=1",
                             "https://[::1",
                             "https://[a]x",
                             "https://a b",
                             "https://a\r\nX: y"})
        EXPECT_FALSE(find_server(text)) << text;
    const auto refused = find_server("https://ann:geheim@gpu.example");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message().find("geheim"), std::string::npos);
}

TEST_F(ServerAddressTest, VariablesOfServersAreKnown)
{
    EXPECT_TRUE(is_server_variable("PONK_SERVER=x"));
    EXPECT_TRUE(is_server_variable("PONK_SERVER_TOKEN=x"));
    EXPECT_FALSE(is_server_variable("PONK_SERVERS=x"));
}

}  // namespace
}  // namespace ponk::cli
