// SPDX-License-Identifier: Apache-2.0
#include "engine/secrets/run_secrets.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ponk::engine {
namespace {

using testing::UnorderedElementsAre;

class RunSecretsTest : public testing::Test {
protected:
    RunSecretsTest()
    {
        EXPECT_TRUE(secrets_.set("WORD", "hunter2/hunter2\n"));
        EXPECT_TRUE(secrets_.set("PIN", "867530"));
        const Context context{place_.path(), *history_, objects_, secrets_, executors_, notifier_};
        RunSpec spec;
        spec.program.variables = {{"A", "secret:WORD"}, {"B", "secret:PIN"}, {"C", "plain"}};
        ours_ = RunSecrets::load(context, spec).value();
    }

    [[nodiscard]] std::vector<std::string> files(const Path& folder) const
    {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
            found.push_back(entry.path().lexically_relative(folder).native());
        return found;
    }

    os::TestFolder place_;
    std::unique_ptr<store::History> history_ = *store::History::open(place_.path() / "history");
    snapshot::ObjectStore objects_ = *snapshot::ObjectStore::open(place_.path() / "store");
    secrets::Secrets secrets_{place_.path(), secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    Notifier notifier_;
    RunSecrets ours_;
};

TEST_F(RunSecretsTest, HidesEverythingThatAJournalSays)
{
    model::JournalPiece piece;
    piece.points = {{.key = "to hunter2/hunter2", .value = 1},
                    {.key = "text", .text = "<hunter2/hunter2>"},
                    {.key = "pin", .value = 867530},
                    {.key = "loss", .value = 0.5}};
    piece.params = {{"hunter2/hunter2", "p"}};
    piece.tags = {{"t", "867530"}};

    ours_.hide(piece);

    EXPECT_EQ(piece.points[0].key, "to ***");
    EXPECT_EQ(piece.points[1].text, "<***>");
    EXPECT_EQ(piece.points[2].text, "***");
    EXPECT_EQ(piece.points[3].text, std::nullopt);
    EXPECT_EQ(piece.points[3].value, 0.5);
    EXPECT_EQ(piece.params[0].first, "***");
    EXPECT_EQ(piece.tags[0].second, "***");
}

TEST_F(RunSecretsTest, HidesNamesOfFilesAndLosesNone)
{
    const auto folder = place_.path() / "outputs";
    std::filesystem::create_directories(folder / "hunter2" / "hunter2.d");
    std::filesystem::create_directories(folder / "empty" / "867530");
    for (const auto* name : {"hunter2_hunter2",
                             "hunter2-867530",
                             "x867530",
                             "x***",
                             "fine",
                             "hunter2/hunter2.d/a",
                             "hunter2/hunter2.d/b"})
        std::ofstream(folder / name) << name;
    std::filesystem::create_symlink("/x/867530", folder / "link");

    ASSERT_TRUE(ours_.hide_names(folder));

    EXPECT_THAT(files(folder),
                UnorderedElementsAre("***",
                                     "hunter2-***",
                                     "x***",
                                     "x***-2",
                                     "fine",
                                     "link",
                                     "empty",
                                     "hunter2",
                                     "***.d",
                                     "***.d/a",
                                     "***.d/b"));
    EXPECT_EQ(std::filesystem::read_symlink(folder / "link"), "/x/***");
}

TEST_F(RunSecretsTest, NothingIsHiddenWithoutSecrets)
{
    const RunSecrets none;

    EXPECT_EQ(none.hide("hunter2/hunter2"), "hunter2/hunter2");
    EXPECT_EQ(none.patterns(), nullptr);
    EXPECT_TRUE(none.hide_names(place_.path()));
    EXPECT_TRUE(ours_.hide_names(place_.path() / "not there"));
}

}  // namespace
}  // namespace ponk::engine
