// SPDX-License-Identifier: Apache-2.0
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "relay/forwarded_requests.hpp"
#include "relay/relay_test_support.hpp"

#include <thread>

namespace ponk::relay {
namespace {

using namespace std::chrono_literals;

class ForwardedRequestsTest : public RelayTest {
protected:
    // What the daemon would read.
    [[nodiscard]] std::vector<Json> asked() const
    {
        std::vector<Json> all;
        const auto entries = *os::list_directory(folder_ / "journal");
        for (const auto& entry : entries) {
            auto piece = model::read_journal(*os::read_file(folder_ / "journal" / entry.name), 0);
            std::ranges::move(piece.asks, std::back_inserter(all));
        }
        return all;
    }
    // The daemon's part: answers the next question.
    std::jthread daemon(std::string answer)
    {
        return std::jthread([this, answer = std::move(answer)](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                const auto all = asked();
                if (all.empty()) continue;
                EXPECT_TRUE(os::make_directories(folder_ / "answers"));
                EXPECT_TRUE(
                    os::replace_file(folder_ / "answers" / all.front().text("ask"), answer));
                return;
            }
        });
    }
};

TEST_F(ForwardedRequestsTest, AQuestionIsARecordAndItsAnswerAFile)
{
    const auto answering = daemon("{\"status\":404,\"type\":\"text/x\",\"range\":\"r\"}\nbody\n\n");
    ForwardedRequests asks(*recorder_, folder_, {.usual = 1min});

    const auto answer = asks.ask({.method = "POST",
                                  .target = "/api/2.0/mlflow/runs/search",
                                  .type = "application/json",
                                  .body = "{}"});

    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->status, 404);
    EXPECT_EQ(answer->type, "text/x");
    EXPECT_EQ(answer->range, "r");
    EXPECT_EQ(answer->body, "body\n\n");
    const auto all = asked();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].text("method"), "POST");
    EXPECT_EQ(all[0].text("target"), "/api/2.0/mlflow/runs/search");
    EXPECT_EQ(all[0].text("body"), "{}");
    EXPECT_TRUE(os::list_directory(folder_ / "answers")->empty());
    EXPECT_FALSE(recorder_->look([](const TrackedState& state) { return state.is_taken(); }));
}

TEST_F(ForwardedRequestsTest, AQuestionThatNobodyAnswersIsTakenBack)
{
    ForwardedRequests asks(*recorder_, folder_, {.usual = 30ms, .in_vain = 1ms});

    const auto answer = asks.ask({.method = "GET", .target = "/x"});

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), ErrorKind::timeout);
    const auto all = asked();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].text("withdrawn"), all[0].text("ask"));
}

TEST_F(ForwardedRequestsTest, WhatTheDaemonCannotHaveSaidIsDamage)
{
    const auto answering = daemon("no head");
    ForwardedRequests asks(*recorder_, folder_, {.usual = 1min});
    const auto answer = asks.ask({.method = "GET", .target = "/x"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), ErrorKind::damaged);
    EXPECT_FALSE(asks.ask({.method = "POST",
                           .target = "/x",
                           .body = std::string(ForwardedRequests::longest_body + 1, 'x')}));
}

}  // namespace
}  // namespace ponk::relay
