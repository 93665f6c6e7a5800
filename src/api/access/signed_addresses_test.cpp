// SPDX-License-Identifier: Apache-2.0
#include "api/access/signed_addresses.hpp"

#include <gtest/gtest.h>

namespace ponk::api {
namespace {

TEST(SignedAddresses, AreForOnePathOneSessionAndAFewMinutes)
{
    const SignedAddresses addresses;
    net::Request request;
    request.method = "GET";
    request.path = {"api", "v1", "runs", "a", "artifact"};
    request.query = {{"path", "outputs/x.png"}};
    const auto text = addresses.sign(request, "abc", 1000, SignedAddresses::Show::frame);
    const auto with = [&](const std::string& value) {
        auto asked = request;
        asked.query.emplace_back("signed", value);
        return asked;
    };
    const auto found = addresses.find(with(text), 999);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->session, "abc");
    EXPECT_EQ(found->show, SignedAddresses::Show::frame);

    EXPECT_FALSE(addresses.find(with(text), 1000));
    EXPECT_FALSE(addresses.find(request, 1));
    EXPECT_FALSE(addresses.find(with("9" + text), 999));
    EXPECT_FALSE(addresses.find(with(text + "0"), 999));
    EXPECT_FALSE(addresses.find(with(""), 999));
    EXPECT_FALSE(addresses.find(with("1000.frame.abc."), 999));
    EXPECT_FALSE(SignedAddresses().find(with(text), 999));
    auto other = with(text);
    other.path[3] = "b";
    EXPECT_FALSE(addresses.find(other, 999));
    other = with(text);
    other.query[0].second = "outputs/y.png";
    EXPECT_FALSE(addresses.find(other, 999));
    other = with(text);
    other.query.emplace_back("offset", "5");
    EXPECT_FALSE(addresses.find(other, 999));
    other = with(text);
    other.method = "POST";
    EXPECT_FALSE(addresses.find(other, 999));
}

}  // namespace
}  // namespace ponk::api
