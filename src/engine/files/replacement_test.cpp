// SPDX-License-Identifier: Apache-2.0
#include "engine/files/project_files.hpp"
#include "engine/files/replacement.hpp"
#include "os/directory.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>

namespace ponk::engine {
namespace {

using Moment = Replacement::Moment;

class FileReplacement : public testing::Test {
protected:
    FileReplacement()
        : root_(*os::make_temporary_directory(testing::TempDir(), "ponk-replace-")),
          folder_(*os::open_file(root_, O_RDONLY | O_DIRECTORY))
    {
        save("read");
    }
    ~FileReplacement() override { static_cast<void>(os::remove_tree(root_)); }

    // As an editor does that writes beside the file and renames.
    void save(std::string_view text)
    {
        ASSERT_TRUE(os::replace_file(root_ / "beside", text));
        std::filesystem::rename(root_ / "beside", root_ / "train.py");
    }
    void write_in_place(const std::string& text)
    {
        std::ofstream(root_ / "train.py", std::ios::trunc) << text;
    }
    void drop() { std::filesystem::remove(root_ / "train.py"); }
    Result<bool> replace(const Replacement::Visit& visit)
    {
        struct stat like {};
        EXPECT_EQ(::stat((root_ / "train.py").c_str(), &like), 0);
        auto ours = TRY(Replacement::create(folder_.get(), like));
        TRY(os::write_all(ours.fd(), "ours"));
        return ours.replace("train.py", sha256("read"), sha256("ours"), visit);
    }
    std::string text() { return *os::read_file(root_ / "train.py"); }
    // Files beside it, and what they have.
    std::vector<std::string> left()
    {
        std::vector<std::string> all;
        for (const auto& file : std::filesystem::directory_iterator(root_)) {
            if (file.path().filename() != "train.py") all.push_back(*os::read_file(file.path()));
        }
        return all;
    }

    os::Path root_;
    os::Fd folder_;
};

TEST_F(FileReplacement, ItTakesThePlaceOfTheTextThatWasRead)
{
    const auto done = replace({});
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(*done);
    EXPECT_EQ(text(), "ours");
    EXPECT_TRUE(left().empty());
}

TEST_F(FileReplacement, ATextSavedJustBeforeTheExchangeIsPutBack)
{
    const auto done = replace([this](Moment moment) {
        if (moment == Moment::looked_at) save("theirs");
    });
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_FALSE(*done);
    EXPECT_EQ(text(), "theirs");
    EXPECT_TRUE(left().empty());
}

TEST_F(FileReplacement, AFileDeletedJustBeforeTheExchangeStaysDeleted)
{
    const auto done = replace([this](Moment moment) {
        if (moment == Moment::looked_at) drop();
    });
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_FALSE(*done);
    EXPECT_FALSE(std::filesystem::exists(root_ / "train.py"));
    EXPECT_TRUE(left().empty());
}

TEST_F(FileReplacement, ATextIsPutBackWhereOursWasDeleted)
{
    const auto done = replace([this](Moment moment) {
        if (moment == Moment::looked_at) save("theirs");
        if (moment == Moment::exchanged) drop();
    });
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_FALSE(*done);
    EXPECT_EQ(text(), "theirs");
    EXPECT_TRUE(left().empty());
}

// Saved once more between the two exchanges: the last text is in place, the one before is kept.
TEST_F(FileReplacement, TheLastTextOfAnotherWriterIsInPlaceAndNoneIsLost)
{
    for (const bool renames : {true, false}) {
        save("read");
        const auto done = replace([&](Moment moment) {
            if (moment == Moment::looked_at) save("first");
            if (moment == Moment::exchanged) renames ? save("last") : write_in_place("last");
        });
        ASSERT_FALSE(done);
        EXPECT_EQ(text(), "last");
        ASSERT_EQ(left(), std::vector<std::string>{"first"});
        for (const auto& file : std::filesystem::directory_iterator(root_)) {
            const auto name = file.path().filename().string();
            if (name == "train.py") continue;
            EXPECT_NE(done.error().message().find(name), std::string::npos)
                << done.error().message();
            std::filesystem::remove(file.path());
        }
    }
}

TEST_F(FileReplacement, AWriterThatNeverStopsLosesNothing)
{
    int saved = 0;
    const auto done = replace([&](Moment) {
        if (saved < 3) save(fmt::format("text {}", ++saved));
    });
    ASSERT_FALSE(done);
    // The first was replaced by its own writer.
    EXPECT_EQ(text(), "text 2");
    EXPECT_EQ(left(), std::vector<std::string>{"text 3"});
}

}  // namespace
}  // namespace ponk::engine
