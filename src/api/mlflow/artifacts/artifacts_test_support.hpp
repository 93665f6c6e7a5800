// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace ponk::api::mlflow
