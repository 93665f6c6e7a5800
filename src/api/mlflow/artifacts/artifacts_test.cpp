// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/artifacts_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

TEST_F(MlflowArtifacts, AreStoredListedAndRemovedThroughTheProxy)
{
    put("model/MLmodel", "flavors: {}");
    put("model/empty", "");
    put("notes.txt", "old");
    put("notes.txt", "new");

    EXPECT_EQ(get("notes.txt"), "new");
    EXPECT_EQ(call("GET", proxy + "?path=" + root_).body,
              R"({"files":[{"path":"model","is_dir":true},)"
              R"({"path":"notes.txt","is_dir":false,"file_size":3},)"
              R"({"path":"plots","is_dir":true}]})"
              "\n");
    EXPECT_EQ(call("GET", proxy + "?path=" + root_ + "/model").body,
              R"({"files":[{"path":"MLmodel","is_dir":false,"file_size":11},)"
              R"({"path":"empty","is_dir":false}]})"
              "\n");
    EXPECT_EQ(call("GET", proxy + "?path=" + root_ + "/notes.txt").body, "{}\n");
    EXPECT_EQ(call("GET", proxy + "?path=" + root_ + "/none").body, "{}\n");
    for (int i = 0; i < 2; ++i) {
        const auto removed = call("DELETE", proxy + "/" + root_ + "/model");
        EXPECT_EQ(removed.status, 200);
        EXPECT_EQ(removed.body, "{}\n");
    }
    EXPECT_EQ(call("GET", proxy + "/" + root_ + "/model/MLmodel").status, 404);
    EXPECT_EQ(call("GET", proxy + "/" + root_ + "/plots").status, 400);
    EXPECT_EQ(call("GET", "/ajax-api" + proxy.substr(4) + "/" + root_ + "/notes.txt").status, 200);
}

TEST_F(MlflowArtifacts, OfARunArePathsFromItsRoot)
{
    put("model/MLmodel", "x");

    EXPECT_EQ(
        call("GET", "/api/2.0/mlflow/artifacts/list?run_id=" + run_.id.text() + "&path=model").body,
        R"({"root_uri":"mlflow-artifacts:/)" + root_ +
            R"(","files":[{"path":"model/MLmodel","is_dir":false,"file_size":1}]})" + "\n");
    EXPECT_EQ(
        call("GET", "/api/2.0/mlflow/artifacts/list?run_uuid=" + run_.id.text() + "&path=none")
            .body,
        R"({"root_uri":"mlflow-artifacts:/)" + root_ + "\"}\n");
    EXPECT_EQ(drain(call("GET", "/get-artifact?path=model/MLmodel&run_uuid=" + run_.id.text())),
              "x");
    EXPECT_EQ(call("GET", "/get-artifact?run_id=" + run_.id.text()).status, 400);
    EXPECT_EQ(call("GET", "/get-artifact?path=x&run_id=" + std::string(32, '0')).status, 404);
}

TEST_F(MlflowArtifacts, OfModelsAndTracesLieBesideThoseOfRuns)
{
    store::Models models(*history_);
    const auto model = models.create({.name = "m", .type = "", .source_run = ""}).value();
    const auto files = "0/models/" + model.id + "/artifacts";
    ASSERT_TRUE(store::Traces(*history_).put({.id = "tr-12ab", .state = "OK"}));
    const std::string trace = "0/traces/tr-12ab/artifacts";

    EXPECT_EQ(call("PUT", proxy + "/" + files + "/code/MLmodel", "flavors: {}").status, 200);
    EXPECT_EQ(call("PUT", proxy + "/" + trace + "/traces.json", "{}").status, 200);

    EXPECT_EQ(drain(call("GET", proxy + "/" + files + "/code/MLmodel")), "flavors: {}");
    EXPECT_THAT(call("GET", proxy + "?path=" + trace).body, HasSubstr("traces.json"));
    EXPECT_EQ(call("GET", proxy + "/" + files).status, 400);
    EXPECT_EQ(call("GET", proxy + "/" + files + "/none").status, 404);
    EXPECT_EQ(call("GET", proxy + "/1" + files.substr(1) + "/code/MLmodel").status, 404);
    const auto by_id = "2.0/mlflow/logged-models/" + model.id + "/artifacts/";
    EXPECT_EQ(call("GET", "/api/" + by_id + "directories?artifact_directory_path=code").body,
              R"({"root_uri":"mlflow-artifacts:/)" + files +
                  R"(","files":[{"path":"code/MLmodel","is_dir":false,"file_size":11}]})" + "\n");
    EXPECT_EQ(drain(call("GET", "/ajax-api/" + by_id + "files?artifact_file_path=code/MLmodel")),
              "flavors: {}");
    ASSERT_TRUE(models.remove(model.id));
    EXPECT_EQ(call("PUT", proxy + "/" + files + "/x", "x").status, 400);
    EXPECT_EQ(drain(call("GET", proxy + "/" + files + "/code/MLmodel")), "flavors: {}");
}

