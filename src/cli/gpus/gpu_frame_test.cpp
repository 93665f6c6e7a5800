// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/gpus/gpu_devices.hpp"
#include "cli/gpus/gpu_frame.hpp"
#include "os/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

Json card(const std::string& uuid)
{
    JsonArray processes;
    for (int i = 0; i < 8; ++i)
        processes.emplace_back(JsonObject{{"pid", 4000 + i},
                                          {"memory", std::int64_t{9'663'676'416} - i * 512},
                                          {"sm_utilisation", 0.7},
                                          {"user", "ann"},
                                          {"program", "python3"},
                                          {"run", std::string(24, '0') + "4f1e22aa"}});
    return JsonObject{{"uuid", uuid},
                      {"index", 0},
                      {"name", "NVIDIA H200"},
                      {"pci_bus_id", "0000:0B:00.0"},
                      {"memory_total", 150'754'820'096},
                      {"power_limit_watts", 700.0},
                      {"sample",
                       JsonObject{{"utilisation", 0.83},
                                  {"sm_activity", 0.42},
                                  {"memory_used", 40'000'000'000},
                                  {"power_watts", 412.4},
                                  {"temperature", 61.0},
                                  {"clock_mhz", 1755},
                                  {"ecc_errors", 2},
                                  {"xids", JsonArray{79}}}},
                      {"processes", std::move(processes)}};
}

Json answer(const std::string& target, const std::string& address, JsonArray devices)
{
    return JsonObject{{"target", target},
                      {"address", address},
                      {"driver_version", "580.82.07"},
                      {"cuda_version", "13.0"},
                      {"devices", std::move(devices)}};
}

GpuFrame example()
{
    auto idle = card("GPU-2");
    idle.as_object().set("index", 1);
    idle.as_object().set("sample", JsonObject{{"utilisation", 0.0}, {"lost", "GPU is lost"}});
    idle.as_object().set("processes", JsonArray());
    idle.as_object().set("lease", Json());
    return {
        .devices = devices_of({answer("docker", "", {card("GPU-1"), idle}),
                               answer("local", "", {card("GPU-1"), idle})}),
        .notes = {"host: the machine cannot be reached", "hint: Look whether it is switched on."},
        .title = "2026-03-01T12:30:05Z"};
}

std::string drawn(const output::Terminal& terminal)
{
    GpuMinute minute;
    const auto frame = example();
    for (int i = 0; i < 30; ++i) {
        auto devices = frame.devices;
        for (auto& device : devices)
            device.as_object().find("sample")->as_object().set("utilisation", i / 30.0);
        minute.add(devices, i * 1000);
    }
    return join(draw_gpus(frame, minute, 30'000, terminal), "\n") + "\n";
}

TEST(GpuFrame, LooksAsItsGoldenFilesAtSeveralWidths)
{
    const std::pair<const char*, output::Terminal> cases[] = {
        {"gpu-watch-80.txt", {.width = 80}},
        {"gpu-watch-120-colour.txt", {.width = 120, .colour = true}},
        {"gpu-watch-40-ascii.txt", {.width = 40, .utf8 = false}}};
    for (const auto& [name, terminal] : cases) {
        const auto text = drawn(terminal);
        const auto file = os::Path(PONK_SOURCE_DIR) / "tests/golden/cli" / name;
        if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
            ASSERT_TRUE(os::replace_file(file, text, 0644));
        }
        EXPECT_EQ(os::read_file(file).value_or(""), text) << name;
    }
}

TEST(GpuFrame, NoLineIsWiderThanTheTerminal)
{
    for (int width = 12; width < 140; width += 9) {
        for (const auto& line : split(drawn({.width = width}), '\n'))
            // Below that, labels and values alone need their room.
            EXPECT_LE(display_width(line), static_cast<std::size_t>(std::max(width, 28))) << line;
    }
}

TEST(GpuFrame, MachineThatIsTwoTargetsCountsOnceAndOthersDoNot)
{
    const auto devices = devices_of({answer("docker", "", {card("GPU-1")}),
                                     answer("local", "", {card("GPU-1")}),
                                     answer("host", "host", {card("GPU-1")})});

    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(to_json(devices[0]["targets"]), R"(["docker","local"])");
    EXPECT_EQ(devices[1].text("address"), "host");
}

TEST(GpuFrame, PlainLinesSayTheSame)
{
    const auto lines = gpu_lines(example());

    ASSERT_EQ(lines.size(), 4U);
    EXPECT_THAT(lines[0], HasSubstr("host: the machine cannot be reached"));
    EXPECT_THAT(lines[1], HasSubstr("hint: Look whether it is switched on."));
    EXPECT_EQ(lines[2],
              "2026-03-01T12:30:05Z  docker, local 0  NVIDIA H200  busy 83 %  SM 42 %  memory 37.3 "
              "of 140.4 GiB  412 W  61 °C  ann, run 4f1e22aa");
    EXPECT_THAT(lines[3], HasSubstr("lost: GPU is lost"));
    EXPECT_EQ(gpu_lines({.devices = {}, .notes = {}, .title = "now"}).at(0), "now  no GPU");
}

TEST(GpuFrame, ProblemIsToldOnceWithItsHintAndNeverCut)
{
    GpuFrame frame{.devices = {}, .notes = {}, .title = "now"};
    const std::string message = "driver and library differ: the kernel has 580.82.07, the library "
                                "580.95.05";
    add_problem(frame, "docker", message, "Restart the machine.");
    add_problem(frame, "local", message, "Restart the machine.");
    add_problem(frame, "host", "", "");

    EXPECT_THAT(frame.notes,
                testing::ElementsAre("docker: " + message, "hint: Restart the machine."));
    const auto text = join(draw_gpus(frame, {}, 0, {.width = 30}), " ");
    EXPECT_THAT(text, HasSubstr(message));
    EXPECT_THAT(text, HasSubstr("hint: Restart the machine."));
}

TEST(GpuFrame, LostCardIsNotFree)
{
    const auto frame = example();
    const auto text = join(draw_gpus(frame, {}, 0, {.width = 80}), "\n");
    EXPECT_THAT(text, HasSubstr("lost: GPU is lost"));
    EXPECT_THAT(text, testing::Not(HasSubstr("free")));
}

TEST(GpuFrame, HolderIsTheLeasesBeforeTheProcesses)
{
    auto device = card("GPU-1");
    EXPECT_EQ(holder_text(device), "ann, run 4f1e22aa");

    device.as_object().set("lease", JsonObject{{"user", "bob"}, {"run", "r"}});
    EXPECT_EQ(holder_text(device), "bob, run r");
}

TEST(GpuMinute, PointsFallIntoTheirPartOfTheMinute)
{
    GpuMinute minute;
    const JsonArray devices{card("GPU-1")};
    minute.add(devices, 1'000);
    minute.add(devices, 59'000);

    const auto shares = minute.shares(devices[0], "utilisation", 6, 60'000);

    EXPECT_DOUBLE_EQ(shares[0], 0.83);
    EXPECT_TRUE(std::isnan(shares[3]));
    EXPECT_DOUBLE_EQ(shares[5], 0.83);
    EXPECT_TRUE(std::isnan(minute.shares(devices[0], "utilisation", 6, 200'000)[0]));
}

}  // namespace
}  // namespace ponk::cli
