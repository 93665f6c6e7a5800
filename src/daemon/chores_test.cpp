// SPDX-License-Identifier: Apache-2.0
#include "daemon/chores.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

namespace ponk::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t day = std::int64_t{24} * 3600 * 1000;
constexpr std::int64_t noon = 1'790'000'000'000;

class ChoreTest : public testing::Test {
protected:
    ChoreTest() : history_(std::move(*store::History::open(folder_.path() / "history")))
    {
        begin();
    }

    // As a daemon does that was just started.
    void begin()
    {
        chores_.emplace(*history_, [this](const std::string& line) { told_.push_back(line); });
        chores_->add("garbage", day, [this](const std::stop_token&) -> Result<> {
            ++tries_;
            if (!problem_.empty()) return fail(ErrorKind::damaged, "{}", problem_);
            return {};
        });
    }
    void at(std::int64_t ms) { chores_->work(noon + ms, 1 + ms, {}); }

    os::TestFolder folder_;
    std::unique_ptr<store::History> history_;
    std::optional<Chores> chores_;
    std::string problem_;
    std::vector<std::string> told_;
    int tries_ = 0;
};

TEST_F(ChoreTest, WhatSucceededIsDoneForItsInterval)
{
    at(0);
    at(day / 2);
    begin();
    at(day - 1);
    EXPECT_EQ(tries_, 1);

    at(day);
    EXPECT_EQ(tries_, 2);
    EXPECT_TRUE(told_.empty());
}

TEST_F(ChoreTest, WhatFailedIsNotDoneAndIsTriedAgainWithGrowingPauses)
{
    problem_ = "'/store/trash' cannot be listed";
    at(0);
    at(Chores::first_pause_ms - 1);
    EXPECT_EQ(tries_, 1);
    at(Chores::first_pause_ms);
    EXPECT_EQ(tries_, 2);
    at(Chores::first_pause_ms * 2);
    EXPECT_EQ(tries_, 2);
    at(Chores::first_pause_ms * 3);
    EXPECT_EQ(tries_, 3);
    EXPECT_THAT(told_, ElementsAre(HasSubstr("'/store/trash'"))) << "once for each cause";

    begin();  // the next daemon knows that it was not done
    at(1);
    EXPECT_EQ(tries_, 4);
}

TEST_F(ChoreTest, AnotherCauseIsToldAndSoIsTheEndOfIt)
{
    problem_ = "one";
    at(0);
    problem_ = "two";
    at(day);
    problem_.clear();
    at(3 * day);
    at(4 * day);

    EXPECT_THAT(told_, ElementsAre(HasSubstr("one"), HasSubstr("two"), HasSubstr("done again")));
    EXPECT_EQ(tries_, 4);
}

TEST_F(ChoreTest, OneThatFailsDoesNotKeepTheOthers)
{
    problem_ = "no";
    int others = 0;
    chores_->add("backup", day, [&](const std::stop_token&) -> Result<> {
        ++others;
        return {};
    });
    at(0);

    EXPECT_EQ(others, 1);
}

}  // namespace
}  // namespace ponk::daemon
