// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/media_type.hpp"
#include "api/mlflow/routes.hpp"
#include "api/router.hpp"
#include "net/target.hpp"
#include "os/directory.hpp"
#include "os/test_folder.hpp"
#include "snapshot/take_snapshot.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace ponk::api::mlflow {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string proxy = "/api/2.0/mlflow-artifacts/artifacts";

class MlflowArtifacts : public testing::Test {
protected:
    MlflowArtifacts()
    {
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        run.state = model::RunState::completed;
        const auto outputs = place_.path() / "outputs";
        EXPECT_TRUE(os::make_directories(outputs / "plots"));
        EXPECT_TRUE(os::replace_file(outputs / "plots/loss.png", "curve"));
        run.outputs = snapshot::store_tree(objects_, outputs).value().id.text();
        run_ = history_->create_run(run).value().run;
        const auto place = store::Tracking(*history_).find_place(run_.id).value();
        root_ = std::to_string(place->experiment) + "/" + run_.id.text() + "/artifacts";
    }

    // As the server does it: what is no address is refused before anybody is asked.
    net::Response call(const std::string& method,
                       const std::string& target,
                       const std::string& body = {},
                       net::Headers headers = {}) const
    {
        net::Request request;
        request.method = method;
        auto parsed = net::parse_target(target);
        if (!parsed) return refuse(parsed.error());
        request.path = std::move(parsed->path);
        request.query = std::move(parsed->query);
        request.headers = std::move(headers);
        request.body = body;
        EXPECT_TRUE(find(request)) << target;
        return api::dispatch(services_, request);
    }
    static std::string drain(const net::Response& response)
    {
        std::string all = response.body;
        while (response.stream) {
            if (response.stream->next(all) != net::BodySource::Step::data) break;
        }
        return all;
    }
    void put(const std::string& path, const std::string& bytes) const
    {
        const auto answer = call("PUT", proxy + "/" + root_ + "/" + path, bytes);
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    [[nodiscard]] std::string get(const std::string& path) const
    {
        return drain(call("GET", proxy + "/" + root_ + "/" + path));
    }
    static std::string header(const net::Response& response, std::string_view name)
    {
        for (const auto& [key, value] : response.headers) {
            if (key == name) return value;
        }
        return {};
    }

    os::TestFolder place_;
    std::unique_ptr<store::History> history_ =
        store::History::open(place_.path() / "home/history").value();
    snapshot::ObjectStore objects_ =
        snapshot::ObjectStore::open(place_.path() / "home/store").value();
    secrets::Secrets secrets_{place_.path() / "home", secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    engine::Notifier notifier_;
    engine::Engine engine_{engine::Context{
        place_.path() / "home", *history_, objects_, secrets_, executors_, notifier_}};
    Services services_{engine_, "socket", 0, [](const std::string&) {}};
    model::Run run_;
    std::string root_;
};

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
    for (const std::string folder : {"", "outputs/"}) {
        EXPECT_EQ(get(folder + "plots/loss.png"), "curve");
        EXPECT_EQ(call("DELETE", proxy + "/" + root_ + "/" + folder + "plots").status, 400);
        put(folder + "plots/loss.png", "better");
        EXPECT_EQ(get(folder + "plots/loss.png"), "better");
        EXPECT_EQ(call("DELETE", proxy + "/" + root_ + "/" + folder + "plots/loss.png").status,
                  200);
        EXPECT_EQ(get(folder + "plots/loss.png"), "curve");
    }
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

TEST(MediaType, IsToldByTheName)
{
    for (const auto* name : {"a.txt", "b.JSON", "MLmodel", "conda.yaml", "x.py", "MLproject"})
        EXPECT_EQ(media_type(name), "text/plain") << name;
    EXPECT_EQ(media_type("a.tar.png"), "image/png");
    for (const auto* name : {"model.pkl", "log", "png", "a.", ""})
        EXPECT_EQ(media_type(name), "application/octet-stream") << name;
    EXPECT_EQ(attachment("a \"b\".txt"),
              "attachment; filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt");
    EXPECT_EQ(attachment("plain.txt"), "attachment; filename=\"plain.txt\"");
    EXPECT_EQ(http_date(784'111'777'000), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace ponk::api::mlflow
