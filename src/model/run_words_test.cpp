// SPDX-License-Identifier: Apache-2.0
#include "model/run_spec.hpp"
#include "model/run_words.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ponk::model {
namespace {

Json asks_for(GpuRequest request)
{
    RunSpec spec;
    spec.resources.gpu = std::move(request);
    return to_json(spec);
}

TEST(GpuVerdict, IsUnknownForWhoAskedAndWasNotJudged)
{
    model::Run run;
    EXPECT_EQ(gpu_verdict(run), "not-requested");
    run.configuration = asks_for({.selection = "all"});
    EXPECT_EQ(gpu_verdict(run), "not-requested");
    run.configuration = asks_for({.selection = "", .origin = GpuRequest::Origin::asked});
    EXPECT_EQ(gpu_verdict(run), "not-requested") << "none was asked for";
    run.configuration = asks_for({.selection = "1", .origin = GpuRequest::Origin::asked});
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.configuration = asks_for({.selection = "all", .need = GpuRequest::Need::required});
    EXPECT_EQ(gpu_verdict(run), "unknown");
    std::ifstream first(PONK_SOURCE "/tests/golden/run-spec/v1.json");
    run.configuration = parse_json(std::string(std::istreambuf_iterator<char>(first), {})).value();
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.gpu = JsonObject{{"phase", "queued"}};
    EXPECT_EQ(gpu_verdict(run), "unknown");
    run.gpu = JsonObject{{"phase", "ended"}, {"verdict", "idle"}};
    EXPECT_EQ(gpu_verdict(run), "idle");
}

std::string told(RunState state, Json gpu, const std::string& selection = "all")
{
    Run run;
    run.state = state;
    run.gpu = std::move(gpu);
    run.configuration = asks_for({.selection = selection});
    return to_json(gpu_verdict_json(run));
}

TEST(GpuVerdict, WhoPollsCanTellNotYetFromTheLastWord)
{
    const Json leased = JsonObject{{"phase", "leased"}};
    const Json ended = JsonObject{{"phase", "ended"}, {"verdict", "unknown"}};

    EXPECT_EQ(told(RunState::queued, JsonObject{{"phase", "queued"}}), "null");
    EXPECT_EQ(told(RunState::running, leased), "null");
    EXPECT_EQ(told(RunState::finalizing, ended), R"("unknown")");
    EXPECT_EQ(told(RunState::completed, leased), R"("unknown")");
    EXPECT_EQ(told(RunState::starting, Json()), "null");
    EXPECT_EQ(told(RunState::starting, Json(), ""), R"("not-requested")");
    EXPECT_EQ(told(RunState::running, Json()), R"("not-requested")");
}

}  // namespace
}  // namespace ponk::model
