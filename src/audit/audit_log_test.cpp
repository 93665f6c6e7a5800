// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_log.hpp"
#include "audit/list.hpp"
#include "audit/verify.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <memory>
#include <thread>

namespace ponk::audit {
namespace {

using testing::HasSubstr;

class AuditLogs : public testing::Test {
protected:
    static Record change(const std::string& run)
    {
        Record record;
        record.time = 1'790'000'000'000;
        record.kind = "request";
        record.who = "token:ann";
        record.role = "write";
        record.listener = "network";
        record.peer = "192.0.2.7";
        record.method = "POST";
        record.route = "/api/v1/runs/{run}/cancel";
        record.object = JsonObject{{"run", run}};
        record.status = 200;
        record.outcome = "done";
        return record;
    }
    static Record refusal(const std::string& peer)
    {
        auto record = change("");
        record.kind = "refused";
        record.who = "nobody";
        record.role.clear();
        record.object = {};
        record.peer = peer;
        record.status = 401;
        record.outcome = "refused";
        return record;
    }
    static Counting logging()
    {
        return {.who = "token:ann",
                .listener = "loopback",
                .peer = "127.0.0.1",
                .method = "POST",
                .prefix = "",
                .pattern = "/api/2.0/mlflow/runs/log-batch"};
    }
    JsonArray records(const Selection& selection = {}) const
    {
        return list(home(), selection).value();
    }
    [[nodiscard]] os::Path home() const { return folder_.path(); }
    std::unique_ptr<AuditLog> open(Limits limits = {})
    {
        return std::make_unique<AuditLog>(
            home(), [this](const std::string& line) { told_.push_back(line); }, limits);
    }

