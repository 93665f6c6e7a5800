// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor/doctor_checks.hpp"
#include "cli/hosts/target_facts.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

Json answer(const char* text)
{
    return parse_json(text).value();
}

constexpr const char* gpu_host = R"({
  "target": "host", "type": "remotedocker", "address": "ann@host", "reachable": true,
  "facts": {"system": "Ubuntu 22.04", "architecture": "x86_64", "home": "/home/ann",
    "free_disk": 44023414784,
    "engine": {"name": "Docker", "version": "24.0.5", "api": "1.43", "rootless": false,
               "live_restore": false, "runtimes": ["runc", "nvidia"]},
    "gpus": [{"name": "NVIDIA A100", "driver": "535.1", "memory": 1},
             {"name": "NVIDIA A100", "driver": "535.1", "memory": 1}],
    "python": "Python 3.10.12"},
  "problems": [{"severity": "warning", "what": "live-restore is off", "hint": "Set it."}]})";

TEST(TargetFacts, FitOnOneLine)
{
    EXPECT_EQ(facts_line(answer(gpu_host)),
              "Ubuntu 22.04, x86_64, 41.0 GiB free; Docker 24.0.5 (API 1.43), no live-restore; 2 x "
              "NVIDIA A100; Python 3.10.12");
    EXPECT_EQ(facts_line(answer(R"({"type": "remotedocker", "facts": {"system": "Debian 12",
                                    "engine": null, "gpus": []}})")),
              "Debian 12; no container engine; no GPU");
    EXPECT_EQ(facts_line(answer(R"({"type": "remotedocker", "facts": {"system": "Debian 12",
                                    "engine": null, "closed_engine": "/run/d.sock", "gpus": []}})")),
              "Debian 12; a container engine that cannot be used ('/run/d.sock'); no GPU");
}

TEST(TargetFacts, ATargetThatCannotBeUsedHasNoLineThatSaysOk)
{
    const auto broken =
        target_lines("target 'x'", answer(R"({"type": "remotedocker", "reachable": true,
                   "facts": {"system": "Debian 12", "engine": null, "gpus": []},
                   "problems": [{"severity": "warning", "what": "little space", "hint": "Free."},
                                {"severity": "error", "what": "no engine", "hint": "Get one."}]})"));
    ASSERT_EQ(broken.size(), 2U);
    EXPECT_EQ(broken[0].text("status"), "warn");
    EXPECT_EQ(broken[1].text("status"), "fail");
    EXPECT_EQ(broken[1].text("message"), "no engine (Debian 12; no container engine; no GPU)");
    EXPECT_EQ(broken[1].text("hint"), "Get one.");
    const auto fine = target_lines("target 'x'", answer(gpu_host));
    ASSERT_EQ(fine.size(), 2U);
    EXPECT_EQ(fine[0].text("status"), "ok");
    EXPECT_EQ(fine[1].text("status"), "warn");
}

TEST(TargetFacts, AWarningDoesNotKeepRunsAwayAndAnErrorDoes)
{
    EXPECT_TRUE(is_ready(answer(gpu_host)));
    EXPECT_FALSE(is_ready(
        answer(R"({"reachable": true, "problems": [{"severity": "error", "what": "x"}]})")));
    EXPECT_FALSE(is_ready(answer(R"({"reachable": false, "problems": []})")));
}

TEST(TargetFacts, AGpuAndAPlainEngineAreEnoughForContainers)
{
    EXPECT_TRUE(has_gpu_for_containers(answer(gpu_host)));
    EXPECT_TRUE(has_gpu_for_containers(
        answer(R"({"facts": {"gpus": [{"name": "x"}], "engine": {"runtimes": ["runc"]}}})")));
    EXPECT_FALSE(
        has_gpu_for_containers(answer(R"({"facts": {"gpus": [{"name": "x"}], "engine": null}})")));
    EXPECT_FALSE(has_gpu_for_containers(
        answer(R"({"facts": {"gpus": [], "engine": {"runtimes": ["nvidia"]}}})")));
    EXPECT_FALSE(has_gpu_for_containers(answer(R"({"facts": null})")));
}

TEST(TargetFacts, DoctorTellsCardsOrWhyThereAreNone)
{
    const auto fine = gpu_check(answer(R"({"reachable": true, "driver_version": "580.82.07",
        "cuda_version": "13.0", "devices": [{"name": "H200"}, {"name": "H200"}]})"));
    EXPECT_EQ(fine.text("status"), "ok");
    EXPECT_EQ(fine.text("message"), "2 x H200, driver 580.82.07, CUDA 13.0");
    const auto none = gpu_check(answer(R"({"reachable": true, "devices": []})"));
    EXPECT_EQ(none.text("status"), "ok");
    EXPECT_EQ(none.text("message"), "no GPU");
    const auto broken = gpu_check(answer(R"({"reachable": true, "devices": [], "problem":
        {"kind": "unavailable", "message": "driver and library differ", "hint": "Restart."}})"));
    EXPECT_EQ(broken.text("status"), "warn");
    EXPECT_EQ(broken.text("message"), "driver and library differ");
    EXPECT_EQ(broken.text("hint"), "Restart.");
    const auto partly = gpu_check(answer(R"({"devices": [{"name": "H200"}], "problem":
        {"message": "a card is missing", "hint": "Look."}})"));
    EXPECT_EQ(partly.text("status"), "warn");
    EXPECT_EQ(partly.text("message"), "a card is missing (H200)");
}

TEST(TargetFacts, OddAnswersAreTakenAsTheyCome)
{
    EXPECT_TRUE(problems_of(answer(R"({"problems": null})")).empty());
    EXPECT_EQ(facts_line(answer(R"({})")), "no details available");
}

}  // namespace
}  // namespace ponk::cli
