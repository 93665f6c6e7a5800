// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"
#include "api/mlflow/run_calls.hpp"
#include "audit/list.hpp"
#include "audit/verify.hpp"
#include "base/text.hpp"

#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <unistd.h>

namespace ponk::api {
namespace {

using testing::HasSubstr;
using testing::Not;

class AuditedCalls : public ApiFixture {
protected:
    AuditedCalls()
    {
        tokens_ = std::move(*Tokens::open(root_ / "home"));
        for (const auto role : {Role::read, Role::write, Role::administer})
            tokens_of_[to_string(role)] = tokens_->create(to_string(role), role, {}).value();
        log_.emplace(root_ / "home");
        services_->tokens = tokens_.get();
        services_->audit = &*log_;
    }
    ~AuditedCalls() override
    {
        services_.reset();
        log_.reset();
    }

    // As the server does it: the head first, then the whole request, unless that was enough.
    int send(const std::string& method,
             const std::string& path,
             const std::string& token,
             const std::string& body = {})
    {
        net::Request request;
        request.method = method;
        request.path = split(path.substr(1), '/');
        request.listener_kind = net::ListenerKind::network;
        request.peer = "192.0.2.7";
        request.headers = {{"Host", "example.org"}, {"Content-Type", "application/json"}};
        if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
        auto reception = receive(*services_, request);
        if (reception.answer) return reception.answer->status;
        request.body = body;
        if (reception.sink) {
            if (auto early = reception.sink->write(body)) return early->status;
            return reception.sink->finish().status;
        }
        // Shared: a late answer must find it.
        const auto status = std::make_shared<std::promise<int>>();
        if (reception.begin && reception.begin(request, [status](const net::Response& answer) {
                status->set_value(answer.status);
            })) {
            auto given = status->get_future();
            const auto state = given.wait_for(std::chrono::seconds(20));
            return state == std::future_status::ready ? given.get() : 0;
        }
        return dispatch(*services_, request).status;
    }
    std::string child_run()
    {
        EXPECT_EQ(send("POST",
                       "/api/2.0/mlflow/runs/create",
                       tokens_of_["write"],
                       R"({"experiment_id":"0"})"),
                  200);
        return records().back()["object"].text("run_id");
    }
    JsonArray records()
    {
        log_->flush();
        return audit::list(root_ / "home", {}).value();
    }
    std::string all_bytes()
    {
        log_->flush();
        return os::read_file(audit::file_of(root_ / "home", 1)).value();
    }

    std::unique_ptr<Tokens> tokens_;
    std::map<std::string, std::string> tokens_of_;
    std::optional<audit::AuditLog> log_;
};

TEST_F(AuditedCalls, AChangeNamesCallerPlaceRouteAndObject)
{
    const auto run = child_run();
    ASSERT_EQ(run.size(), 32U);
    send(
        "POST", "/api/2.0/mlflow/runs/delete", tokens_of_["write"], R"({"run_id":")" + run + "\"}");

    const auto last = records().back();
    EXPECT_EQ(last.text("kind"), "request");
    EXPECT_EQ(last.text("who"), "token:write");
    EXPECT_EQ(last.text("role"), "write");
    EXPECT_EQ(last.text("listener"), "network");
    EXPECT_EQ(last.text("peer"), "192.0.2.7");
    EXPECT_EQ(last.text("method"), "POST");
    EXPECT_EQ(last.text("route"), "/api/2.0/mlflow/runs/delete");
    EXPECT_EQ(last["object"].text("run_id"), run);
    EXPECT_EQ(last.integer("status"), 200);
    EXPECT_EQ(last.text("outcome"), "done");
    EXPECT_FALSE(audit::verify(root_ / "home")->broken);
}

TEST_F(AuditedCalls, WhatFailsIsRecordedWithItsStatus)
{
    send("DELETE", "/api/v1/tokens/nobody", tokens_of_["administer"]);

    const auto last = records().back();
    EXPECT_EQ(last.text("route"), "/api/v1/tokens/{name}");
    EXPECT_EQ(last["object"].text("name"), "nobody");
    EXPECT_EQ(last.integer("status"), 404);
    EXPECT_EQ(last.text("outcome"), "failed");
}

TEST_F(AuditedCalls, AFloodOfFailuresIsCountedAndItsNamesAreBounded)
{
    JsonObject named;
    for (const char* name : {"run_id", "name", "new_name", "version", "alias", "key", "project"})
        named.set(name, std::string(200, '\x01'));
    for (int i = 0; i < 200; ++i) {
        const auto status =
            send("POST", "/api/2.0/mlflow/runs/delete", tokens_of_["write"], to_json(named));
        EXPECT_GE(status, 400);
    }

    const auto all = records();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].text("outcome"), "failed");
    EXPECT_EQ(all[1].integer("count"), 199);
    EXPECT_LT(all_bytes().size(), 2'500U);
}

TEST_F(AuditedCalls, RefusalsAreRecordedOnceAndCounted)
{
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(send("DELETE", "/api/v1/tokens/a", "ponk_wrong-token-4711"), 401);
    EXPECT_EQ(send("DELETE", "/api/v1/tokens/a", tokens_of_["read"]), 403);

    const auto all = records();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].text("who"), "nobody");
    EXPECT_EQ(all[0].integer("status"), 401);
    EXPECT_EQ(all[0].text("outcome"), "refused");
    EXPECT_EQ(all[1].text("who"), "token:read");
    EXPECT_EQ(all[1].integer("status"), 403);
    EXPECT_EQ(all[2].integer("count"), 49);
    EXPECT_THAT(all_bytes(), Not(HasSubstr("4711")));
}

