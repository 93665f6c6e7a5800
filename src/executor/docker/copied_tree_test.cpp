// SPDX-License-Identifier: Apache-2.0
#include "base/synced.hpp"
#include "executor/docker/copied_tree.hpp"
#include "net/server.hpp"
#include "os/socket.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::executor::docker {
namespace {

using namespace std::chrono_literals;

// Who owns each entry of a tar, as "user:group" in octal digits.
std::vector<std::string> owners_in(const std::string& tar)
{
    constexpr std::size_t block = 512;
    std::vector<std::string> owners;
    for (std::size_t at = 0; at + block <= tar.size() && tar[at] != '\0'; at += block) {
        owners.push_back(tar.substr(at + 108, 7) + ":" + tar.substr(at + 116, 7));
        const auto size = std::stoull(tar.substr(at + 124, 11), nullptr, 8);
        at += (size + block - 1) / block * block;
    }
    return owners;
}

// In a rootless engine the container's root is the user: what belonged to the user's own number
// would be a stranger's there.
TEST(CopiedTree, BelongsToWhoRunsTheContainer)
{
    const os::TestFolder folder;
    const RunDirectory directory(folder.path() / "run");
    ASSERT_TRUE(os::make_directories(directory.work() / "src"));
    ASSERT_TRUE(os::replace_file(directory.work() / "src/train.py", "print(1)\n"));
    Synced<std::string> sent;
    const net::Server server(*os::listen_unix(folder.path() / "s"),
                             [&sent](const net::Request& request) {
                                 if (request.method == "PUT") *sent.lock() = request.body;
                                 return net::json_response(JsonObject{{"ApiVersion", "1.41"}});
                             });
    const auto engine = dockerapi::Engine::connect(folder.path() / "s", after(10s)).value();
    for (const auto& [user, owner] :
         {std::pair("0:0", "0000000:0000000"), std::pair("1000:100", "0001750:0000144")}) {
        dockerapi::ContainerSpec container;
        container.name = "c";
        container.user = user;
        const auto copied = copy_tree_in(engine, container, directory, {});
        ASSERT_TRUE(copied) << copied.error().message();
        EXPECT_EQ(owners_in(*sent.lock()), std::vector<std::string>(3, owner)) << user;
    }
}

}  // namespace
}  // namespace ponk::executor::docker
