// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_log.hpp"
#include "audit/list.hpp"
#include "audit/verify.hpp"
#include "base/time.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <memory>

namespace ponk::audit {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// What one caller can make of the log that all share.
class AuditLimits : public testing::Test {
protected:
    static Record call(const std::string& who, const std::string& run, int status = 200)
    {
        Record record;
        record.time = 1'790'000'000'000;
        record.kind = "request";
        record.who = who;
        record.listener = "network";
        record.peer = "192.0.2.7";
        record.method = "POST";
        record.route = "/api/2.0/mlflow/runs/delete";
        record.object = JsonObject{{"run_id", run}};
        record.status = status;
        record.outcome = status < 400 ? "done" : "failed";
        return record;
    }
    [[nodiscard]] std::size_t bytes() const
    {
        std::size_t all = 0;
        const auto files = list_files(home()).value();
        for (const auto& file : files)
            all += file.size;
        return all;
    }
    [[nodiscard]] JsonArray records(const Selection& selection = {}) const
    {
        return list(home(), selection).value();
    }
    [[nodiscard]] std::int64_t calls_of(const std::string& who) const
    {
        std::int64_t calls = 0;
        for (const auto& record : records({.who = who})) {
            if (record.text("kind") != "limited")
                calls += std::max<std::int64_t>(1, record.integer("count"));
        }
        return calls;
    }
    [[nodiscard]] os::Path home() const { return folder_.path(); }

