// SPDX-License-Identifier: Apache-2.0
#include "base/work_count.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/files/run_files.hpp"
#include "engine/maintenance/maintenance.hpp"
#include "engine/plan/resolve_run.hpp"
#include "os/test_folder.hpp"
#include "snapshot/take_snapshot.hpp"
#include "store/tracking/tracking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <sys/stat.h>

namespace ponk::engine {
namespace {

using store::ArtifactPath;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

ArtifactPath at(std::string_view text)
{
    return ArtifactPath::parse(text).value();
}

// A run that ended with outputs, in a real history and object store.
class RunFilesTest : public testing::Test {
protected:
    RunFilesTest()
    {
        run_.id = RunId::make();
        run_.project = "p";
        run_.state = model::RunState::completed;
    }

    void collect(const std::vector<std::pair<std::string, std::string>>& files)
    {
        const auto outputs = place_.path() / "outputs";
        for (const auto& [path, bytes] : files) {
            ASSERT_TRUE(os::make_directories((outputs / path).parent_path()));
            ASSERT_TRUE(os::replace_file(outputs / path, bytes));
        }
        run_.outputs = snapshot::store_tree(objects_, outputs).value().id.text();
    }
    void record() { run_ = history_->create_run(run_).value().run; }

    void log(std::string_view path, std::string_view bytes) const
    {
        const auto folder = client_folder(
            store::Tracking(*history_).find_place(run_.id).value()->experiment, run_.id);
        auto upload = client_files(context_).receive(bytes.size()).value();
        ASSERT_TRUE(upload.write(bytes));
        ASSERT_TRUE(upload.publish(folder / at("artifacts") / at(path)));
    }
    [[nodiscard]] std::string get(std::string_view path) const
    {
        const auto file = RunFiles::of(context_, run_).value().open(at(path));
        if (!file) return to_string(file.error().kind());
        return file->read(0, 1000).value();
    }
    [[nodiscard]] std::vector<std::string> names(std::string_view path) const
    {
        std::vector<std::string> names;
        const auto listed = RunFiles::of(context_, run_).value().list(at(path)).value();
        if (!listed) return {"(no folder)"};
        for (const auto& entry : *listed)
            names.push_back(entry.name + (entry.kind == RunFiles::Entry::Kind::folder
                                              ? "/"
                                              : " " + std::to_string(entry.size)));
        return names;
    }
    [[nodiscard]] std::vector<std::string> all() const
    {
        std::vector<std::string> paths;
        for (const auto& artifact : list_artifacts(context_, run_).artifacts)
            paths.push_back(artifact.path);
        return paths;
    }

