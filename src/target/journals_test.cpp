// SPDX-License-Identifier: Apache-2.0
#include "os/test_folder.hpp"
#include "target/journals.hpp"
#include "target/remote/run_copy.hpp"
#include "target/run_files.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace ponk::target {
namespace {

class JournalsOfARun : public testing::Test {
protected:
    JournalsOfARun()
    {
        EXPECT_TRUE(os::make_directories(run_ / "journal"));
        EXPECT_TRUE(os::make_directories(secret_));
        EXPECT_TRUE(os::replace_file(secret_ / "authorized_keys", "ssh-ed25519 mine"));
        EXPECT_TRUE(os::replace_file(run_ / "log", "said"));
    }
    void put(const std::string& name, const std::string& text)
    {
        EXPECT_TRUE(os::replace_file(run_ / "journal" / name, text));
    }
    std::uint64_t length() const
    {
        JobStatus status;
        read_lengths(run_, status);
        return status.journal_length;
    }

    os::TestFolder folder_;
    Path run_ = folder_.path() / "run";
    Path secret_ = folder_.path() / "ssh";
};

TEST_F(JournalsOfARun, AreThePlainFiles)
{
    put("1-a.journal", "abc");
    put("2-b.journal", "de");
    std::filesystem::create_symlink(secret_ / "authorized_keys", run_ / "journal/3-link");
    std::filesystem::create_directory(run_ / "journal/4-folder");
    ASSERT_EQ(::mkfifo((run_ / "journal/5-pipe").c_str(), 0600), 0);

    const auto list = Journals::of(run_).list();

    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[1].name, "2-b.journal");
    EXPECT_EQ(list[1].size, 2U);
    EXPECT_EQ(length(), 5U) << "what can be sent, or a follower would never come to rest";
    EXPECT_FALSE(Journals::of(run_).open("3-link"));
    EXPECT_FALSE(Journals::of(run_).open("5-pipe"));
    EXPECT_FALSE(Journals::of(run_).open("../log"));
}

TEST_F(JournalsOfARun, BehindALinkAreNone)
{
    std::filesystem::remove(run_ / "journal");
    std::filesystem::create_symlink(secret_, run_ / "journal");

    EXPECT_TRUE(Journals::of(run_).list().empty());
    EXPECT_EQ(length(), 0U);
    const auto increment = remote::read_increment(run_, {});
    ASSERT_TRUE(increment);
    EXPECT_EQ(increment->bytes, "said") << "nothing of the user's leaves the machine";
    EXPECT_EQ(increment->files.size(), 1U);
}

}  // namespace
}  // namespace ponk::target
