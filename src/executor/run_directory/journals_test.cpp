// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/run_copy.hpp"
#include "executor/run_directory/journals.hpp"
#include "executor/run_directory/run_files.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

class JournalsOfARun : public testing::Test {
protected:
    JournalsOfARun()
    {
        EXPECT_TRUE(os::make_directories(run_.task() / "journal"));
        EXPECT_TRUE(os::make_directories(secret_));
        EXPECT_TRUE(os::replace_file(secret_ / "authorized_keys", "ssh-ed25519 mine"));
        EXPECT_TRUE(os::replace_file(run_.task() / "log", "said"));
    }
    void put(const std::string& name, const std::string& text)
    {
        std::ofstream(run_.task() / "journal" / name) << text;
    }
    std::uint64_t length() const
    {
        JobStatus status;
        read_lengths(run_, status);
        return status.journal_length;
    }

    os::TestFolder folder_;
    RunDirectory run_{folder_.path() / "run"};
    Path secret_ = folder_.path() / "ssh";
};

TEST_F(JournalsOfARun, AreThePlainFiles)
{
    put("1-a.journal", "abc");
    put("2-b.journal", "de");
    std::filesystem::create_symlink(secret_ / "authorized_keys", run_.task() / "journal/3-link");
    std::filesystem::create_directory(run_.task() / "journal/4-folder");
    ASSERT_EQ(::mkfifo((run_.task() / "journal/5-pipe").c_str(), 0600), 0);

    const auto list = Journals::of(run_).list();

    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[1].name, "2-b.journal");
    EXPECT_EQ(list[1].size, 2U);
    EXPECT_EQ(length(), 5U) << "what can be sent, or a follower would never come to rest";
    EXPECT_FALSE(Journals::of(run_).open("3-link"));
    EXPECT_FALSE(Journals::of(run_).open("5-pipe"));
    EXPECT_FALSE(Journals::of(run_).open("../log"));
}

TEST_F(JournalsOfARun, WithOddNamesOrInGreatNumberFitIntoAMessage)
{
    for (std::size_t i = 0; i < Journals::most + 50; ++i)
        put(fmt::format("{:0>250}", i), "x");
    for (const char* name : {"\x01odd", "quo\"te", "back\\slash", "um\xc3\xa4", "\xff", "a b"})
        put(name, "y");

    const auto increment = remote::read_increment(run_, {});

    ASSERT_TRUE(increment);
    EXPECT_EQ(increment->files.size(), Journals::most + 1);
    EXPECT_TRUE(increment->bytes == "said" + std::string(Journals::most, 'x'));
    const auto frame = remote::encode({remote::FrameKind::answer,
                                       1,
                                       JsonObject{{"files", to_json(increment->files)}},
                                       increment->bytes});
    EXPECT_TRUE(frame) << frame.error().message();
    EXPECT_TRUE(remote::parse_growing_files(to_json(remote::growing_files(run_))));
    EXPECT_EQ(length(), Journals::most);
    JobStatus seen;
    remote::add_lengths(run_, {{"log", 4, 0}, {"journal/gone", 7, 0}}, seen);
    EXPECT_EQ(seen.log_length, 4U);
    EXPECT_EQ(seen.journal_length, 0U) << "of what is not here nobody waits for more";
}

TEST_F(JournalsOfARun, AndLogsWithHolesAreCopiedWithoutTheirZeros)
{
    constexpr std::uint64_t far = std::uint64_t{20} << 30;
    const auto small = std::string(5000, 'a') + std::string(300'000, '\0') + "end";
    put("small", std::string(5000, 'a'));
    std::filesystem::resize_file(run_.task() / "journal/small", 305'000);
    std::ofstream(run_.task() / "journal/small", std::ios::app) << "end";
    std::filesystem::resize_file(run_.task() / "log", far);
    std::ofstream(run_.task() / "log", std::ios::app) << "and more";
    put("long", "");
    std::filesystem::resize_file(run_.task() / "journal/long", far);
    const RunDirectory home(folder_.path() / "home");
    ASSERT_TRUE(os::make_directories(home.task() / "journal"));
    std::size_t sent = 0;
    for (int i = 0; i < 50; ++i) {
        const auto increment = remote::read_increment(run_, remote::growing_files(home)).value();
        const auto files = remote::parse_growing_files(to_json(increment.files)).value();
        sent += increment.bytes.size();
        ASSERT_TRUE(remote::apply_increment(home, {files, increment.bytes, increment.more}));
        if (!increment.more) break;
    }
    EXPECT_LT(sent, 1'000'000U);
    EXPECT_EQ(os::read_file(home.task() / "journal/small").value(), small);
    EXPECT_EQ(std::filesystem::file_size(home.task() / "journal/long"), Journals::longest);
    EXPECT_EQ(Journals::of(run_).look().cut, "long");
    EXPECT_EQ(std::filesystem::file_size(home.task() / "log"), far + 8);
    const auto log = os::open_file(home.task() / "log", O_RDONLY).value();
    EXPECT_EQ(os::read_at(log.get(), 0, 5).value(), std::string("said\0", 5));
    EXPECT_EQ(os::read_at(log.get(), far - 1, 10).value(), std::string("\0and more", 9));
    struct stat info {};
    ASSERT_EQ(::fstat(log.get(), &info), 0);
    EXPECT_LT(info.st_blocks, 1000);
    EXPECT_TRUE(remote::read_increment(run_, remote::growing_files(home))->files.empty());
}

TEST_F(JournalsOfARun, AreSentUpToALimitThatNamesAndCutsDoNotMove)
{
    for (const char* name : {"a", "b", "c"}) {
        put(name, "");
        std::filesystem::resize_file(run_.task() / "journal" / name, Journals::longest + 5);
    }
    const auto increment = remote::read_increment(run_, {});
    ASSERT_TRUE(increment);
    EXPECT_FALSE(increment->more);
    EXPECT_EQ(increment->left_out, 1U);
    std::vector<remote::GrowingFile> there{{"log", 4}};
    for (std::size_t i = 0; i < Journals::most; ++i)
        there.push_back({fmt::format("journal/x{}", i), 1});
    const auto other = remote::read_increment(run_, there);
    EXPECT_FALSE(other->more);
    EXPECT_TRUE(other->files.empty()) << "who changes their names gets no more of them sent";
    EXPECT_EQ(other->left_out, 3U);
}

TEST_F(JournalsOfARun, WhoHasNoRoomHearsOnlyThatThereIsMore)
{
    put("a", "abc");

    const auto increment = remote::read_increment(run_, {}, remote::Wanted::lengths);

    ASSERT_TRUE(increment);
    EXPECT_TRUE(increment->more);
    EXPECT_EQ(increment->bytes, "");
    EXPECT_TRUE(increment->files.empty());
    const auto all = remote::growing_files(run_);
    EXPECT_FALSE(remote::read_increment(run_, all, remote::Wanted::lengths)->more);
}

TEST_F(JournalsOfARun, BehindALinkAreNone)
{
    std::filesystem::remove(run_.task() / "journal");
    std::filesystem::create_symlink(secret_, run_.task() / "journal");

    EXPECT_TRUE(Journals::of(run_).list().empty());
    EXPECT_EQ(length(), 0U);
    const auto increment = remote::read_increment(run_, {});
    ASSERT_TRUE(increment);
    EXPECT_EQ(increment->bytes, "said") << "nothing of the user's leaves the machine";
    EXPECT_EQ(increment->files.size(), 1U);
}

}  // namespace
}  // namespace ponk::executor
