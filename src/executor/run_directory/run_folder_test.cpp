// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/run_folder.hpp"
#include "executor/run_directory/working_copy.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunFolders : public testing::Test {
protected:
    RunFolders()
    {
        EXPECT_TRUE(os::make_directories(run_ / "work/outputs"));
        EXPECT_TRUE(os::replace_file(run_ / "work/outputs/model", "weights"));
        EXPECT_TRUE(os::make_directories(thesis_ / "outputs"));
        EXPECT_TRUE(os::replace_file(thesis_ / "outputs/results.csv", "years of work"));
    }
    // As a script does it in a container, whose links lead to the host's folders.
    void swap(const char* name, const Path& target)
    {
        std::filesystem::rename(run_ / name, run_ / "elsewhere");
        std::filesystem::create_symlink(target, run_ / name);
    }
    Result<Collected> collect()
    {
        TreeStore trees;
        trees.store = [this](const Path& folder, std::stop_token) -> Result<Collected> {
            for (const auto& entry : std::filesystem::directory_iterator(folder))
                stored_.push_back(entry.path().filename());
            return fail(ErrorKind::unavailable, "store {}: no room", os::in_quotes(folder / "x"));
        };
        return collect_outputs(trees, RunDirectory(run_), {}, {});
    }

    os::TestFolder folder_;
    Path run_ = folder_.path() / "run";
    Path thesis_ = folder_.path() / "thesis";
    std::vector<std::string> stored_;
};

TEST_F(RunFolders, NoLinkOnTheWayIsFollowed)
{
    EXPECT_TRUE(RunFolder::open(run_, "work/outputs"));
    EXPECT_EQ(RunFolder::open(run_, "work/none").error().kind(), ErrorKind::not_found);
    EXPECT_THAT(RunFolder::open(run_, "work/outputs/model").error().message(),
                HasSubstr("'model' is not a folder"));
    swap("work", thesis_);

    for (const char* way : {"work", "work/outputs"}) {
        const auto opened = RunFolder::open(run_, way);
        ASSERT_FALSE(opened) << way;
        EXPECT_EQ(opened.error().kind(), ErrorKind::conflict);
        EXPECT_THAT(opened.error().message(), HasSubstr("'work' is a link"));
    }
}

TEST_F(RunFolders, PathLeadsToTheFolderWhateverBecomesOfItsName)
{
    const auto opened = RunFolder::open(run_, "work/outputs");
    ASSERT_TRUE(opened);

    swap("work", thesis_);

    EXPECT_EQ(os::read_file(opened->path() / "model").value(), "weights");
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::symlink_status(opened->path())));
}

TEST_F(RunFolders, RightsThatTheScriptTookAreGivenBack)
{
    ASSERT_EQ(::chmod((run_ / "work/outputs").c_str(), 0), 0);
    ASSERT_EQ(::chmod((run_ / "work").c_str(), 0), 0);

    EXPECT_TRUE(RunFolder::open(run_, "work/outputs"));

    struct stat info {};
    ASSERT_EQ(::stat((run_ / "work/outputs").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(RunFolders, OutputsBehindALinkAreNotThoseOfTheRun)
{
    swap("work", thesis_);

    const auto collected = collect();

    ASSERT_TRUE(collected);
    EXPECT_THAT(stored_, testing::IsEmpty());
    EXPECT_THAT(collected->notices, ElementsAre(HasSubstr("'work' is a link")));
}

TEST_F(RunFolders, AnErrorOfTheStoreNamesTheFolderThatPeopleKnow)
{
    const auto collected = collect();

    ASSERT_FALSE(collected);
    EXPECT_THAT(stored_, ElementsAre("model"));
    EXPECT_EQ(collected.error().message(),
              fmt::format("store '{}': no room", (run_ / "work/outputs/x").native()));
}

}  // namespace
}  // namespace ponk::executor
