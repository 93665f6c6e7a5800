// SPDX-License-Identifier: Apache-2.0
// Runs of another machine whose log finds no room at home. Needs the right to mount.
#include "executor/remote/hostile_host_test_support.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "small_disk.hpp"

#include <optional>

namespace ponk::executor::remote {
namespace {

class CrowdedDisk : public HostileHosts {
protected:
    void SetUp() override
    {
        EXPECT_TRUE(os::make_directories(runs_));
        disk_.emplace(runs_, "100m");  // less than is to stay free
        if (!disk_->problem().empty()) GTEST_SKIP() << disk_->problem();
    }

    Path runs_ = folder_.path() / "runs";
    std::optional<SmallDisk> disk_;
};

TEST_F(CrowdedDisk, WhatFindsNoRoomDoesNotTravelAndStaysThere)
{
    std::vector<std::string> heard;
    const auto target = executor([&](const Frame& request) -> std::vector<Frame> {
        const bool bytes = request.head.boolean("bytes", true);
        heard.push_back(request.head.text("call") + (bytes ? "" : " without bytes"));
        if (!request.head.text("call").starts_with("sync")) return {answer({})};
        return end({{"outputs", false}, {"more", true}});
    });
    const auto job = make_job();
    ASSERT_TRUE(target->stage(job, {}, {}));
    ASSERT_TRUE(os::replace_file(job.context.directory.task() / control::log, "begun"));
    std::filesystem::resize_file(job.context.directory.task() / control::log, 65 << 20);  // a hole

    const auto status = target->sync(job.spec.id.text(), job.context.directory, {}, after(5s), {});

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_TRUE(status->exit) << "nobody waits for it for ever";
    EXPECT_THAT(status->reason, testing::HasSubstr("the rest of the log and metrics stays"));
    EXPECT_THAT(heard, testing::ElementsAre("stage", "sync without bytes"))
        << "the machine must not hear that all is here";
}

}  // namespace
}  // namespace ponk::executor::remote
