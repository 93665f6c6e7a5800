// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/mlflow/routes.hpp"
#include "api/router.hpp"
#include "base/text.hpp"
#include "doubles/fake_executor.hpp"
#include "os/file.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <regex>

namespace ponk::api::mlflow {

// For tests: the tracking API without a socket, on a history of its own.
class MlflowTest : public testing::Test {
protected:
    MlflowTest()
    {
        executors_.emplace("local", executor::fake::make_executor({}));
        engine_.emplace(
            engine::Context{home_, *history_, objects_, secrets_, executors_, notifier_});
        services_.emplace(Services{*engine_, "socket", 0, [](const std::string&) {}});
    }

    // "runs/create" below /api/2.0/mlflow, or a whole path.
    net::Response send(const std::string& method,
                       const std::string& path,
                       std::vector<std::pair<std::string, std::string>> query,
                       const std::string& body)
    {
        net::Request request;
        request.method = method;
        const auto whole = path.starts_with('/') ? path : "/api/2.0/mlflow/" + path;
        request.path = split(std::string_view(whole).substr(1), '/');
        request.query = std::move(query);
        request.headers = {{"Content-Type", "application/json"}};
        request.body = body;
        return answer(request);
    }
    // As the server does it.
    net::Response answer(const net::Request& request)
    {
        auto reception = api::receive(*services_, request);
        if (reception.answer) return std::move(*reception.answer);
        std::promise<net::Response> promised;
        const auto respond = [&promised](net::Response response) {
            promised.set_value(std::move(response));
        };
        if (reception.begin && reception.begin(request, respond))
            return promised.get_future().get();
        return api::dispatch(*services_, request);
    }
    net::Response post(const std::string& path, const std::string& body)
    {
        return send("POST", path, {}, body);
    }
    net::Response get(const std::string& path,
                      std::vector<std::pair<std::string, std::string>> query)
    {
        return send("GET", path, std::move(query), "");
    }
    // What must succeed.
    Json ask(const net::Response& response)
    {
        EXPECT_EQ(response.status, 200) << response.body;
        return parse_json(response.body).value_or(Json());
    }
    // "400 INVALID_PARAMETER_VALUE: message"
    static std::string refusal(const net::Response& response)
    {
        const auto json = parse_json(response.body).value_or(Json());
        return fmt::format(
            "{} {}: {}", response.status, json.text("error_code"), json.text("message"));
    }

    std::string new_experiment(const std::string& name)
    {
        return ask(post("experiments/create", to_json(JsonObject{{"name", name}})))
            .text("experiment_id");
    }
    std::string new_run(const std::string& experiment = "0", const std::string& name = "")
    {
        const auto made =
            ask(post("runs/create",
                     to_json(JsonObject{
                         {"experiment_id", experiment}, {"run_name", name}, {"start_time", 100}})));
        return made["run"]["info"].text("run_id");
    }
    // `fields` without the braces: R"("key": "a")".
    net::Response in_run(const std::string& call, const std::string& run, const std::string& fields)
    {
        return post(
            "runs/" + call,
            fmt::format(R"({{"run_id": "{}"{}{}}})", run, fields.empty() ? "" : ", ", fields));
    }
    Json run(const std::string& id) { return ask(get("runs/get", {{"run_id", id}}))["run"]; }
    // Values by key of "metrics", "params" or "tags".
    Json data(const std::string& id, const std::string& list, const std::string& key)
    {
        const auto all = run(id)["data"][list];
        if (!all.is_array()) return {};
        for (const auto& entry : all.as_array()) {
            if (entry.text("key") == key) return entry["value"];
        }
        return {};
    }

    // Ids and times, which differ every time, as words.
    static std::string without_chance(std::string text)
    {
        text = std::regex_replace(text, std::regex("[0-9a-f]{32}"), "RUN");
        return std::regex_replace(
            text, std::regex("(_time|_timestamp|_timestamp_ms)(\":)1[0-9]{12}"), "$1$2TIME");
    }
    void expect_golden(const std::string& name, const net::Response& response)
    {
        const auto text = without_chance(response.body);
        const auto file = os::Path(PONK_SOURCE_DIR "/tests/golden/api/mlflow") / name;
        if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
            std::filesystem::create_directories(file.parent_path());
            static_cast<void>(os::replace_file(file, text, 0644));
        }
        EXPECT_EQ(text, os::read_file(file).value_or(""));
    }

    os::TestFolder place_;
    os::Path home_ = place_.path() / "home";
    std::unique_ptr<store::History> history_ = store::History::open(home_ / "history").value();
    snapshot::ObjectStore objects_ = snapshot::ObjectStore::open(home_ / "store").value();
    secrets::Secrets secrets_{home_, secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    engine::Notifier notifier_;
    std::optional<engine::Engine> engine_;
    std::optional<Services> services_;
};

}  // namespace ponk::api::mlflow
