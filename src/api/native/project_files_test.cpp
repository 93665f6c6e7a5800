// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"

namespace ponk::api {
namespace {

class ApiProjectFiles : public ApiFixture {
protected:
    ApiProjectFiles()
    {
        submit();  // the project is known from its first run on
        id_ = body(call("GET", {"projects"}))["projects"].as_array().at(0).text("id");
        std::filesystem::create_directories(root_ / "project" / "aml_config");
    }
    net::Response get(const std::string& what, const std::string& path)
    {
        return call("GET", {"projects", id_, what}, {{"path", path}}, {});
    }
    net::Response put(const std::string& path, const Json& body)
    {
        return call("PUT", {"projects", id_, "file"}, {{"path", path}}, body);
    }
    Json check(const std::string& path, const std::string& text)
    {
        return body(
            call("POST", {"projects", id_, "check"}, JsonObject{{"path", path}, {"text", text}}));
    }
    static Json find(const Json& answer, const std::string& code)
    {
        for (const auto& remark : answer["remarks"].as_array()) {
            if (remark.text("code") == code) return remark;
        }
        return {};
    }
    static std::string header(const net::Response& answer, const std::string& name)
    {
        for (const auto& [key, value] : answer.headers) {
            if (key == name) return value;
        }
        return "";
    }

    std::string id_;
};

TEST_F(ApiProjectFiles, AFileIsReadChangedAndReadAgain)
{
    const auto list = body(get("files", ""));
    ASSERT_EQ(list["entries"].as_array().size(), 2U);
    EXPECT_EQ(list["entries"].as_array()[1].text("name"), "ok.py");
    const auto read = get("file", "ok.py");
    EXPECT_EQ(read.body, "x");
    const auto digest = header(read, "Ponk-Digest");
    EXPECT_EQ(digest, sha256("x").text());
    const auto changed = put("ok.py", JsonObject{{"text", "y\n"}, {"digest", digest}});
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(body(changed).text("digest"), sha256("y\n").text());
    const auto late = put("ok.py", JsonObject{{"text", "z"}, {"digest", digest}});
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(get("file", "ok.py").body, "y\n");
    EXPECT_EQ(put("new.py", JsonObject{{"text", "n"}, {"digest", nullptr}}).status, 201);
    EXPECT_EQ(put("new.py", JsonObject{{"text", "n"}}).status, 409);
}

TEST_F(ApiProjectFiles, APartOfAFileIsServed)
{
    ASSERT_TRUE(os::replace_file(root_ / "project" / "long.txt", "0123456789"));
    auto part = call("GET", {"projects", id_, "file"}, {{"path", "long.txt"}, {"offset", "7"}}, {});
    EXPECT_EQ(part.status, 200);
    EXPECT_EQ(header(part, "Ponk-Digest"), "");
    EXPECT_EQ(drain(std::move(part)), "789");
    ASSERT_TRUE(os::replace_file(root_ / "project" / "large", std::string((4U << 20) + 1, 'x')));
    auto large = get("file", "large");
    EXPECT_EQ(header(large, "Ponk-Digest"), "");
    EXPECT_EQ(drain(std::move(large)).size(), (4U << 20) + 1);
}

TEST_F(ApiProjectFiles, WhatIsWrongIsSaid)
{
    EXPECT_EQ(get("file", "../home/history").status, 400);
    EXPECT_EQ(get("file", "none").status, 404);
    EXPECT_EQ(get("file", "").status, 400);
    EXPECT_EQ(call("GET", {"projects", "none", "files"}).status, 404);
    for (const JsonObject& wrong : {JsonObject{{"digest", nullptr}},
                                    JsonObject{{"text", 1}, {"digest", nullptr}},
                                    JsonObject{{"text", "a"}, {"digest", "a"}},
                                    JsonObject{{"text", "a"}, {"digest", 7}},
                                    JsonObject{{"text", "a"}, {"line_ends", "odd"}}})
        EXPECT_EQ(put("w.py", wrong).status, 400) << to_json(wrong);
    EXPECT_EQ(get("file", "w.py").status, 404);
    for (const char* path : {"../a.compute", "/a.compute", ""}) {
        const auto refused = call(
            "POST", {"projects", id_, "check"}, JsonObject{{"path", path}, {"text", "type: x"}});
        EXPECT_EQ(refused.status, 400) << path;
    }
}

TEST_F(ApiProjectFiles, ATextIsCheckedBeforeItIsWritten)
{
    const auto compute = check("aml_config/box.compute", "type: remotedocker\nadress: gpu1\n");
    EXPECT_EQ(compute.text("kind"), "compute");
    const auto unknown = find(compute, "unknown-key");
    EXPECT_EQ(unknown.integer("line"), 2) << to_json(compute);
    EXPECT_EQ(unknown.integer("column"), 1);
    // Compared with the files that are there: this target is none of them.
    const auto run = check("aml_config/gpu.runconfig", "Framework: Python\nTarget: nowhere\n");
    EXPECT_EQ(find(run, "dangling-target").integer("line"), 2) << to_json(run);
    EXPECT_TRUE(check("train.py", "def (")["kind"].is_null());
    EXPECT_FALSE(std::filesystem::exists(root_ / "project" / "aml_config" / "box.compute"));
}

// It would be looked for below the daemon's own folder.
TEST_F(ApiProjectFiles, AProjectWithoutAFolderOnThisMachineHasNoTargets)
{
    ASSERT_TRUE(history_->put_project({"elsewhere", "elsewhere", "."}));
    for (const char* what : {"targets", "files"}) {
        const auto answer = call("GET", {"projects", "elsewhere", what});
        EXPECT_EQ(answer.status, 404) << what << ": " << answer.body;
        EXPECT_NE(answer.body.find("no folder on this machine"), std::string::npos) << answer.body;
    }
}

TEST_F(ApiProjectFiles, WhatStartsAProcessIsNoQuickCall)
{
    for (const auto& [method, what] :
         {std::pair("GET", "samples"), std::pair("POST", "projects")}) {
        net::Request head;
        head.method = method;
        head.path = {"api", "v1", what};
        EXPECT_EQ(receive(*services_, head).pace, net::Reception::Pace::slow) << what;
    }
}

TEST_F(ApiProjectFiles, TheKeysOfAKindOfFileAreItsSchema)
{
    const auto schema = body(call("GET", {"schemas", "compute"}));
    EXPECT_TRUE(schema["properties"]["baseDockerImage"].is_object()) << to_json(schema);
    EXPECT_EQ(call("GET", {"schemas", "none"}).status, 404);
}

}  // namespace
}  // namespace ponk::api
