// SPDX-License-Identifier: Apache-2.0
#include "model/exit_record.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace ponk::model {
namespace {

ExitRecord sample()
{
    ExitRecord record;
    record.code = 3;
    record.cause = "time-limit";
    record.message = "two\nlines \\ and a backslash";
    record.started = 1'700'000'000'123;
    record.ended = 1'700'000'005'123;
    record.duration_ms = 5000;
    record.log_length = 123'456'789'012;
    record.log_sha256 = std::string(64, 'a');
    record.oom_evidence = "cgroup 2: 0 before, 1 after";
    record.survivors = 2;
    record.unkillable = 1;
    record.disk_full = 1;
    return record;
}

TEST(ExitRecord, SurvivesARoundTrip)
{
    const auto back = parse_exit_record(to_text(sample()));

    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(to_text(*back), to_text(sample()));
    EXPECT_EQ(back->message, sample().message);
    EXPECT_EQ(back->log_length, sample().log_length);
}

TEST(ExitRecord, IsRefusedWhenCutAnywhere)
{
    const auto whole = to_text(sample());

    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto cut = parse_exit_record(std::string_view(whole).substr(0, length));
        ASSERT_FALSE(cut) << length;
        EXPECT_EQ(cut.error().kind(), ErrorKind::damaged);
    }
}

TEST(ExitRecord, LinesOfALaterVersionAreSkipped)
{
    const auto record = parse_exit_record("ponk-exit 1\ncode 7\nweather fine\nend\n");

    ASSERT_TRUE(record);
    EXPECT_EQ(record->status(), 7);
}

TEST(ExitRecord, ACodeThatCannotBeIsRefused)
{
    EXPECT_FALSE(parse_exit_record("ponk-exit 1\ncode 256\nend\n"));
    EXPECT_FALSE(parse_exit_record("ponk-exit 1\ncode x\nend\n"));
    EXPECT_FALSE(parse_exit_record("ponk-exit 1\nsignal 9\nend\n"));
    EXPECT_FALSE(parse_exit_record("ponk-exit 2\ncode 1\nend\n"));
}

TEST(ExitRecord, ReadsTheGoldenFile)
{
    std::ifstream file(PONK_SOURCE "/tests/golden/exit-record", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();

    const auto record = parse_exit_record(text.str());

    ASSERT_TRUE(record);
    EXPECT_EQ(record->status(), 139);
    EXPECT_EQ(record->oom_kills, -1);
    EXPECT_EQ(record->max_rss_kib, 6);
    EXPECT_EQ(record->message, "a\nb");
    EXPECT_EQ(to_text(*record), text.str());
}

}  // namespace
}  // namespace ponk::model
