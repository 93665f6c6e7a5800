// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "os/test_folder.hpp"
#include "relay/calls.hpp"

#include <gtest/gtest.h>

namespace ponk::relay {

inline constexpr const char* own_run = "0192aaaaaaaa7bbb8cccddddddddeeee";

// A run directory with a relay that can be started again.
class RelayTest : public testing::Test {
protected:
    RelayTest()
    {
        static_cast<void>(os::make_directories(folder_ / "journal"));
        tracking_.run = own_run;
        tracking_.token = "t0k";
        tracking_.experiment = "7";
        tracking_.experiment_name = "iris";
        tracking_.run_name = "train.py";
        tracking_.user = "ann";
        tracking_.started = 1000;
        tracking_.outputs = (folder_ / "outputs").string();
        start_again();
    }

    void start_again() { recorder_ = *Recorder::open(tracking_, folder_ / "journal"); }

    net::Response ask(const char* method, const std::string& path, const Json& body)
    {
        net::Request request;
        request.method = method;
        request.path = split(path, '/');
        request.headers = said_;
        if (request.method == "GET") {
            for (const auto& [name, value] : body.as_object())
                request.query.emplace_back(name, value.as_string());
        } else {
            request.headers.emplace_back("Content-Type", "application/json");
            request.body = to_json(body);
        }
        auto answered = answer(*recorder_, request);
        if (answered) return std::move(*answered);
        net::Response unknown;
        unknown.status = 0;
        return unknown;
    }
    net::Response post(const std::string& call, JsonObject body)
    {
        return ask("POST", "api/2.0/mlflow/" + call, std::move(body));
    }
    Json get(const std::string& call, JsonObject query)
    {
        return parse_json(ask("GET", "api/2.0/mlflow/" + call, std::move(query)).body)
            .value_or(Json());
    }
    net::Response log_metric(const std::string& key, Json value, std::int64_t step)
    {
        return post("runs/log-metric",
                    {{"run_id", own_run},
                     {"key", key},
                     {"value", std::move(value)},
                     {"timestamp", 5000 + step},
                     {"step", step}});
    }
    Json own() { return get("runs/get", {{"run_id", own_run}})["run"]; }

    // The value of {"key": …, "value": …} in a list of such.
    static Json value_in(const Json& list, const std::string& key)
    {
        if (!list.is_array()) return {};
        for (const auto& pair : list.as_array()) {
            if (pair.text("key") == key) return pair["value"];
        }
        return {};
    }

    os::TestFolder home_;
    os::Path folder_ = home_.path();
    model::Tracking tracking_;
    std::unique_ptr<Recorder> recorder_;
    net::Headers said_;  // with each request
};

}  // namespace ponk::relay
