// SPDX-License-Identifier: Apache-2.0
#include "os/socket.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace ponk::os {
namespace {

TEST(Socket, TellsWhoListensEvenWhenNobodyAnswers)
{
    const TestFolder folder;
    const auto path = folder.path() / "s";
    const auto listener = listen_unix(path);
    ASSERT_TRUE(listener) << listener.error().message();

    EXPECT_EQ(listening_process(path).value_or(0), ::getpid());
    EXPECT_FALSE(listening_process(folder.path() / "absent"));
}

TEST(Socket, WorksBehindAPathThatIsTooLongForTheKernel)
{
    const TestFolder folder;
    const auto deep = folder.path() / std::string(120, 'd');
    ASSERT_TRUE(make_directories(deep));
    const auto listener = listen_unix(deep / "s");

    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_TRUE(connect_unix(deep / "s"));
}

}  // namespace
}  // namespace ponk::os
