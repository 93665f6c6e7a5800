// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"
#include "base/json.hpp"
#include "dockerapi/registry.hpp"
#include "os/file.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace ponk::dockerapi {
namespace {

TEST(Registry, IsTheFirstPartThatLooksLikeAHost)
{
    const std::pair<const char*, const char*> rows[] = {
        {"python", "docker.io"},
        {"microsoft/mmlspark:plus-0.9.9", "docker.io"},
        {"localhost/x", "localhost"},
        {"gpu-host:5000/x:1", "gpu-host:5000"},
        {"registry.example.org/team/x@sha256:00", "registry.example.org"}};
    for (const auto& [image, registry] : rows)
        EXPECT_EQ(registry_of(image), registry) << image;
}

class Logins : public testing::Test {
protected:
    void write(const std::string& settings)
    {
        ASSERT_TRUE(os::replace_file(folder_.path() / "config.json", settings));
    }
    std::optional<Login> find(const std::string& registry)
    {
        const auto found = find_login(registry,
                                      {"DOCKER_CONFIG=" + folder_.path().string(),
                                       "PATH=" + folder_.path().string() + ":/usr/bin:/bin"},
                                      {});
        EXPECT_TRUE(found) << found.error().message();
        return found.value_or(std::nullopt);
    }
    os::TestFolder folder_;
};

TEST_F(Logins, NoSettingsMeanNoLogin)
{
    EXPECT_FALSE(find("docker.io"));
}

TEST_F(Logins, AreReadFromTheSettings)
{
    const std::string hub = "docker.io";
    write(
        R"({"auths": {"https://index.)" + hub + R"(/v1/": {"auth": ")" + to_base64("ann:pa:ss") +
        R"("}, "https://reg.example.org/v2/": {"username": "bob", "password": "x"}, "empty.example.org": {}}})");

    const auto login = find(hub);
    ASSERT_TRUE(login);
    EXPECT_EQ(login->username, "ann");
    EXPECT_EQ(login->password, "pa:ss");
    const auto other = find("reg.example.org");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->username, "bob");
    EXPECT_FALSE(find("empty.example.org"));
    EXPECT_FALSE(find("elsewhere.example.org"));
}

TEST_F(Logins, AHelperIsAskedFirst)
{
    const auto helper = folder_.path() / "docker-credential-mine";
    ASSERT_TRUE(os::replace_file(
        helper,
        "#!/bin/sh\nread server\necho \"{\\\"Username\\\":\\\"<token>\\\",\\\"Secret\\\":\\\"for "
        "$server\\\"}\"\n"));
    ASSERT_EQ(::chmod(helper.c_str(), 0700), 0);
    write(R"({"credHelpers": {"reg.example.org": "mine"}})");

    const auto login = find("reg.example.org");

    ASSERT_TRUE(login);
    EXPECT_EQ(login->identity_token, "for reg.example.org");
    const auto header = parse_json(from_base64(header_of(*login)).value_or("")).value();
    EXPECT_EQ(header.text("identitytoken"), "for reg.example.org");
    EXPECT_TRUE(header["password"].is_null());
}

}  // namespace
}  // namespace ponk::dockerapi