    os::TestFolder folder_;
};

TEST_F(AuditLimits, FailedCallsThatRepeatHaveOneLineAndACount)
{
    AuditLog log(home());
    for (int i = 0; i < 10'000; ++i)
        log.write(call("token:eve", std::to_string(i), 404));
    log.write(call("token:ann", "mine"));
    log.flush();

    const auto all = records();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0]["object"].text("run_id"), "0");
    EXPECT_EQ(all[1].text("who"), "token:ann");
    EXPECT_EQ(all[2].integer("count"), 9'999);
    EXPECT_EQ(all[2].text("outcome"), "failed");
    EXPECT_EQ(all[2].integer("status"), 404);
    EXPECT_EQ(all[2].text("route"), "/api/2.0/mlflow/runs/delete");
    EXPECT_FALSE(verify(home())->broken);
}

TEST_F(AuditLimits, FailuresOnManyRoutesAreBoundedForEachCaller)
{
    const Limits limits;
    AuditLog log(home());
    for (int i = 0; i < 5'000; ++i) {
        auto failed = call("token:eve", "x", 404);
        failed.peer = "198.51.100." + std::to_string(i);
        log.write(failed);
    }
    log.write(call("token:ann", "mine", 409));
    log.flush();

    EXPECT_LE(records({.who = "token:eve"}).size(), limits.kinds + 1);
    EXPECT_EQ(calls_of("token:eve"), 5'000);
    ASSERT_EQ(records({.who = "token:ann"}).size(), 1U) << "others have their own lines";
    EXPECT_EQ(records({.who = "token:ann"})[0]["object"].text("run_id"), "mine");
}

TEST_F(AuditLimits, ACallerCannotPushTheRecordsOfOthersOut)
{
    const Limits limits{.file = 20'000, .total = 200'000, .daily = 40'000};
    AuditLog log(home(), {}, limits);
    log.write(call("token:ann", "mine"));
    for (int i = 0; i < 20'000; ++i)
        log.write(call("token:eve", std::to_string(i)));
    log.write(call("token:ann", "mine too"));
    log.flush();

    EXPECT_LE(bytes(), limits.daily + 10'000);
    const auto of_ann = records({.who = "token:ann"});
    ASSERT_EQ(of_ann.size(), 2U);
    EXPECT_EQ(of_ann[0]["object"].text("run_id"), "mine");
    EXPECT_EQ(of_ann[1]["object"].text("run_id"), "mine too");
    EXPECT_EQ(calls_of("token:eve"), 20'000) << "no call is forgotten";
    const auto verdict = verify(home()).value();
    EXPECT_FALSE(verdict.broken) << verdict.broken->what;
    EXPECT_EQ(verdict.first, 1);
}

TEST_F(AuditLimits, TheLogSaysWhenACallersShareBecomesSmaller)
{
    AuditLog log(home(), {}, {.daily = 4'000});
    const auto said = [this] {
        std::vector<std::string> texts;
        for (const auto& record : records()) {
            if (record.text("kind") == "limited") texts.push_back(record.text("text"));
        }
        return texts;
    };
    for (int minute = 0; minute < 20 && said().size() < 2; ++minute) {
        log.write(call("token:eve", std::to_string(minute)));
        log.flush();
    }
    EXPECT_THAT(said(), testing::ElementsAre(HasSubstr("half of its share"), EndsWith("one line")));

    for (int i = 0; i < 5; ++i)
        log.write(call("token:eve", "x"));
    log.flush();

    const auto last = records().back();
    EXPECT_EQ(last.text("kind"), "summary");
    EXPECT_EQ(last.text("who"), "token:eve");
    EXPECT_EQ(last.integer("count"), 5);
    EXPECT_TRUE(last.text("route").empty());
}

TEST_F(AuditLimits, TheNextDayHasANewShare)
{
    AuditLog log(home(), {}, {.daily = 2'000});
    for (int i = 0; i < 100; ++i)
        log.write(call("token:eve", "x"));
    const auto before = records().size();
    auto next = call("token:eve", "of the next day");
    next.time += 86'400'000;
    log.write(next);

    EXPECT_EQ(records().size(), before + 1);
}

TEST_F(AuditLimits, TheNextWriterKnowsWhatACallerHasHadToday)
{
    const auto today = wall_milliseconds();
    for (int writer = 0; writer < 10; ++writer) {
        AuditLog log(home(), {}, {.daily = 4'000});
        for (int i = 0; i < 100; ++i) {
            auto record = call("token:eve", std::to_string(i));
            record.time = today;
            log.write(record);
        }
    }

    // Midnight may fall into this test: then there are two days.
    EXPECT_LE(bytes(), 2 * 4'000U + 10 * 3 * 600U);
    EXPECT_EQ(calls_of("token:eve"), 1'000);
}

TEST_F(AuditLimits, RunsShareTheLogAsOneCaller)
{
    AuditLog log(home(), {}, {.daily = 4'000});
    for (int i = 0; i < 1'000; ++i)
        log.write(call("run:" + std::to_string(i), "x"));
    log.flush();

    EXPECT_LE(bytes(), 6'000U);
}

TEST_F(AuditLimits, ANameHasItsLimitAsItIsWritten)
{
    const std::string control(200, '\x01');
    AuditLog log(home());
    log.write(call("token:eve", control));

    EXPECT_LE(records()[0]["object"].text("run_id").size() * 6, 200U);
    EXPECT_EQ(bounded(std::string(200, 'a')).size(), 200U);
    EXPECT_EQ(bounded(std::string(201, 'a')).size(), 200U);
    EXPECT_EQ(bounded("a" + std::string(200, '"')).size(), 100U);
    EXPECT_EQ(bounded(std::string(199, 'a') + "ü").size(), 199U) << "not half of a character";
    EXPECT_EQ(bounded(std::string(300, '\xff')).size(), 33U);
}

TEST_F(AuditLimits, VerifyNamesWhatWasRemoved)
{
    AuditLog log(home(), {}, {.file = 2'000, .total = 8'000});
    for (int i = 0; i < 100; ++i) {
        auto record = call("token:ann", std::to_string(i));
        record.time += i * 1000;
        log.write(record);
    }

    const auto verdict = verify(home()).value();
    ASSERT_FALSE(verdict.broken);
    ASSERT_TRUE(verdict.removed);
    EXPECT_EQ(verdict.removed->last, verdict.first - 1);
    EXPECT_THAT(verdict.removed->until, HasSubstr("2026-09-21T"));
}

TEST_F(AuditLimits, TheNewestOnesAreListedWithoutHoldingTheOthers)
{
    AuditLog log(home(), {}, {.file = 2'000});
    for (int i = 0; i < 50; ++i)
        log.write(call("token:ann", std::to_string(i)));

    const auto last = records({.limit = 3});
    ASSERT_EQ(last.size(), 3U);
    EXPECT_EQ(last[0]["object"].text("run_id"), "47");
    std::int64_t expected = 0;
    ASSERT_TRUE(for_each_record(home(), {}, [&](const Json& record) -> Result<> {
        EXPECT_EQ(record.integer("n"), ++expected);
        return {};
    }));
    EXPECT_EQ(expected, 50);
}

}  // namespace
}  // namespace ponk::audit