    os::TestFolder place_;
    std::unique_ptr<store::History> history_ =
        store::History::open(place_.path() / "home/history").value();
    snapshot::ObjectStore objects_ =
        snapshot::ObjectStore::open(place_.path() / "home/store").value();
    secrets::Secrets secrets_{place_.path() / "home", secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<executor::Executor>> executors_;
    Notifier notifier_;
    Context context_{place_.path() / "home", *history_, objects_, secrets_, executors_, notifier_};
    model::Run run_;
};

TEST_F(RunFilesTest, WhatWasLoggedAndWhatWasCollectedAreOneTree)
{
    collect({{"model.bin", "weights"}, {"plots/loss.png", "curve"}});
    record();
    log("notes.txt", "by hand");
    log("plots/extra.png", "more");

    EXPECT_THAT(names(""), ElementsAre("model.bin 7", "notes.txt 7", "plots/"));
    EXPECT_THAT(names("plots"), ElementsAre("extra.png 4", "loss.png 5"));
    EXPECT_THAT(names("model.bin"), ElementsAre("(no folder)"));
    EXPECT_THAT(names("none"), ElementsAre("(no folder)"));
    EXPECT_EQ(get("plots/loss.png"), "curve");
    EXPECT_EQ(get("plots/extra.png"), "more");
    EXPECT_EQ(get("plots"), "invalid_argument");
    EXPECT_EQ(get(""), "invalid_argument");
    EXPECT_EQ(get("plots/none"), "not_found");
    EXPECT_THAT(all(),
                UnorderedElementsAre(
                    "notes.txt", "plots/extra.png", "outputs/model.bin", "outputs/plots/loss.png"));
}

TEST_F(RunFilesTest, FoldersAndFilesAreSortedByTheirNames)
{
    collect({{"a/x", "1"}, {"a-b", "1"}, {"a.c/y", "1"}});
    record();
    log("a-a", "1");

    EXPECT_THAT(names(""), ElementsAre("a/", "a-a 1", "a-b 1", "a.c/"));
}

TEST_F(RunFilesTest, AWalkThroughAllFoldersLooksAtEachFileOnce)
{
    std::vector<std::pair<std::string, std::string>> files;
    constexpr std::size_t folders = 40;
    constexpr std::size_t each = 40;
    for (std::size_t folder = 0; folder < folders; ++folder) {
        for (std::size_t file = 0; file < each; ++file)
            files.emplace_back(fmt::format("f{}/deep/{}", folder, file), "x");
    }
    collect(files);
    record();
    EXPECT_EQ(names("").size(), folders);  // reads the list of outputs

    const WorkCount work;
    std::size_t found = 0;
    EXPECT_EQ(names("").size(), folders);
    for (std::size_t folder = 0; folder < folders; ++folder) {
        EXPECT_THAT(names(fmt::format("f{}", folder)), ElementsAre("deep/"));
        found += names(fmt::format("f{}/deep", folder)).size();
    }
    EXPECT_EQ(found, folders * each);
    // Names that are told, and a search for the end of each folder; the list is not read again.
    EXPECT_LT(work.steps(), 4 * folders * each);
}

TEST_F(RunFilesTest, OutputsOfARunThatGoesOnAreThereAlready)
{
    ASSERT_TRUE(secrets_.set("WORD", "hunter2hunter2"));
    RunSpec spec;
    spec.program.variables = {{"A", "secret:WORD"}};
    run_.configuration = to_json(spec);
    run_.state = model::RunState::running;
    record();
    const auto outputs = context_.run_directory(run_.id).outputs();
    ASSERT_TRUE(os::make_directories(outputs / "plots"));
    ASSERT_TRUE(os::replace_file(outputs / "plots/loss.png", "curve"));
    ASSERT_TRUE(os::replace_file(outputs / "notes.txt", "hidden by the client's"));
    ASSERT_TRUE(os::replace_file(outputs / "hunter2hunter2.txt", "its name is a secret"));
    std::filesystem::create_symlink("/etc/passwd", outputs / "passwd");
    ASSERT_EQ(::mkfifo((outputs / "pipe").c_str(), 0600), 0);
    log("notes.txt", "by hand");

    EXPECT_THAT(names(""), ElementsAre("notes.txt 7", "plots/"));
    EXPECT_THAT(names("plots"), ElementsAre("loss.png 5"));
    EXPECT_THAT(names("outputs/plots"), ElementsAre("loss.png 5"));
    EXPECT_EQ(get("plots/loss.png"), "curve");
    EXPECT_EQ(get("outputs/plots/loss.png"), "curve");
    EXPECT_EQ(get("notes.txt"), "by hand");
    EXPECT_EQ(get("plots"), "invalid_argument");
    for (const auto* path : {"passwd", "pipe", "hunter2hunter2.txt", "plots/none"})
        EXPECT_EQ(get(path), "not_found") << path;

    std::filesystem::rename(outputs, outputs.parent_path() / "moved");
    std::filesystem::create_directory_symlink("/etc", outputs);
    EXPECT_THAT(names(""), ElementsAre("notes.txt 7"));
    EXPECT_EQ(get("passwd"), "not_found");
    std::filesystem::remove(outputs);
    std::filesystem::rename(outputs.parent_path() / "moved", outputs);
    run_.state = model::RunState::failed;
    EXPECT_THAT(names(""), ElementsAre("notes.txt 7")) << "they could not be collected";
}

TEST_F(RunFilesTest, WhatWasCollectedHasItsNameOnTheCommandLineToo)
{
    collect({{"a.txt", "own"}, {"plots/loss.png", "curve"}, {"plots/deep/x", "deep"}});
    record();

    EXPECT_THAT(names("outputs"), ElementsAre("a.txt 3", "plots/"));
    EXPECT_THAT(names("outputs/plots"), ElementsAre("deep/", "loss.png 5"));
    EXPECT_THAT(names("outputs/none"), ElementsAre("(no folder)"));
    EXPECT_EQ(get("outputs/plots/loss.png"), "curve");
    EXPECT_EQ(get("outputs"), "invalid_argument");
    EXPECT_EQ(get("outputs/plots"), "invalid_argument");
    EXPECT_EQ(get("outputs/none"), "not_found");
    log("outputs/plots/extra.png", "more");
    EXPECT_THAT(names(""), ElementsAre("a.txt 3", "outputs/", "plots/"));
    EXPECT_THAT(names("outputs"), ElementsAre("plots/")) << "each file once in a walk";
    EXPECT_THAT(names("outputs/plots"), ElementsAre("extra.png 4"));
    EXPECT_EQ(get("outputs/plots/loss.png"), "curve");
}

TEST_F(RunFilesTest, AScriptMayHaveLoggedAFolderOfThatName)
{
    collect({{"a.txt", "first"}, {"outputs/a.txt", "second"}});
    record();

    EXPECT_THAT(names(""), ElementsAre("a.txt 5", "outputs/"));
    EXPECT_THAT(names("outputs"), ElementsAre("a.txt 6"));
    EXPECT_EQ(get("a.txt"), "first");
    EXPECT_EQ(get("outputs/a.txt"), "second");
    const auto listed = [this](const std::string& path) {
        return open_artifact(context_, run_, path).value().read(0, 100).value();
    };
    EXPECT_THAT(all(), UnorderedElementsAre("outputs/a.txt", "outputs/outputs/a.txt"));
    EXPECT_EQ(listed("outputs/a.txt"), "first");
    EXPECT_EQ(listed("outputs/outputs/a.txt"), "second");
    EXPECT_EQ(listed("a.txt"), "first");
}

TEST_F(RunFilesTest, WhatAScriptLoggedForARunThatItMadeIsThatRuns)
{
    const auto inner = RunId::make();
    collect({{"runs/" + inner.text() + "/plots/loss.png", "curve"}, {"mine", "x"}});
    record();
    const auto maker = run_.id.text();
    ASSERT_TRUE(store::Tracking(*history_).create_run(
        {.experiment = 0, .name = "inner", .user = "ann", .parent = maker, .id = inner}));
    run_ = history_->get_run(inner).value();
    log("notes.txt", "later");

    EXPECT_THAT(names(""), ElementsAre("notes.txt 5", "plots/"));
    EXPECT_EQ(get("plots/loss.png"), "curve");
    EXPECT_EQ(get("notes.txt"), "later");
    EXPECT_EQ(get("mine"), "not_found");
    EXPECT_THAT(all(), UnorderedElementsAre("notes.txt", "plots/loss.png"));
    const auto model = MadeFiles::of(context_, maker, "runs", inner.text()).value();
    EXPECT_EQ(model->open(at("plots/loss.png"))->read(0, 100).value(), "curve");
    EXPECT_FALSE(MadeFiles::of(context_, RunId::make().text(), "runs", inner.text()).value());
}

TEST_F(RunFilesTest, WhatAClientLoggedCountsWhereBothHaveAName)
{
    collect({{"same", "collected"}, {"folder/inside", "collected"}, {"file", "collected"}});
    record();
    log("same", "logged");
    log("folder", "now a file");
    log("file/inside", "now a folder");

    EXPECT_EQ(get("same"), "logged");
    EXPECT_EQ(get("folder"), "now a file");
    EXPECT_EQ(get("folder/inside"), "not_found");
    EXPECT_EQ(get("file"), "invalid_argument");
    EXPECT_THAT(names(""), ElementsAre("file/", "folder 10", "same 6"));
    EXPECT_THAT(names("folder"), ElementsAre("(no folder)"));
    EXPECT_EQ(get("outputs/same"), "collected");
}

TEST_F(RunFilesTest, AClientMayReplaceWhatWasCollectedByItsListedName)
{
    collect({{"same", "collected"}, {"folder/inside", "collected"}, {"file", "collected"}});
    record();
    log("outputs/same", "logged");
    log("outputs/folder", "now a file");
    log("outputs/file/inside", "now a folder");

    EXPECT_EQ(get("outputs/same"), "logged");
    EXPECT_EQ(get("outputs/folder"), "now a file");
    EXPECT_EQ(get("outputs/folder/inside"), "not_found");
    EXPECT_EQ(get("outputs/file"), "invalid_argument");
    EXPECT_THAT(names("outputs"), ElementsAre("file/", "folder 10", "same 6"));
    EXPECT_THAT(names("outputs/folder"), ElementsAre("(no folder)"));
    EXPECT_THAT(all(),
                UnorderedElementsAre("outputs/same", "outputs/folder", "outputs/file/inside"));
    EXPECT_EQ(open_artifact(context_, run_, "same").value().read(0, 100).value(), "logged");
}

TEST_F(RunFilesTest, CollectedLinksAreWhatTheyPointTo)
{
    const auto outputs = place_.path() / "outputs";
    ASSERT_TRUE(os::make_directories(outputs));
    std::filesystem::create_symlink("best", outputs / "last");
    std::filesystem::create_symlink("/etc/passwd", outputs / "out");
    collect({{"best", "weights"}, {"odd;name", "x"}});
    record();

    EXPECT_THAT(names(""), ElementsAre("best 7", "last 7"));
    EXPECT_EQ(get("last"), "weights");
    EXPECT_EQ(get("out"), "not_found");
    EXPECT_EQ(get("outputs/last"), "weights");
    EXPECT_EQ(open_artifact(context_, run_, "outputs/odd;name").value().read(0, 9).value(), "x");
}

TEST_F(RunFilesTest, ARunWithoutFilesHasAnEmptyFolder)
{
    record();

    EXPECT_THAT(names(""), ElementsAre());
    EXPECT_THAT(names("outputs"), ElementsAre("(no folder)"));
    EXPECT_EQ(get("outputs/x"), "not_found");
    log("driver_log", "a client's own");
    EXPECT_THAT(all(), ElementsAre("driver_log"));
}

TEST_F(RunFilesTest, OutputsWhoseListIsDamagedHideNothingElse)
{
    collect({{"model.bin", "weights"}});
    record();
    log("notes.txt", "by hand");
    ASSERT_TRUE(os::remove_tree(place_.path() / "home/store"));

    EXPECT_EQ(get("notes.txt"), "by hand");
    EXPECT_THAT(names(""), ElementsAre("notes.txt 7"));
    EXPECT_NE(get("outputs/model.bin"), "weights");
    EXPECT_EQ(list_artifacts(context_, run_).problems.size(), 1U);
}

TEST_F(RunFilesTest, ArtifactsGoWhenTheirRunIsLongGone)
{
    record();
    log("notes.txt", "by hand");
    EXPECT_EQ(remove_stray_artifacts(context_).value(), 0U);
    const auto folder =
        place_.path() / "home/artifacts" /
        client_folder(store::Tracking(*history_).find_place(run_.id).value()->experiment, run_.id)
            .text();
    const auto note = place_.path() / "home/artifacts/.unclaimed" / run_.id.text();
    ASSERT_TRUE(history_->delete_run(run_.id));

    EXPECT_EQ(remove_stray_artifacts(context_).value(), 0U);
    EXPECT_TRUE(std::filesystem::exists(folder / "artifacts/notes.txt"));
    using std::chrono::hours;
    std::filesystem::last_write_time(
        note, std::filesystem::file_time_type::clock::now() - hours(24 * 20));
    EXPECT_EQ(remove_stray_artifacts(context_).value(), 1U);

    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_FALSE(std::filesystem::exists(note));
}

}  // namespace
}  // namespace ponk::engine
