// SPDX-License-Identifier: Apache-2.0
// The calls of docs/api/openapi.json are those of the program.
#include "api/api_test_support.hpp"
#include "api/openapi_test_support.hpp"
#include "base/api_version.hpp"

namespace ponk::api {
namespace {

using OpenApi = ApiFixture;

std::string needs(const Json& operation)
{
    if (const auto word = operation.text("x-needs"); !word.empty()) return word;
    const auto& ways = operation["security"];
    if (!ways.is_array()) return "not said";
    if (ways.as_array().empty()) return "open";
    const auto& roles = ways.as_array()[0]["token"];
    return roles.is_array() && roles.as_array().size() == 1 ? roles.as_array()[0].as_string()
                                                            : "not said";
}

std::string word_of(Permission permission)
{
    if (permission == Permission::open) return "open";
    if (permission == Permission::login) return "login";
    if (permission == Permission::owner) return "owner";
    const auto role = static_cast<int>(permission) - static_cast<int>(Permission::read);
    return to_string(static_cast<Role>(role));
}

TEST_F(OpenApi, HasTheRoutesOfTheProgramWithTheirRolesAndNoOthers)
{
    const Contract contract;
    std::set<std::string> served;
    for (const auto& route : routes())
        served.insert(fmt::format(
            "{} {} needs {}", lower(route.method), route.pattern, word_of(route.permission)));
    std::set<std::string> described;
    ASSERT_TRUE(contract["paths"].is_object());
    for (const auto& [path, item] : contract["paths"].as_object()) {
        for (const auto& [method, operation] : item.as_object()) {
            if (method == "parameters") continue;
            described.insert(fmt::format("{} {} needs {}", method, path, needs(operation)));
        }
    }
    EXPECT_EQ(described, served);
}

TEST_F(OpenApi, IsServedAsItIs)
{
    const auto answer = call("GET", {"openapi.json"});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.type, "application/json");
    EXPECT_TRUE(answer.body == Contract::text());  // too long to be shown
    EXPECT_EQ(body(answer)["info"].text("version"), std::to_string(api_version));
}

}  // namespace
}  // namespace ponk::api
