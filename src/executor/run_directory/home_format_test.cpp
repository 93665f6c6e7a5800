// SPDX-License-Identifier: Apache-2.0
#include "executor/job/run_directory.hpp"
#include "executor/run_directory/home_format.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

using testing::HasSubstr;

constexpr const char* id = "0123456789abcdef0123456789abcdef";

class HomeFormats : public testing::Test {
protected:
    void write(const Path& file, const std::string& text = "text")
    {
        ASSERT_TRUE(os::make_directories(file.parent_path()));
        ASSERT_TRUE(os::replace_file(file, text));
    }
    Result<std::size_t> upgrade() const
    {
        return TRY(TRY(HomeFormat::look(home_)).upgrade()).converted;
    }

    os::TestFolder folder_;
    Path home_ = folder_.path() / "home";
    Path root_ = home_ / "runs" / id;
    Path task_ = RunDirectory(root_).task();
};

TEST_F(HomeFormats, a_new_home_has_the_newest_version)
{
    ASSERT_TRUE(os::make_directories(home_));

    EXPECT_EQ(upgrade().value(), 0U);

    EXPECT_EQ(os::read_file(home_ / "format").value(), "ponk-home 2\n");
    EXPECT_EQ(upgrade().value(), 0U) << "and stays so";
}

TEST_F(HomeFormats, files_of_a_run_move_to_its_task)
{
    for (const auto* name : {"log", "exit", "journal/1.journal", "side", "side.lock", "whatever"})
        write(root_ / name);
    for (const auto* name :
         {"record.json", "end.json", "lock.json", "wanted-lock.json", "work/log", "box"})
        write(root_ / name);
    ASSERT_TRUE(os::make_directories(root_ / "claim"));

    EXPECT_EQ(upgrade().value(), 1U);

    for (const auto* name :
         {"log", "exit", "journal/1.journal", "monitor", "monitor.lock", "whatever", "claim"})
        EXPECT_TRUE(std::filesystem::exists(task_ / name)) << name;
    for (const auto* name :
         {"record.json", "end.json", "lock.json", "wanted-lock.json", "work/log", "host"})
        EXPECT_TRUE(std::filesystem::exists(root_ / name)) << name;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 7);
}

TEST_F(HomeFormats, a_folder_whose_rights_a_script_took_away_is_converted)
{
    write(root_ / "log");
    ASSERT_EQ(::chmod(root_.c_str(), 0), 0);

    EXPECT_EQ(upgrade().value(), 1U);

    EXPECT_TRUE(std::filesystem::exists(task_ / "log"));
}

TEST_F(HomeFormats, a_link_in_the_place_of_a_run_is_left_alone)
{
    write(folder_.path() / "elsewhere/log");
    ASSERT_TRUE(os::make_directories(home_ / "runs"));
    std::filesystem::create_symlink(folder_.path() / "elsewhere", root_);

    EXPECT_EQ(upgrade().value(), 0U);

    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "elsewhere/log"));
}

TEST_F(HomeFormats, what_a_script_put_in_the_way_gives_way)
{
    write(root_ / "log", "true");
    write(root_ / "journal/a", "true");
    write(root_ / "attempts/1/tasks/0/log", "forged");
    write(root_ / "attempts/1/tasks/0/journal/a", "forged");

    EXPECT_EQ(upgrade().value(), 1U);

    EXPECT_EQ(os::read_file(task_ / "log").value(), "true");
    EXPECT_EQ(os::read_file(task_ / "journal/a").value(), "true");
}

TEST_F(HomeFormats, names_that_were_free_for_scripts_give_way)
{
    write(root_ / "side", "true");
    write(root_ / "side.lock");
    write(root_ / "box", "true");
    write(root_ / "monitor/forged");
    write(root_ / "monitor.lock/forged");
    write(root_ / "host/forged");
    ASSERT_TRUE(os::make_directories(root_ / std::string(250, 'x')));
    ASSERT_TRUE(os::make_directories(root_ / "attempts/1/tasks/0" / std::string(250, 'x')));

    EXPECT_EQ(upgrade().value(), 1U);

    EXPECT_EQ(os::read_file(task_ / "monitor").value(), "true");
    EXPECT_EQ(os::read_file(root_ / "host").value(), "true");
}

TEST_F(HomeFormats, a_lock_that_a_script_made_unusable_counts_as_held)
{
    ASSERT_TRUE(os::make_directories(root_ / "lock"));

    const auto looked = HomeFormat::look(home_);

    ASSERT_FALSE(looked);
    EXPECT_THAT(looked.error().message(), HasSubstr(id));
}

TEST_F(HomeFormats, a_link_that_a_script_put_in_the_way_is_not_followed)
{
    const auto thesis = folder_.path() / "thesis";
    ASSERT_TRUE(os::make_directories(thesis));
    for (const auto* link : {"attempts", "attempts/1"}) {
        write(root_ / "log");
        ASSERT_TRUE(os::make_directories((root_ / link).parent_path()));
        std::filesystem::create_symlink(thesis, root_ / link);

        EXPECT_EQ(upgrade().value(), 1U);

        EXPECT_TRUE(std::filesystem::is_empty(thesis)) << link;
        EXPECT_TRUE(std::filesystem::exists(task_ / "log")) << link;
        std::filesystem::remove_all(home_);
    }
}

TEST_F(HomeFormats, a_newer_one_is_refused)
{
    write(home_ / "format", "ponk-home 3\n");

    const auto looked = HomeFormat::look(home_);

    ASSERT_FALSE(looked);
    EXPECT_EQ(looked.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(looked.error().message(), HasSubstr("newer ponk (format 3, this one knows 2)"));
}

}  // namespace
}  // namespace ponk::executor
