// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/native/imports.hpp"
#include "api/router.hpp"
#include "doubles/fake_executor.hpp"
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ponk::api {

// A daemon without its socket: real history and store, the machine below made of threads.
class ApiFixture : public testing::Test {
protected:
    ApiFixture() : root_(*os::make_temporary_directory(testing::TempDir(), "ponk-api-"))
    {
        std::filesystem::create_directories(root_ / "project");
        static_cast<void>(os::replace_file(root_ / "project" / "ok.py", "x"));
        history_ = std::move(*store::History::open(root_ / "home" / "history"));
        objects_.emplace(std::move(*snapshot::ObjectStore::open(root_ / "home" / "store")));
        secrets_.emplace(root_ / "home", secrets::Secrets::Keyring::never);
        executor::fake::Options options;
        options.scripts["ok.py"] = [](executor::fake::Process& process) {
            process.write("the key is hunter2-hunter2\n");
            return 0;
        };
        executors_.emplace("local", executor::fake::make_executor(std::move(options)));
        engine_.emplace(engine::Context{
            root_ / "home", *history_, *objects_, *secrets_, executors_, notifier_});
        services_.emplace(
            Services{*engine_, "socket", 0, [this](const std::string&) { stopped_ = true; }});
        services_->imports = &imports_;
    }
    ~ApiFixture() override
    {
        services_.reset();
        engine_.reset();
        executors_.clear();
        history_.reset();
        static_cast<void>(os::remove_tree(root_));
    }

    net::Response
    call(const std::string& method, std::vector<std::string> path, const Json& body = {})
    {
        return call(method, std::move(path), {}, body);
    }
    net::Response call(const std::string& method,
                       std::vector<std::string> path,
                       std::vector<std::pair<std::string, std::string>> query,
                       const Json& body)
    {
        net::Request request;
        request.method = method;
        request.path = {"api", "v1"};
        request.path.insert(request.path.end(), path.begin(), path.end());
        request.query = std::move(query);
        if (!body.is_null()) request.body = to_json(body);
        return dispatch(*services_, request);
    }
    Json body(const net::Response& response) { return parse_json(response.body).value_or(Json()); }

    // Everything that a streamed answer gives.
    static std::string drain(net::Response response)
    {
        std::string all = response.body;
        if (!response.stream) return all;
        response.stream->attach([] {});
        for (;;) {
            std::string piece;
            const auto step = response.stream->next(piece);
            all += piece;
            if (step == net::BodySource::Step::end || step == net::BodySource::Step::broken)
                return all;
            if (step == net::BodySource::Step::waiting)
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    Json submit(const Json& variables = JsonObject())
    {
        const auto id = RunId::make().text();
        const Json request = JsonObject{{"run_id", id},
                                        {"project", (root_ / "project").native()},
                                        {"script", "ok.py"},
                                        {"environment", JsonArray{Json("PATH=/usr/bin")}},
                                        {"variables", variables}};
        const auto made = call("POST", {"runs"}, request);
        EXPECT_EQ(made.status, 201) << made.body;
        return *parse_json(drain(call("GET", {"runs", id, "wait"})));
    }

    os::Path root_;
    bool stopped_ = false;
    std::unique_ptr<store::History> history_;
    std::optional<snapshot::ObjectStore> objects_;
    std::optional<secrets::Secrets> secrets_;
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    engine::Notifier notifier_;
    std::optional<engine::Engine> engine_;
    Imports imports_;
    std::optional<Services> services_;
};

}  // namespace ponk::api