    os::TestFolder folder_;
    std::vector<std::string> told_;
};

TEST_F(AuditLogs, ARecordIsThereWhenTheCallReturns)
{
    const auto log = open();
    log->write(change("a1"));

    ASSERT_EQ(records().size(), 1U);
    EXPECT_EQ(records()[0].text("who"), "token:ann");
    EXPECT_EQ(records()[0]["object"].text("run"), "a1");
    EXPECT_FALSE(verify(home())->broken);
}

TEST_F(AuditLogs, TheNextWriterContinuesTheChain)
{
    for (const char* run : {"a", "b", "c"})
        open()->write(change(run));

    EXPECT_EQ(records().size(), 3U);
    EXPECT_EQ(records()[2].integer("n"), 3);
    const auto verdict = verify(home()).value();
    EXPECT_FALSE(verdict.broken) << verdict.broken->what;
    EXPECT_EQ(verdict.head.number, 3);
    EXPECT_TRUE(told_.empty());
}

TEST_F(AuditLogs, CallsThatAreCountedMakeNoFileAccessAndOneLine)
{
    const auto log = open();
    for (int i = 0; i < 5000; ++i)
        log->count(logging());
    EXPECT_TRUE(records().empty());

    log->flush();

    ASSERT_EQ(records().size(), 1U);
    EXPECT_EQ(records()[0].text("kind"), "summary");
    EXPECT_EQ(records()[0].integer("count"), 5000);
    EXPECT_EQ(records()[0].text("route"), "/api/2.0/mlflow/runs/log-batch");
}

TEST_F(AuditLogs, AFloodOfRefusalsHasAFewLines)
{
    const auto log = open();
    for (int i = 0; i < 1000; ++i) {
        log->refuse(refusal("192.0.2.1"));
        log->refuse(refusal("198.51.100." + std::to_string(i % 250)));
    }
    log->flush();

    const auto all = records();
    EXPECT_LE(all.size(), 2 * (Limits().kinds + 1));
    std::int64_t calls = 0;
    for (const auto& record : all)
        calls += std::max<std::int64_t>(1, record.integer("count"));
    EXPECT_EQ(calls, 2000);
    EXPECT_EQ(all[0].text("peer"), "192.0.2.1");
}

TEST_F(AuditLogs, TheHeadFollowsWhateverWasWritten)
{
    const auto log = open();
    const auto head_number = [this] {
        return parse_head(*os::read_file(head_file(home())))->number;
    };
    EXPECT_EQ(head_number(), 0);

    log->refuse(refusal("192.0.2.1"));
    log->flush();
    EXPECT_EQ(head_number(), 1);
    log->count(logging());
    log->flush();
    EXPECT_EQ(head_number(), 2);
    log->write(change("a"));
    for (int i = 0; i < 2000 && head_number() < 3; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(head_number(), 3) << "without being asked to";
}

TEST_F(AuditLogs, ATornLineIsRemovedAndThatIsNoted)
{
    open()->write(change("a"));
    {
        const auto file = os::open_file(file_of(home(), 1), O_WRONLY | O_APPEND).value();
        ASSERT_TRUE(os::write_all(file.get(), R"({"n":2,"prev":"12)"));
    }
    EXPECT_FALSE(verify(home())->broken);
    EXPECT_THAT(verify(home())->notes.at(0), HasSubstr("audit/000001.jsonl:2"));

    open()->write(change("b"));

    ASSERT_EQ(records().size(), 3U);
    EXPECT_EQ(records()[1].text("kind"), "repaired");
    EXPECT_THAT(told_.at(0), HasSubstr("17 bytes"));
    EXPECT_FALSE(verify(home())->broken);
}

TEST_F(AuditLogs, FilesAreRotatedAndTheLogSaysWhatItRemoved)
{
    const Limits limits{.file = 2000, .total = 8000};
    {
        const auto log = open(limits);
        for (int i = 0; i < 100; ++i)
            log->write(change(std::to_string(i)));
    }

    const auto files = list_files(home()).value();
    EXPECT_GT(files.front().number, 1);
    EXPECT_GT(files.size(), 1U);
    std::uint64_t total = 0;
    for (const auto& file : files)
        total += file.size;
    EXPECT_LE(total, limits.total + limits.file);
    const auto verdict = verify(home()).value();
    EXPECT_FALSE(verdict.broken) << verdict.broken->place << verdict.broken->what;
    EXPECT_GT(verdict.first, 1);

    ASSERT_TRUE(os::remove_tree(files.front().path));
    const auto other = verify(home()).value();
    ASSERT_TRUE(other.broken);
    EXPECT_THAT(other.broken->what, HasSubstr("no record says that they were removed"));
}

TEST_F(AuditLogs, WhatCannotBeWrittenIsCountedAndSaidLater)
{
    // A file in the place of the folder: nothing can be written, as on a full disk.
    ASSERT_TRUE(os::replace_file(folder_of(home()), ""));
    const auto log = open();
    log->write(change("a"));
    log->write(change("b"));
    EXPECT_EQ(told_.size(), 1U) << "once, not for each";

    ASSERT_TRUE(os::remove_tree(folder_of(home())));
    log->write(change("c"));

    ASSERT_EQ(records().size(), 2U);
    EXPECT_EQ(records()[0].text("kind"), "lost");
    EXPECT_EQ(records()[0].integer("count"), 2);
    EXPECT_FALSE(verify(home())->broken);
}

TEST_F(AuditLogs, ManyThreadsMakeOneChain)
{
    const auto log = open({.file = 20'000});
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&] {
                for (int i = 0; i < 200; ++i) {
                    log->write(change("x"));
                    log->refuse(refusal("192.0.2.9"));
                    log->count(logging());
                }
            });
        }
    }
    log->flush();

    const auto verdict = verify(home()).value();
    EXPECT_FALSE(verdict.broken) << verdict.broken->place << verdict.broken->what;
    EXPECT_GE(verdict.head.number, 802);
}

TEST_F(AuditLogs, SelectsByTimeCallerAndOutcome)
{
    const auto log = open();
    log->write(change("a"));
    auto later = change("b");
    later.time += 60'000;
    later.who = "token:bob";
    log->write(later);
    log->refuse(refusal("192.0.2.1"));
    log->flush();

    EXPECT_EQ(records({.since = later.time}).size(), 1U);
    EXPECT_EQ(records({.who = "token:ann"}).size(), 1U);
    EXPECT_EQ(records({.outcome = Selection::Outcome::refused}).size(), 1U);
    ASSERT_EQ(records({.limit = 2}).size(), 2U);
    EXPECT_EQ(records({.limit = 2})[0].text("who"), "token:bob");
}

}  // namespace
}  // namespace ponk::audit
