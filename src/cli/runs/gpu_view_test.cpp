// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/follow.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/run_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Json parsed(std::string_view text)
{
    auto value = parse_json(text);
    EXPECT_TRUE(value) << text;
    return *value;
}

const Json plain = parsed(R"({"run_id": "1", "gpu_verdict": "not-requested", "gpu_evidence": null,
    "metrics": {"loss": 0.5}, "loss": 0.5})");
const Json queued = parsed(R"({"run_id": "2", "gpu_verdict": "unknown",
    "gpu_evidence": {"phase": "queued", "position": 2, "waiting": ["GPU 0 is ann's", "GPU 1 too"]}})");
const Json leased = parsed(R"({"run_id": "3", "gpu_verdict": "unknown",
    "gpu_evidence": {"phase": "leased", "devices": []}})");
const Json used = parsed(R"({"run_id": "4", "gpu_verdict": "confirmed", "gpu_evidence": {
    "phase": "ended", "reason": "busy 9.0 s", "enforced": "", "driver_version": "580.65.06",
    "cuda_version": "13.0", "container": {"way": "direct", "reason": "no toolkit"},
    "devices": [{"uuid": "GPU-1", "name": "NVIDIA H200", "memory_total": 150754820096},
                {"uuid": "GPU-2", "name": "NVIDIA H200", "memory_total": 150754820096}],
    "evidence": {"devices": [
        {"uuid": "GPU-2", "held_seconds": 0, "energy_joules": 7500},
        {"uuid": "GPU-1", "held_seconds": 10, "worked_seconds": 9, "memory_peak": 2147483648,
         "sm_activity_mean": 0.371, "energy_joules": 12345.6}]}},
    "metrics": {"loss": 0.25, "system/gpu.0.power": 500, "system/gpu.0.temperature": 51},
    "loss": 0.25, "system/gpu.0.power": 500, "system/gpu.0.temperature": 51})");

TEST(GpuView, ColumnTellsTheVerdictOrHowFarItIs)
{
    EXPECT_EQ(brief_gpu(plain), "");
    EXPECT_EQ(brief_gpu(queued), "queued (2)");
    EXPECT_EQ(brief_gpu(leased), "leased");
    EXPECT_EQ(brief_gpu(used), "confirmed");
}

TEST(GpuView, SentenceHasTheReasonOrWhatIsWaitedFor)
{
    EXPECT_EQ(gpu_sentence(queued), "queued, position 2: GPU 0 is ann's; GPU 1 too");
    EXPECT_EQ(gpu_sentence(used), "confirmed: busy 9.0 s");
    const auto ended = parsed(R"({"gpu_verdict": "cpu-fallback", "gpu_evidence": {"phase": "ended",
        "reason": "nobody", "enforced": "nobody in 2 s"}})");
    EXPECT_EQ(gpu_sentence(ended), "cpu-fallback: nobody") << "the run's error says the rest";
}

TEST(GpuView, ARunThatPonkEndedForItsGpusIsAFailureOfPonkAndNotOfTheScript)
{
    const auto end = end_of(parsed(R"({"run_id": "5", "status": "Failed", "exit_code": 143,
        "error": {"kind": "unavailable", "message": "'gpu: required' is not met", "hint": "Fix it."},
        "gpu_evidence": {"phase": "ended", "enforced": "nobody in 2 s"}})"));

    EXPECT_EQ(end.code, exit_code::run_failed);
    ASSERT_TRUE(end.error);
    EXPECT_EQ(end.error->message(), "run '5' failed: 'gpu: required' is not met");
    EXPECT_EQ(end.error->hint(), "Fix it.");
    const auto other = end_of(parsed(R"({"run_id": "5", "status": "Failed", "exit_code": 3,
        "gpu_evidence": {"phase": "ended", "enforced": ""}})"));
    EXPECT_EQ(other.code, 3);
}

TEST(GpuView, ListHasAColumnOnlyWhereSomeRunAskedForGpus)
{
    const auto titles = [](const JsonArray& runs) {
        std::vector<std::string> out;
        for (const auto& column : view_of_runs(runs).columns)
            out.push_back(column.title.empty() ? column.key : column.title);
        return out;
    };
    EXPECT_THAT(titles({plain}), Not(testing::Contains("gpu")));
    EXPECT_THAT(titles({plain, used}), testing::Contains("gpu"));
    EXPECT_THAT(titles({plain, used}), testing::Contains("loss"));
    EXPECT_THAT(titles({plain, used}), Not(testing::Contains(HasSubstr("system/"))));
    const auto view = view_of_runs({used, plain});
    EXPECT_EQ(view.rows.as_array()[0].text("gpu_verdict"), "confirmed");
    EXPECT_EQ(view.rows.as_array()[1].text("gpu_verdict"), "");
    EXPECT_EQ(view.exact.as_array()[1].text("gpu_verdict"), "not-requested");
}

