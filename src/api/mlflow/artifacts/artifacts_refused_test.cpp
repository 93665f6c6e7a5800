// SPDX-License-Identifier: Apache-2.0
// What is not written, not read, or leaves nothing behind.
#include "api/mlflow/artifacts/artifacts_test_support.hpp"

namespace ponk::api::mlflow {
namespace {

TEST_F(MlflowArtifacts, WhatNeedsAnObjectStoreIsNotImplemented)
{
    for (const auto* target : {"/api/2.0/mlflow-artifacts/mpu/create/1/x",
                               "/ajax-api/2.0/mlflow-artifacts/mpu/complete/1/x",
                               "/api/2.0/mlflow-artifacts/mpu/abort/1/x",
                               "/api/2.0/mlflow/artifacts/presigned-upload-url",
                               "/api/2.0/mlflow/artifacts/presigned-download-url"}) {
        const auto answer = call("POST", target, "{}");
        EXPECT_EQ(answer.status, 501) << target;
        EXPECT_THAT(answer.body, HasSubstr("NOT_IMPLEMENTED"));
    }
    EXPECT_EQ(call("GET", "/api/2.0/mlflow-artifacts/presigned/1/x").status, 501);
}

TEST_F(MlflowArtifacts, NothingIsWrittenWhereNothingBelongs)
{
    const auto id = run_.id.text();
    const auto experiment = root_.substr(0, root_.find('/'));
    for (const auto& path :
         std::vector<std::string>{".incoming/x",
                                  "team/" + id + "/artifacts/x",
                                  experiment + "/x",
                                  experiment + "/" + id,
                                  experiment + "/" + id + "/x",
                                  root_,
                                  "0" + root_,
                                  "9" + root_,
                                  "-1/" + id + "/artifacts/x",
                                  experiment + "/" + std::string(32, 'a') + "/artifacts/x",
                                  experiment + "/runs/artifacts/x",
                                  experiment + "/models/m-1/artifacts/x",
                                  experiment + "/models/m-" + std::string(32, 'a') + "/x",
                                  "77/models/m-" + std::string(32, 'a') + "/artifacts/x",
                                  "77/traces/tr-1/artifacts/x"}) {
        const auto answer = call("PUT", proxy + "/" + path, "x");
        EXPECT_TRUE(answer.status == 400 || answer.status == 404) << path << " " << answer.status;
    }
    EXPECT_EQ(call("GET", proxy).status, 400);
    EXPECT_EQ(call("GET", proxy + "?path=" + experiment).status, 400);
    EXPECT_FALSE(std::filesystem::exists(place_.path() / "home/artifacts" / experiment));
}

TEST_F(MlflowArtifacts, ADeletedRunIsReadAndNotWritten)
{
    put("a", "x");
    ASSERT_TRUE(store::Tracking(*history_).delete_run(run_.id.text()));

    const auto refused = call("PUT", proxy + "/" + root_ + "/a", "y");
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr("must be in the 'active' state"));
    EXPECT_EQ(call("DELETE", proxy + "/" + root_ + "/a").status, 400);
    EXPECT_EQ(
        call("POST", "/ajax-api/2.0/mlflow/upload-artifact?path=a&run_uuid=" + run_.id.text(), "y")
            .status,
        400);
    EXPECT_EQ(get("a"), "x");
}

TEST_F(MlflowArtifacts, ThatAClientKeepsElsewhereAreNeverOpened)
{
    store::Tracking tracking(*history_);
    const auto experiment =
        tracking.create_experiment("elsewhere", place_.path() / "outputs", {}).value();
    const auto run =
        tracking.create_run({.experiment = experiment, .name = "", .user = ""}).value();

    EXPECT_EQ(call("GET", "/get-artifact?path=plots/loss.png&run_id=" + run.id.text()).status, 400);
    EXPECT_EQ(call("GET", "/api/2.0/mlflow/artifacts/list?run_id=" + run.id.text()).status, 400);
}

TEST_F(MlflowArtifacts, NoSpellingLeadsOut)
{
    put("kept", "kept");
    ASSERT_TRUE(os::replace_file(place_.path() / "home/artifacts/secret", "secret"));
    const auto run = run_.id.text();
    const auto model =
        store::Models(*history_).create({.name = "m", .type = "", .source_run = ""}).value();
    const auto before =
        std::distance(std::filesystem::recursive_directory_iterator(place_.path()), {});
    for (const std::string probe : {"../../etc/passwd",
                                    "%2e%2e/%2e%2e/x",
                                    "..%2f..%2fx",
                                    "0/..%252f..%252fx",
                                    "//etc/passwd",
                                    "%2Fetc/passwd",
                                    "..\\..\\x",
                                    "%5c%5cshare",
                                    "C:/x",
                                    "./../x",
                                    "a//b",
                                    "x%00y",
                                    "file:///etc/passwd",
                                    "x%23y",
                                    "x;y",
                                    "../../../secret",
                                    "%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret"}) {
        const std::vector<std::pair<std::string, std::string>> asks{
            {"GET", proxy + "/" + probe},
            {"PUT", proxy + "/" + probe},
            {"DELETE", proxy + "/" + probe},
            {"GET", proxy + "/" + root_ + "/" + probe},
            {"PUT", proxy + "/" + root_ + "/" + probe},
            {"DELETE", proxy + "/" + root_ + "/" + probe},
            {"GET", proxy + "?path=" + probe},
            {"GET", proxy + "?path=" + root_ + "/" + probe},
            {"GET", "/api/2.0/mlflow/artifacts/list?run_id=" + run + "&path=" + probe},
            {"GET", "/get-artifact?run_id=" + run + "&path=" + probe},
            {"GET", "/get-artifact?path=x&run_id=" + probe},
            {"POST", "/ajax-api/2.0/mlflow/upload-artifact?run_uuid=" + run + "&path=" + probe}};
        for (const auto& [method, target] : asks) {
            const auto answer = call(method, target, method == "GET" ? "" : "x");
            EXPECT_TRUE(answer.status == 400 || answer.status == 404)
                << method << " " << target << " " << answer.status << answer.body;
        }
    }
    EXPECT_EQ(std::distance(std::filesystem::recursive_directory_iterator(place_.path()), {}),
              before);
    EXPECT_EQ(get("kept"), "kept");
}

TEST_F(MlflowArtifacts, AnUploadThatEndsEarlyLeavesNothing)
{
    net::Request head;
    head.method = "PUT";
    head.path = net::parse_target(proxy + "/" + root_ + "/half")->path;
    {
        const auto sink = api::receive(services_, head).sink;
        ASSERT_TRUE(sink);
        EXPECT_FALSE(sink->write("half of it"));
        sink->abort();
    }
    EXPECT_EQ(call("GET", proxy + "/" + root_ + "/half").status, 404);
    EXPECT_THAT(os::list_directory(place_.path() / "home/artifacts/.incoming").value(), IsEmpty());
    head.method = "GET";
    EXPECT_EQ(api::receive(services_, head).sink, nullptr);
}

TEST_F(MlflowArtifacts, MoreThanTheDiskHoldsIsToldAtOnce)
{
    const auto answer = call("PUT",
                             proxy + "/" + root_ + "/huge",
                             "x",
                             {{"Content-Length", std::to_string(std::uint64_t{1} << 60U)}});

    EXPECT_EQ(answer.status, 507);
    EXPECT_THAT(answer.body, HasSubstr("RESOURCE_EXHAUSTED"));
}

}  // namespace
}  // namespace ponk::api::mlflow
