// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/recent_info.hpp"
#include "net/server.hpp"
#include "os/socket.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace ponk::executor::docker {
namespace {

using namespace std::chrono_literals;

TEST(RecentInfo, AnEngineIsAskedOnceForRunsInARow)
{
    const os::TestFolder folder;
    std::atomic<int> asked{0};
    const net::Server engine(
        *os::listen_unix(folder.path() / "s"), [&asked](const net::Request& request) {
            asked += request.path.back() == "info" ? 1 : 0;
            return net::json_response(
                JsonObject{{"ApiVersion", "1.41"}, {"MemTotal", 7}, {"MemoryLimit", true}});
        });
    RecentInfo recent;
    for (int i = 0; i < 3; ++i) {
        const auto connected = dockerapi::Engine::connect(folder.path() / "s", after(10s));
        ASSERT_TRUE(connected) << connected.error().message();
        EXPECT_EQ(recent.of(*connected, {}).value().memory, 7);
    }
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace ponk::executor::docker
