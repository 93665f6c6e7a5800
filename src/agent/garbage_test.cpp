// SPDX-License-Identifier: Apache-2.0
#include "agent/garbage.hpp"
#include "agent/input_trees.hpp"
#include "agent/lease_keeper.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/file.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::agent {
namespace {

constexpr std::int64_t month_ms = std::int64_t{31} * 24 * 3600 * 1000;

class Garbage : public testing::Test {
protected:
    Garbage()
        : home_(os::make_temporary_directory(testing::TempDir(), "host-").value()), runs_(home_),
          objects_(*snapshot::ObjectStore::open(home_ / "store"))
    {
    }
    ~Garbage() override { static_cast<void>(os::remove_tree(home_)); }

    Digest tree(const std::string& text)
    {
        const auto folder = home_ / "tree";
        EXPECT_TRUE(os::make_directories(folder));
        EXPECT_TRUE(os::replace_file(folder / "file", text));
        snapshot::SnapshotOptions options;
        options.directory = folder;
        options.git = snapshot::SnapshotOptions::Git::skip;
        return snapshot::take_snapshot(objects_, options).value().id;
    }
    RunId run(const Digest& snapshot)
    {
        const auto id = RunId::make();
        EXPECT_TRUE(os::make_directories(runs_.of(id).outputs()));
        EXPECT_TRUE(os::make_directories(runs_.of(id).task()));
        EXPECT_TRUE(runs_.note(id, mark::snapshot, snapshot.text()));
        return id;
    }
    void put(const RunId& id, const char* name)
    {
        EXPECT_TRUE(os::replace_file(runs_.of(id).task() / name, ""));
    }
    Result<snapshot::GarbageReport> collect(std::uint64_t little_space = 0)
    {
        return collect_garbage(home_,
                               objects_,
                               runs_,
                               {.now_ms = wall_milliseconds() + month_ms,
                                .little_space = little_space,
                                .remove = [this](const RunId& run) { return remove_(run); }},
                               {});
    }

    Path home_;
    RunFolders runs_;
    snapshot::ObjectStore objects_;
    std::function<Result<>(const RunId&)> remove_ = [this](const RunId& run) {
        return runs_.remove(run);
    };
};

TEST_F(Garbage, WhatARunNeedsStaysHoweverOldAndFull)
{
    const auto needed = tree("needed");
    const auto other = tree("other");
    const auto id = run(needed);
    put(id, "exit");  // ended, but nobody fetched its outputs

    ASSERT_TRUE(collect(~std::uint64_t{0}));

    EXPECT_TRUE(std::filesystem::exists(runs_.of(id).root()));
    EXPECT_TRUE(objects_.read_manifest(needed));
    EXPECT_FALSE(std::filesystem::exists(home_ / "store/objects" / snapshot::object_name(other)));
}

TEST_F(Garbage, ARunThatEndedAndWasFetchedGoes)
{
    const auto snapshot = tree("old");
    const auto id = run(snapshot);
    put(id, "exit");
    ASSERT_TRUE(runs_.note(id, mark::collected, "yes"));

    const auto report = collect();

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_FALSE(std::filesystem::exists(runs_.of(id).root()));
    EXPECT_EQ(report->trashed_objects, 2U);
}

TEST_F(Garbage, ALogThatNobodyFetchedStays)
{
    const auto id = run(tree("old"));
    ASSERT_TRUE(os::remove_tree(runs_.of(id).work()));
    put(id, "exit");
    put(id, "log");
    put(id, "collected");  // by its script

    ASSERT_TRUE(collect(~std::uint64_t{0}));

    EXPECT_TRUE(std::filesystem::exists(runs_.of(id).task() / "log"));
}

TEST_F(Garbage, ARunThatCannotBeRemovedStopsNothing)
{
    std::vector<RunId> gone;
    remove_ = [&](const RunId& run) -> Result<> {
        gone.push_back(run);
        return fail(ErrorKind::unavailable, "its engine is away");
    };
    for (const char* text : {"one", "two"})
        ASSERT_TRUE(runs_.note(run(tree(text)), mark::collected, "yes"));
    tree("other");

    const auto report = collect();

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(gone.size(), 2U);
    EXPECT_EQ(report->trashed_objects, 2U);
}

TEST_F(Garbage, NothingGoesWhileObjectsTravel)
{
    tree("on its way");
    LeaseKeeper lease(objects_.root());
    ASSERT_TRUE(lease.touch({}));

    EXPECT_EQ(collect()->trashed_objects, 0U);

    lease.release_if_idle(std::chrono::milliseconds(-1));
    EXPECT_EQ(collect()->trashed_objects, 2U);
}

TEST_F(Garbage, AnInputThatNoRunUsesAnyMoreGoes)
{
    const auto manifest = objects_.read_manifest(tree("data")).value();
    const auto text = manifest.text();
    const InputTree input(home_, sha256(text));
    ASSERT_TRUE(input.begin(manifest));
    const auto id = run(tree("code"));
    ASSERT_TRUE(runs_.note(id, mark::inputs, sha256(text).text() + " data"));
    const auto lock = runs_.of(id).task() / executor::control::lock;
    {
        const auto alive = os::open_file(lock, O_RDWR | O_CREAT);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        ASSERT_EQ(::fcntl(alive->get(), F_OFD_SETLK, &whole), 0);
        ASSERT_TRUE(collect());
        EXPECT_EQ(InputTree::all(home_).size(), 1U) << "a run is reading it";
    }
    ASSERT_TRUE(collect());
    EXPECT_TRUE(InputTree::all(home_).empty());
}

TEST_F(Garbage, ARunWhoseTreeNeverArrivedStopsNothing)
{
    run(sha256("never arrived"));
    tree("other");

    const auto report = collect();

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->trashed_objects, 2U);
}

}  // namespace
}  // namespace ponk::agent