TEST(GpuView, RunTellsItsDevicesWithWhatWasSeenOfEach)
{
    const auto view = view_of_run(used);
    EXPECT_EQ(view.rows.text("gpu_verdict"), "confirmed: busy 9.0 s");
    EXPECT_EQ(view.rows.text("gpu 0"),
              "NVIDIA H200 (140.4 GiB, GPU-1): busy 9.0 s of 10.0 s, 2.0 GiB at most, "
              "SM activity 37.1 %, 12.3 kJ");
    EXPECT_EQ(view.rows.text("gpu 1"), "NVIDIA H200 (140.4 GiB, GPU-2): not used, 7.5 kJ");
    EXPECT_EQ(view.rows.text("gpu driver"), "580.65.06, CUDA 13.0");
    EXPECT_EQ(view.rows.text("gpu container"), "direct: no toolkit");
    auto unjudged = used;
    unjudged.as_object().set("gpu_verdict", "unknown");
    EXPECT_EQ(view_of_run(unjudged).rows.text("gpu 1"),
              "NVIDIA H200 (140.4 GiB, GPU-2): no data, 7.5 kJ");
    EXPECT_EQ(view_of_run(plain).rows.text("gpu_verdict"), "not-requested");
    auto early = plain;
    early.as_object().set("gpu_verdict", Json());
    EXPECT_EQ(view_of_run(early).rows.as_object().find("gpu_verdict"), nullptr);
    EXPECT_TRUE(view_of_run(plain).rows["gpu driver"].is_null());
}

TEST(GpuView, MetricsOfTheScriptAndOfPonkAreApart)
{
    EXPECT_TRUE(script_metrics(used["metrics"]) == Json(JsonObject{{"loss", 0.25}}));
    EXPECT_EQ(system_metrics(used["metrics"]).as_object().size(), 2U);
    EXPECT_TRUE(script_metrics(Json()).as_object().empty());
    EXPECT_TRUE(is_charted("system/gpu.0.power"));
    EXPECT_FALSE(is_charted("system/gpu.0.temperature"));
    EXPECT_FALSE(is_charted("system/gpu.x.power"));
    EXPECT_FALSE(is_charted("power"));
}

TEST(GpuView, ChartsHaveACurveForEachGpu)
{
    const auto text = gpu_charts(parsed(R"({
        "system/gpu.0.memory_used": {"points": [[0, 0, 0], [1, 0, 1073741824], [2, 0, 3221225472]]},
        "system/gpu.1.utilisation": {"points": [[0, 0, 0], [1, 0, 50]]},
        "system/gpu.0.utilisation": {"points": [[0, 0, 10], [1, 0, 99.5]]},
        "system/gpu.0.power": {"points": [[0, 0, 500]]},
        "system/gpu.0.energy": {"points": [[0, 0, 500], [0, 250, 600]]},
        "system/gpu.0.temperature": {"points": [[0, 0, 50], [1, 0, 51]]},
        "loss": {"points": [[0, 0, 1], [1, 0, 2]]}})"),
                                 {.width = 80});

    EXPECT_THAT(text, HasSubstr("GPU utilisation, %"));
    EXPECT_THAT(text, HasSubstr("GPU memory in use, GiB"));
    EXPECT_LT(text.find("utilisation"), text.find("memory"));
    EXPECT_THAT(text, HasSubstr("99.5"));
    EXPECT_LT(text.find("GPU 0"), text.find("GPU 1"));
    EXPECT_THAT(text, Not(HasSubstr("power")));   // a single point is no curve,
    EXPECT_THAT(text, Not(HasSubstr("energy")));  // nor are two of the same second
    EXPECT_THAT(text, Not(HasSubstr("temperature")));
    EXPECT_THAT(text, Not(HasSubstr("loss")));
    EXPECT_EQ(gpu_charts(Json(), {}), "");
}

}  // namespace
}  // namespace ponk::cli
