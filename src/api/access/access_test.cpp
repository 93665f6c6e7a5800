// SPDX-License-Identifier: Apache-2.0
#include "api/access/access.hpp"
#include "api/http/error_shape.hpp"
#include "api/http/route_index.hpp"
#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace ponk::api {
namespace {

TEST(Access, OnlyNamesOfLoopbackAreHostsThere)
{
    for (const char* host :
         {"localhost", "LocalHost:5000", "127.0.0.1", "127.0.0.1:23457", "[::1]", "[::1]:80"})
        EXPECT_TRUE(is_loopback_host(host)) << host;
    for (const char* host : {"",
                             "evil.example",
                             "evil.example:80",
                             "localhost.evil.example",
                             "localhost.",
                             "127.0.0.1.evil.example",
                             "127.0.0.2",
                             "::1",
                             "[::2]",
                             "[::1",
                             "[::1]x",
                             ":80",
                             "localhost:",
                             "localhost:x",
                             "localhost:80:80",
                             "localhost:1234567",
                             "user@localhost",
                             "localhost "})
        EXPECT_FALSE(is_loopback_host(host)) << host;
}

TEST(Access, ATokenComesAsBearerOrAsAPassword)
{
    const auto token = [](const std::string& header) {
        net::Request request;
        request.headers = {{"authorization", header}};
        return token_of(request).value_or("none");
    };
    EXPECT_EQ(token("Bearer T"), "T");
    EXPECT_EQ(token("bearer  T "), "T");
    EXPECT_EQ(token("Basic " + to_base64("ann:T:x")), "T:x");
    EXPECT_EQ(token("basic " + to_base64(":T")), "T");
    for (const char* wrong : {"", "T", "Bearer", "Digest T", "Basic !!", "Basic YWJj"})
        EXPECT_EQ(token(wrong), "none") << wrong;
}

TEST(ErrorShape, ClientsOfMlflowGetTheirOwn)
{
    const Error error(ErrorKind::invalid_argument, "wrong", "Do right.");
    for (const char* target : {"/api/2.0/mlflow/runs/create",
                               "/ajax-api/2.0/mlflow/x",
                               "/api/3.0/mlflow/server-info",
                               "/api/2.0/mlflow-artifacts/artifacts/%zz",
                               "//api/2.0/mlflow/runs/get",
                               "/api//2.0///mlflow/runs/get",
                               "http://localhost:1/api/2.0/mlflow/runs/get",
                               "/get-artifact?path=.."}) {
        const auto response = error_answer(target, error, 413);
        EXPECT_EQ(response.status, 413);
        EXPECT_EQ(
            response.body,
            "{\"error_code\":\"INVALID_PARAMETER_VALUE\",\"message\":\"wrong. Do right.\"}\n");
    }
    // What cannot be an address, below the artifacts: the words that clients compare.
    for (const auto* target : {"/api/2.0/mlflow-artifacts/artifacts//etc/passwd",
                               "/ajax-api/2.0/mlflow-artifacts/artifacts/a/%2e%2e/b"})
        EXPECT_EQ(error_answer(target, error, 400).body,
                  "{\"error_code\":\"INVALID_PARAMETER_VALUE\",\"message\":\"Invalid path\"}\n");
    EXPECT_EQ(error_answer("/api/v1/runs", error).body,
              "{\"error\":{\"kind\":\"invalid_argument\",\"message\":\"wrong\",\"hint\":\"Do "
              "right.\"}}\n");
    const Error busy(ErrorKind::unavailable, "busy");
    EXPECT_NE(error_answer("/api/2.0/mlflow/x", busy).body.find("TEMPORARILY_UNAVAILABLE"),
              std::string::npos);
}

TEST(RouteIndex, FixedWordsWinOverVariablesAndThoseOverTheRest)
{
    using enum Permission;
    const std::vector<Route> routes{
        {"GET", "/runs/{run}", read, nullptr},
        {"GET", "/runs/search", read, nullptr},
        {"GET", "/runs/{run}/files/{path}", read, nullptr},
        {"PUT", "/runs/{run}/files/{path}", write, nullptr},
        {"GET", "/{any}/x", read, nullptr},
    };
    RouteIndex index;
    for (const auto& route : routes) {
        index.add("/a", route);
        index.add("/b/c", route);
    }

    EXPECT_EQ(index.find("GET", {"a", "runs", "search"}).route, &routes[1]);
    EXPECT_EQ(index.find("GET", {"b", "c", "runs", "7"}).variables, std::vector<std::string>{"7"});
    const auto file = index.find("PUT", {"a", "runs", "7", "files", "x", "y"});
    EXPECT_EQ(file.route, &routes[3]);
    EXPECT_EQ(file.variables, (std::vector<std::string>{"7", "x/y"}));
    // A way that leads nowhere leaves no variables behind.
    const auto back = index.find("GET", {"a", "runs", "x"});
    EXPECT_EQ(back.variables, std::vector<std::string>{"x"});
    EXPECT_EQ(index.find("GET", {"a", "other", "x"}).route, &routes[4]);
    EXPECT_EQ(index.find("HEAD", {"a", "runs", "7"}).route, &routes[0]);
    EXPECT_EQ(index.find("GET", {"a", "runs"}).route, nullptr);
    EXPECT_EQ(index.find("GET", {"a", "runs", "7", "files"}).route, nullptr);
    EXPECT_EQ(index.find("GET", {"runs", "7"}).route, nullptr);
    const auto other = index.find("DELETE", {"a", "runs", "7"});
    EXPECT_TRUE(other.route == nullptr && other.known_path);
}

}  // namespace
}  // namespace ponk::api