TEST_F(AuditedCalls, LoggingOfPointsIsCounted)
{
    const auto run = child_run();
    const auto before = records().size();
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(send("POST",
                       "/api/2.0/mlflow/runs/log-metric",
                       tokens_of_["write"],
                       R"({"run_id":")" + run +
                           R"(","key":"loss","value":0.5,"timestamp":1,"step":)" +
                           std::to_string(i) + "}"),
                  200);
    }

    const auto all = records();
    ASSERT_EQ(all.size(), before + 1);
    EXPECT_EQ(all.back().text("kind"), "summary");
    EXPECT_EQ(all.back().integer("count"), 20);
    EXPECT_EQ(all.back().text("who"), "token:write");
}

TEST_F(AuditedCalls, ReadsOfSecretsTokensAndExportsAreRecordedOthersAreNot)
{
    for (const char* path : {"/api/v1/runs", "/api/v1/daemon", "/api/2.0/mlflow/experiments/get"})
        send("GET", path, tokens_of_["read"]);
    send("POST", "/api/2.0/mlflow/runs/search", tokens_of_["read"], "{}");
    EXPECT_TRUE(records().empty());

    send("GET", "/api/v1/secrets", tokens_of_["administer"]);
    send("GET", "/api/v1/tokens", tokens_of_["administer"]);
    send("GET", "/api/v1/export", tokens_of_["read"]);

    EXPECT_EQ(records().size(), 3U);
}

TEST_F(AuditedCalls, AnUploadIsRecordedWithItsPath)
{
    const auto run = child_run();
    const auto path =
        "/api/2.0/mlflow-artifacts/artifacts/0/" + run + "/artifacts/model/weights.bin";
    ASSERT_EQ(send("PUT", path, tokens_of_["write"], "bytes-of-the-model"), 200);

    EXPECT_THAT(records().back()["object"].text("path"), HasSubstr("model/weights.bin"));
    EXPECT_EQ(records().back().integer("status"), 200);
    EXPECT_THAT(all_bytes(), Not(HasSubstr("bytes-of-the-model")));
}

TEST_F(AuditedCalls, NoSecretTokenOrBodyIsInTheLog)
{
    ASSERT_LT(send("PUT",
                   "/api/v1/secrets/db-password",
                   tokens_of_["administer"],
                   R"({"value":"hunter2-hunter2"})"),
              300);
    ASSERT_LT(
        send("POST", "/api/v1/tokens", tokens_of_["administer"], R"({"name":"ann","role":"read"})"),
        300);
    const auto run = child_run();
    send(
        "POST",
        "/api/2.0/mlflow/registered-models/create",
        tokens_of_["write"],
        R"({"name":"prod","description":"a-long-story","tags":[{"key":"k","value":"tag-value"}]})");

    const auto bytes = all_bytes();
    EXPECT_THAT(bytes, HasSubstr("db-password"));
    EXPECT_THAT(bytes, HasSubstr("\"name\":\"ann\""));
    EXPECT_THAT(bytes, HasSubstr("\"name\":\"prod\""));
    for (const char* hidden : {"hunter2", "ponk_", "a-long-story", "tag-value", "Bearer"})
        EXPECT_THAT(bytes, Not(HasSubstr(hidden)));
}

TEST_F(AuditedCalls, TheOwnersCommandsAreRecordedAsTheOwners)
{
    call("PUT", {"secrets", "x"}, JsonObject{{"value", "y"}});

    EXPECT_EQ(records().back().text("who"), "uid:" + std::to_string(::geteuid()));
    EXPECT_EQ(records().back().text("listener"), "unix");
}

TEST_F(AuditedCalls, ACheckOfALogChangesNothingUnlessItIsToBeKept)
{
    const auto id = submit().text("run_id");
    const auto run = *RunId::parse(id);
    ASSERT_TRUE(os::replace_file(engine_->context().log_of(run).path, "another text\n"));

    EXPECT_EQ(send("GET", "/api/v1/runs/" + id + "/log/check", tokens_of_["read"]), 200);
    EXPECT_TRUE(history_->get_run(run)->warnings.empty());

    EXPECT_FALSE(body(call("GET", {"runs", id, "log", "check"}))["problem"].is_null());
    EXPECT_TRUE(history_->get_run(run)->warnings.empty());
    EXPECT_EQ(send("POST", "/api/v1/runs/" + id + "/log/check", tokens_of_["read"]), 403);
    EXPECT_FALSE(body(call("POST", {"runs", id, "log", "check"}))["problem"].is_null());
    EXPECT_EQ(history_->get_run(run)->warnings.size(), 1U);
}

TEST_F(AuditedCalls, ARunsOwnCallsAreRecordedAsTheRuns)
{
    const auto run = *RunId::parse(submit().text("run_id"));
    const auto ask = [&](const std::string& target, const std::string& body) {
        return answer_run(*services_,
                          run,
                          JsonObject{{"method", "POST"},
                                     {"target", target},
                                     {"type", "application/json"},
                                     {"body", body}});
    };
    ask("/api/2.0/mlflow/registered-models/create", R"({"name":"mine"})");
    EXPECT_EQ(records().back().text("who"), "run:" + run.text());
    EXPECT_EQ(records().back()["object"].text("name"), "mine");

    ask("/api/2.0/mlflow/experiments/create", R"({"name":"other"})");
    EXPECT_EQ(records().back().text("outcome"), "refused");
}

}  // namespace
}  // namespace ponk::api
