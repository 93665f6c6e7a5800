// SPDX-License-Identifier: Apache-2.0
#include "executor/facts.hpp"
#include "executor/gpu/gpu_look.hpp"
#include "gpu/lease/lease.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Look : public testing::Test {
protected:
    void say(const std::string& state)
    {
        ASSERT_TRUE(os::replace_file(folder_.path() / "gpus.json", state, 0600, os::Durable::no));
    }

    os::TestFolder folder_;
    std::vector<std::string> environment_{"PATH=/usr/bin:/bin",
                                          "PONK_GPU_PROBE=" PONK_FAKE_GPU_PROBE,
                                          "PONK_FAKE_GPUS=" +
                                              (folder_.path() / "gpus.json").native(),
                                          "PONK_GPU_LOCKS=" + (folder_.path() / "locks").native()};
    GpuLook look_{folder_.path() / "lib"};
};

TEST_F(Look, ShowsCardsWithFiguresAndWhoseTheProcessesAre)
{
    const std::string id(32, 'a');
    const auto child = os::spawn(
        {.argv = {"sleep", "1000"}, .env = {{"PATH=/usr/bin:/bin", "PONK_RUN_ID=" + id}}});
    ASSERT_TRUE(child);
    say(fmt::format(R"({{"devices": [{{"uuid": "GPU-A", "sample": {{"utilisation": 0.5}}, )"
                    R"("processes": [{{"pid": {}, "memory": 9}}, {{"pid": 1073741000}}]}}]}})",
                    child->pid));

    const auto gpus = look_.look(environment_, {});
    (void)os::wait_for_exit(*child, after(0ms), {});

    ASSERT_TRUE(gpus) << gpus.error().message();
    EXPECT_EQ(gpus->text("way"), "fake");
    EXPECT_GT(gpus->integer("time"), 0);
    const auto& device = (*gpus)["devices"].as_array().at(0);
    EXPECT_EQ(device.text("uuid"), "GPU-A");
    EXPECT_DOUBLE_EQ(device["sample"]["utilisation"].as_double(), 0.5);
    const auto& processes = device["processes"].as_array();
    ASSERT_EQ(processes.size(), 2U);
    EXPECT_EQ(processes[0].text("run"), id);
    EXPECT_EQ(processes[0].text("program"), "sleep");
    EXPECT_EQ(processes[0].text("user"), os::user_name());
    EXPECT_TRUE(processes[1]["user"].is_null());  // it is gone already
}

TEST_F(Look, AsksTheSameProgramAgainAndSeesWhatChanged)
{
    say(R"({"devices": 1})");
    ASSERT_TRUE(look_.look(environment_, {}));

    say(R"({"devices": [{"sample": {"utilisation": 1}}]})");
    const auto gpus = look_.look(environment_, {});

    ASSERT_TRUE(gpus);
    EXPECT_DOUBLE_EQ((*gpus)["devices"].as_array().at(0)["sample"]["utilisation"].as_double(), 1);
}

TEST_F(Look, LeaseIsToldWithItsOwnerUntilItIsGivenBack)
{
    say(R"({"devices": [{"uuid": "GPU-A"}]})");
    const auto lease_of = [&] {
        return (*look_.look(environment_, {}))["devices"].as_array().at(0)["lease"];
    };
    const auto locks = gpu::LeaseFolder::open(environment_);
    ASSERT_TRUE(locks) << locks.error().message();
    const auto selection = gpu::parse_gpu_selection("all");
    const gpu::Owner owner{.user = "ann", .run = "r1", .pid = ::getpid(), .since = 5};
    gpu::Device card;
    card.uuid = "GPU-A";
    EXPECT_TRUE(lease_of().is_null());

    {
        const auto ticket = locks->queue(*selection, owner);
        ASSERT_TRUE(ticket) << ticket.error().message();
        const auto taken = locks->try_take(
            *ticket, owner, {card}, [](const auto&) { return std::vector<std::string>(); });
        ASSERT_TRUE(taken && taken->leases.size() == 1);
        EXPECT_EQ(lease_of().text("user"), "ann");
        EXPECT_EQ(lease_of().text("run"), "r1");
    }
    EXPECT_TRUE(lease_of().is_null());
}

TEST_F(Look, MachineWithoutGpusSaysSoAndWhy)
{
    say(R"({"problem": {"kind": "unavailable", "message": "no driver", "hint": "install it"}})");

    const auto gpus = look_.look(environment_, {});

    ASSERT_TRUE(gpus);
    EXPECT_TRUE((*gpus)["devices"].as_array().empty());
    EXPECT_EQ((*gpus)["problem"].text("hint"), "install it");
}

TEST_F(Look, FactsOfAMachineHaveItsGpusFromTheDriver)
{
    say(R"({"devices": [{"name": "Card", "memory_total": 1048576000}],
            "problem": {"kind": "unavailable", "message": "one is lost", "hint": "restart"}})");

    const auto found = machine_facts(folder_.path(), environment_, EngineNeed::none, {});

    const auto& gpu = found["facts"]["gpus"].as_array().at(0);
    EXPECT_EQ(gpu.text("name"), "Card");
    EXPECT_EQ(gpu.text("driver"), "580.1");
    EXPECT_EQ(gpu.text("memory"), "1000 MiB");
    EXPECT_THAT(to_json(found["problems"]), HasSubstr("one is lost"));
}

}  // namespace
}  // namespace ponk::executor
