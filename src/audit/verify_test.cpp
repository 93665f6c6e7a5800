// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_log.hpp"
#include "audit/verify.hpp"
#include "base/text.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <unistd.h>

namespace ponk::audit {
namespace {

using testing::HasSubstr;

// The log of two files that tests/golden/audit holds: what it says must be read for ever.
class Verification : public testing::Test {
protected:
    Verification()
    {
        std::filesystem::copy(os::Path(PONK_SOURCE_DIR) / "tests/golden/audit",
                              home(),
                              std::filesystem::copy_options::recursive);
    }
    [[nodiscard]] os::Path home() const { return folder_.path() / "home"; }
    void change(std::int64_t file, const std::function<void(std::vector<std::string>&)>& how) const
    {
        auto lines = split(*os::read_file(file_of(home(), file)), '\n');
        how(lines);
        ASSERT_TRUE(os::replace_file(file_of(home(), file), join(lines, "\n")));
    }
    void expect_break(const std::string& place, const std::string& what) const
    {
        const auto verdict = verify(home());
        ASSERT_TRUE(verdict) << verdict.error().message();
        ASSERT_TRUE(verdict->broken);
        EXPECT_EQ(verdict->broken->place, place);
        EXPECT_THAT(verdict->broken->what, HasSubstr(what));
    }

    os::TestFolder folder_;
};

TEST_F(Verification, TheStoredFormatIsReadAsItWasWritten)
{
    const auto verdict = verify(home()).value();

    EXPECT_FALSE(verdict.broken) << verdict.broken->place << ": " << verdict.broken->what;
    EXPECT_EQ(verdict.head.number, 8);
    EXPECT_EQ(verdict.files, 2U);
}

TEST_F(Verification, AChangedWordIsFound)
{
    change(1, [](auto& lines) { lines[1].replace(lines[1].find("token:ann"), 9, "token:bob"); });
    expect_break("audit/000001.jsonl:2", "was changed");
}

TEST_F(Verification, ARemovedLineIsFound)
{
    change(1, [](auto& lines) { lines.erase(lines.begin() + 2); });
    expect_break("audit/000001.jsonl:3", "records 3 to 3 are missing");
}

TEST_F(Verification, AnAddedOrMovedLineIsFound)
{
    change(2, [](auto& lines) { lines.insert(lines.begin() + 1, lines[0]); });
    expect_break("audit/000002.jsonl:2", "out of order");
}

TEST_F(Verification, ALineWithANewHashDoesNotFollow)
{
    change(1, [](auto& lines) {
        Record record;
        record.kind = "request";
        record.who = "token:bob";
        Head head{1, std::string(64, 'a')};
        lines[1] = line_of(record, head);
        lines[1].pop_back();
    });
    expect_break("audit/000001.jsonl:2", "does not follow");
}

TEST_F(Verification, ATailThatWasCutOffIsFound)
{
    change(2, [](auto& lines) { lines.erase(lines.begin() + 2, lines.end() - 1); });
    expect_break("audit/000002.jsonl:2", "records 7 to 8 are missing behind it");
}

TEST_F(Verification, AFileThatWasRemovedIsFound)
{
    ::unlink(file_of(home(), 2).c_str());
    expect_break("audit/000001.jsonl:4", "records 5 to 8 are missing behind it");
}

TEST_F(Verification, TheFirstFileThatWasRemovedIsFound)
{
    ::unlink(file_of(home(), 1).c_str());
    expect_break("audit/000002.jsonl:1", "records 1 to 4 are missing");
}

TEST_F(Verification, TheWholeFolderThatWasRemovedIsFound)
{
    ASSERT_TRUE(os::remove_tree(folder_of(home())));
    expect_break("audit", "records 1 to 8 are missing");
}

TEST_F(Verification, AHeadThatWasRemovedIsFound)
{
    ::unlink(head_file(home()).c_str());
    expect_break("audit.head", "missing");
}

TEST_F(Verification, ACutThatADaemonFoundAtItsStartStaysInTheLog)
{
    change(2, [](auto& lines) { lines.erase(lines.begin() + 2, lines.end() - 1); });
    {
        const AuditLog log(home());
    }

    expect_break("audit/000002.jsonl:3", "records 7 to 8 are missing");
}

TEST_F(Verification, AHeadThatADaemonDidNotFindStaysInTheLog)
{
    ::unlink(head_file(home()).c_str());
    {
        const AuditLog log(home());
    }

    expect_break("audit/000002.jsonl:5", "audit.head");
}

TEST_F(Verification, AHashThatWasWrittenDownElsewhereIsCompared)
{
    const auto head = verify(home())->head;

    EXPECT_FALSE(verify(home(), Anchor{8, head.hash})->broken);
    EXPECT_EQ(verify(home(), Anchor{8, std::string(64, 'b')})->broken->place,
              "audit/000002.jsonl:4");
    EXPECT_THAT(verify(home(), Anchor{9, head.hash})->broken->what, HasSubstr("no record 9"));
}

}  // namespace
}  // namespace ponk::audit