TEST_F(MlflowArtifacts, OfAModelsVersionAreThoseOfItsSource)
{
    store::Registry registry(*history_);
    ASSERT_TRUE(registry.create("m", "", {}));
    put("model/MLmodel", "x");
    const std::string source = "mlflow-artifacts:/" + root_ + "/model";
    ASSERT_TRUE(registry.create_version({.name = "m", .source = source, .location = source}));
    ASSERT_TRUE(registry.create_version({.name = "m", .source = "/etc", .location = "/etc"}));
    const auto get_version = [&](const std::string& query) {
        return call("GET", "/model-versions/get-artifact?" + query);
    };

    const std::string in_run = "runs:/" + run_.id.text() + "/model";
    ASSERT_TRUE(registry.create_version({.name = "m", .source = in_run, .location = in_run}));

    EXPECT_EQ(drain(get_version("name=m&version=1&path=MLmodel")), "x");
    EXPECT_EQ(drain(get_version("name=m&version=3&path=MLmodel")), "x");
    EXPECT_EQ(get_version("name=m&version=3&path=../MLmodel").status, 400);
    EXPECT_EQ(get_version("name=m&version=2&path=passwd").status, 400);
    EXPECT_EQ(get_version("name=m&version=1&path=../MLmodel").status, 400);
    EXPECT_EQ(get_version("name=m&version=4&path=MLmodel").status, 404);
    EXPECT_EQ(get_version("name=m&version=one&path=MLmodel").status, 400);
}

TEST_F(MlflowArtifacts, WhatWasCollectedIsThereAndStays)
{
    const auto address = proxy + "/" + root_ + "/";
    for (const std::string folder : {"", "outputs/"}) {
        EXPECT_EQ(get(folder + "plots/loss.png"), "curve");
        EXPECT_EQ(call("DELETE", address + folder + "plots").status, 400);
    }
    put("plots/loss.png", "better");
    EXPECT_EQ(get("plots/loss.png"), "better");
    EXPECT_EQ(get("outputs/plots/loss.png"), "curve");
    EXPECT_EQ(call("DELETE", address + "plots/loss.png").status, 200);
    EXPECT_EQ(get("plots/loss.png"), "curve");
    for (const std::string name : {"outputs/plots/loss.png", "outputs/new", "outputs"})
        EXPECT_EQ(call("PUT", address + name, "better").status, 400) << name;
    EXPECT_EQ(get("outputs/plots/loss.png"), "curve");
}

