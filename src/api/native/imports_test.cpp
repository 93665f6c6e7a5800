// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"

#include <gmock/gmock.h>

namespace ponk::api {
namespace {

using testing::HasSubstr;

class ApiImports : public ApiFixture {
protected:
    os::Path write(const std::string& text)
    {
        const auto file = root_ / "lines.jsonl";
        EXPECT_TRUE(os::replace_file(file, text));
        return file;
    }
    static std::string line(const std::string& id)
    {
        return "{\"run\":{\"run_id\":\"" + id +
               "\",\"status\":\"Completed\",\"origin\":\"client\"},\"experiment\":{\"id\":1,"
               "\"name\":\"e\"},\"metrics\":{\"a\":{\"points\":[[1,2,0.5]]}}}\n";
    }
    static Json body_of(const net::Response& response) { return parse_json(response.body).value(); }
};

constexpr const char* run_a = "0123456789abcdef0123456789abcdef";

TEST_F(ApiImports, AnImportIsBegunAndThenDoneStepByStep)
{
    const auto file = write(line(run_a));

    const auto begun = call("POST", {"imports"}, JsonObject{{"path", file.native()}});

    ASSERT_EQ(begun.status, 201) << begun.body;
    const auto id = body_of(begun).text("import");
    EXPECT_EQ(body_of(begun).text("format"), "jsonl");
    Json step;
    do {
        const auto answer = call("POST", {"imports", id, "step"});
        ASSERT_EQ(answer.status, 200) << answer.body;
        step = body_of(answer);
    } while (!step.boolean("done"));
    EXPECT_EQ(step["report"]["runs"].integer("added"), 1);
    EXPECT_TRUE(step["report"]["problems"].as_array().empty());
    EXPECT_TRUE(history_->find_run(RunId::parse(run_a).value()).value());
    // It is over, and nobody can go on with it.
    EXPECT_EQ(call("POST", {"imports", id, "step"}).status, 404);
}

TEST_F(ApiImports, WhatCannotBeImportedIsTheCallersMistake)
{
    const auto refused = [&](JsonObject body) { return call("POST", {"imports"}, Json(body)); };
    EXPECT_EQ(refused({}).status, 400);
    EXPECT_EQ(refused({{"path", "relative"}}).status, 400);
    EXPECT_EQ(refused({{"path", "/absent"}}).status, 404);
    const auto file = write("nothing\n").native();
    EXPECT_EQ(refused({{"path", file}}).status, 400);
    EXPECT_THAT(refused({{"path", file}, {"format", "xml"}}).body, HasSubstr("is not a format"));
    EXPECT_EQ(refused({{"path", file}, {"artifacts", "x"}}).status, 400);
    EXPECT_EQ(refused({{"path", file}, {"format", "mlflow-db"}}).status, 400);
    EXPECT_EQ(refused({{"path", file}, {"format", "mlflow-files"}}).status / 100, 4);
}

TEST_F(ApiImports, OnlySoManyAreBegunAtOnce)
{
    const auto file = write(line(run_a));
    const Json body = JsonObject{{"path", file.native()}};
    std::vector<std::string> begun;
    for (int i = 0; i < 4; ++i)
        begun.push_back(body_of(call("POST", {"imports"}, body)).text("import"));

    EXPECT_EQ(call("POST", {"imports"}, body).status, 503);
    EXPECT_EQ(call("DELETE", {"imports", begun[0]}).status, 200);
    EXPECT_EQ(call("POST", {"imports"}, body).status, 201);
}

}  // namespace
}  // namespace ponk::api
