// SPDX-License-Identifier: Apache-2.0
#include "engine/context/log_check.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace ponk::engine {
namespace {

class LogCheck : public testing::Test {
protected:
    LogCheck() { write("hello\n"); }

    void write(std::string_view bytes) { EXPECT_TRUE(os::replace_file(log_.path, bytes)); }
    std::string damage(LogDepth depth = LogDepth::cheap)
    {
        const auto found = find_log_damage(log_, promise_, depth, digests_);
        EXPECT_TRUE(found) << found.error().message();
        if (!found || !*found) return "none";
        EXPECT_EQ((*found)->kind(), ErrorKind::damaged);
        return (*found)->message().substr(log_.id.text().size() + 18);
    }

    os::TestFolder folder_;
    LogFile log_{RunId::make(), folder_.path() / "log"};
    LogPromise promise_{6, sha256("hello\n").text()};
    LogDigests digests_;
};

TEST_F(LogCheck, ALogAsItWasIsWhole)
{
    EXPECT_EQ(damage(), "none");
    EXPECT_EQ(damage(LogDepth::known), "none");
}

TEST_F(LogCheck, OneThatWasCutAddedToOrChangedIsNamedSo)
{
    write("hel");
    EXPECT_EQ(damage(LogDepth::known), "was truncated: 3 of its 6 bytes are left");
    write("hello\nmore");
    EXPECT_EQ(damage(LogDepth::known), "grew after the run had ended: it has 10 bytes, and had 6");
    write("Jello\n");
    EXPECT_EQ(damage(LogDepth::known), "none") << "the length alone does not tell";
    EXPECT_EQ(damage(), "was changed: its checksum differs from the one at the run's end");
    EXPECT_EQ(damage(LogDepth::known),
              "was changed: its checksum differs from the one at the run's end");
}

TEST_F(LogCheck, WhatIsNoPlainFileIsGone)
{
    std::filesystem::remove(log_.path);
    EXPECT_EQ(damage(), "is missing: it had 6 bytes when the run ended");
    ASSERT_EQ(::mkfifo(log_.path.c_str(), 0600), 0);
    EXPECT_EQ(damage(), "is missing: it had 6 bytes when the run ended");
    std::filesystem::remove(log_.path);
    std::filesystem::create_symlink("/etc/hostname", log_.path);
    EXPECT_EQ(damage(), "is missing: it had 6 bytes when the run ended");
    promise_.length = 0;
    EXPECT_EQ(damage(), "none") << "nothing was there to lose";
}

TEST_F(LogCheck, AKnownDigestIsUsedAsLongAsTheFileIsTheSame)
{
    os::FileStatus status;
    const auto file = *os::open_regular(log_.path);
    ASSERT_EQ(os::status_of(file.get(), status), 0);
    digests_.remember(log_.id, status, sha256("other"));
    EXPECT_NE(damage(), "none");

    write("hello\n");  // another file with the right bytes
    EXPECT_EQ(damage(), "none");
}

TEST_F(LogCheck, OfALostRunItIsOnlyKnownWhetherThereIsALog)
{
    model::Run run;
    run.id = log_.id;
    run.state = model::RunState::lost;
    run.started = 1'000;
    EXPECT_FALSE(*find_log_damage(log_, run, LogDepth::thorough, digests_));
    std::filesystem::remove(log_.path);
    EXPECT_TRUE(*find_log_damage(log_, run, LogDepth::thorough, digests_));
    run.started = 0;  // its supervisor was killed before the script began
    EXPECT_FALSE(*find_log_damage(log_, run, LogDepth::thorough, digests_));
    run.started = 1'000;
    run.state = model::RunState::failed;  // say, before its script began
    EXPECT_FALSE(*find_log_damage(log_, run, LogDepth::thorough, digests_));
}

}  // namespace
}  // namespace ponk::engine