TEST_F(MlflowArtifacts, FilesAreAttachmentsThatNothingExecutes)
{
    put("p%C5%99%C3%ADklad.html", "<script>");

    const auto answer = call("GET", proxy + "/" + root_ + "/p%C5%99%C3%ADklad.html");

    EXPECT_EQ(answer.type, "text/html");
    EXPECT_EQ(answer.stream_size, 8U);
    EXPECT_EQ(header(answer, "Content-Disposition"),
              "attachment; filename=\"p____klad.html\"; "
              "filename*=UTF-8''p%C5%99%C3%ADklad.html");
    EXPECT_EQ(header(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_THAT(header(answer, "Content-Security-Policy"), HasSubstr("sandbox"));
    EXPECT_THAT(header(answer, "Last-Modified"), HasSubstr("GMT"));
}

TEST_F(MlflowArtifacts, PartsAndUnchangedFilesAreToldApart)
{
    put("digits", "0123456789");
    const auto ask = [&](net::Headers headers) {
        return call("GET", proxy + "/" + root_ + "/digits", {}, std::move(headers));
    };

    const auto part = ask({{"Range", "bytes=2-4"}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.stream_size, 3U);
    EXPECT_EQ(header(part, "Content-Range"), "bytes 2-4/10");
    EXPECT_EQ(drain(part), "234");
    const auto outside = ask({{"Range", "bytes=10-"}});
    EXPECT_EQ(outside.status, 416);
    EXPECT_EQ(header(outside, "Content-Range"), "bytes */10");
    const auto tag = header(part, "ETag");
    EXPECT_EQ(ask({{"If-None-Match", "\"x\", W/" + tag}}).status, 304);
    EXPECT_EQ(ask({{"If-None-Match", "\"x\""}}).status, 200);
    EXPECT_EQ(ask({{"Range", "bytes=2-4"}, {"If-Range", tag}}).status, 206);
    EXPECT_EQ(ask({{"Range", "bytes=2-4"}, {"If-Range", "\"x\""}}).status, 200);
    put("digits", "9876543210");
    EXPECT_EQ(ask({{"If-None-Match", tag}}).status, 200);
}

TEST_F(MlflowArtifacts, ABrowserSendsSmallFilesOfARun)
{
    const auto send = [&](const std::string& query, std::size_t size) {
        return call("POST", "/ajax-api/2.0/mlflow/upload-artifact" + query, std::string(size, 'x'));
    };
    const auto run = "run_uuid=" + run_.id.text();

    EXPECT_EQ(send("?" + run + "&path=a/b.txt", 3).status, 200);
    EXPECT_EQ(get("a/b.txt"), "xxx");
    EXPECT_THAT(send("?path=a", 1).body, HasSubstr("Request must specify run_uuid"));
    EXPECT_THAT(send("?" + run, 1).body, HasSubstr("Request must specify path"));
    EXPECT_THAT(send("?" + run + "&path=a", 0).body, HasSubstr("Request must specify data"));
    EXPECT_EQ(send("?" + run + "&path=big", (10U << 20U) + 1).status, 400);
    EXPECT_EQ(send("?" + run + "&path=big", 10U << 20U).status, 200);
}

TEST_F(MlflowArtifacts, APathThatBelongsToNobodyIsAPlace)
{
    const auto at = proxy + "/team/data/a.csv";
    EXPECT_EQ(call("GET", at).status, 404);
    EXPECT_EQ(call("PUT", at, "1,2").status, 200);
    EXPECT_EQ(drain(call("GET", at)), "1,2");
    EXPECT_EQ(call("GET", proxy + "?path=team").body,
              "{\"files\":[{\"path\":\"data\",\"is_dir\":true}]}\n");
    EXPECT_TRUE(std::filesystem::exists(place_.path() / "home/artifacts/.shared/team/data/a.csv"));
    // Folders of experiments are theirs, and what looks like a run is one.
    for (const auto* path : {"7/x", "7", "team/00000000000000000000000000000000/artifacts/x"}) {
        const auto status = call("PUT", proxy + "/" + path, "x").status;
        EXPECT_TRUE(status == 400 || status == 404) << path << " " << status;
    }
    EXPECT_EQ(call("DELETE", proxy + "/team").status, 200);
    EXPECT_EQ(call("GET", at).status, 404);
}

TEST_F(MlflowArtifacts, AFolderMayBeNamedFromWhereItIs)
{
    put("dir/a", "bytes");
    const auto list = "/api/2.0/mlflow/artifacts/list?run_id=" + run_.id.text() + "&path=";
    EXPECT_EQ(call("GET", list + ".").body, call("GET", list).body);
    for (const auto* path : {"./dir", "dir/.", "./dir/."}) {
        EXPECT_EQ(call("GET", list + path).body, call("GET", list + "dir").body) << path;
        EXPECT_EQ(call("GET", proxy + "?path=" + root_ + "/" + path).body,
                  call("GET", proxy + "?path=" + root_ + "/dir").body)
            << path;
    }
    const auto file = call("GET", "/get-artifact?run_id=" + run_.id.text() + "&path=./dir/a");
    EXPECT_EQ(drain(file), "bytes");
    EXPECT_EQ(call("GET", "/get-artifact?run_id=" + run_.id.text() + "&path=.").status, 400);
}

}  // namespace
}  // namespace ponk::api::mlflow
