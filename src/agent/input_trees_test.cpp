// SPDX-License-Identifier: Apache-2.0
#include "agent/input_trees.hpp"
#include "snapshot/object_store.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::agent {
namespace {

class Inputs : public testing::Test {
protected:
    Inputs()
        : folder_(os::make_temporary_directory(testing::TempDir(), "inputs-").value()),
          objects_(*snapshot::ObjectStore::open(folder_ / "store"))
    {
        EXPECT_TRUE(os::make_directories(source() / "deep/empty"));
        EXPECT_TRUE(os::replace_file(source() / "deep/x.csv", "12345", 0644));
        EXPECT_TRUE(os::replace_file(source() / "run.sh", "echo", 0755));
        EXPECT_TRUE(os::replace_file(source() / "nothing", ""));
        std::filesystem::create_symlink("deep/x.csv", source() / "link");
        snapshot::SnapshotOptions how;
        how.directory = source();
        how.git = snapshot::SnapshotOptions::Git::skip;
        how.contents = snapshot::SnapshotOptions::Contents::digests_only;
        id_ = snapshot::take_snapshot(objects_, how).value().id;
    }
    ~Inputs() override { static_cast<void>(os::remove_tree(folder_)); }

    [[nodiscard]] Path source() const { return folder_ / "source"; }
    [[nodiscard]] InputTree tree() const { return {folder_ / "home", id_}; }
    [[nodiscard]] Path file(const char* name) const { return tree().tree() / name; }

    std::shared_ptr<const InputList> begin()
    {
        EXPECT_TRUE(tree().begin(objects_.read_manifest(id_).value()));
        return tree().find_list().value();
    }
    void put(const InputList& list, std::size_t index)
    {
        const auto root = os::open_file(source(), O_RDONLY | O_DIRECTORY);
        const auto bytes = snapshot::read_piece(root->get(), list.pieces[index]).value();
        EXPECT_TRUE(tree().put(list, {{index, bytes}}));
    }
    std::shared_ptr<const InputList> make()
    {
        auto list = begin();
        EXPECT_EQ(tree().arrived(*list, {}).value(), "00");
        put(*list, 0);
        put(*list, 1);
        EXPECT_TRUE(tree().finish(*list));
        return list;
    }

    Path folder_;
    snapshot::ObjectStore objects_;
    Digest id_;
};

TEST_F(Inputs, ArriveInPiecesAndAreThenReadOnly)
{
    const auto list = begin();
    EXPECT_EQ(tree().arrived(*list, {}).value(), "00");
    put(*list, 1);
    EXPECT_EQ(tree().arrived(*list, {}).value(), "01") << "after a cut it goes on there";
    EXPECT_FALSE(tree().is_whole(*list));
    put(*list, 0);
    EXPECT_EQ(tree().arrived(*list, {}).value(), "11");
    ASSERT_TRUE(tree().finish(*list));

    EXPECT_TRUE(tree().is_whole(*list));
    EXPECT_EQ(os::read_file(file("link")).value(), "12345");
    EXPECT_EQ(os::read_file(file("nothing")).value(), "");
    EXPECT_TRUE(std::filesystem::is_directory(file("deep/empty")));
    const std::pair<const char*, mode_t> modes[] = {
        {"", 0555}, {"deep", 0555}, {"deep/x.csv", 0444}, {"run.sh", 0555}};
    for (const auto& [name, mode] : modes) {
        struct stat info {};
        ASSERT_EQ(::stat(file(name).c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777U, mode) << name;
    }
}

TEST_F(Inputs, ThatSomebodyChangedAreNoticedAndPutRight)
{
    const auto list = make();
    ::usleep(20'000);
    ::chmod(tree().tree().c_str(), 0755);
    ::chmod(file("deep/x.csv").c_str(), 0644);
    ASSERT_TRUE(os::replace_file(file("more"), "1"));
    {
        const auto changed = os::open_file(file("deep/x.csv"), O_WRONLY);
        ASSERT_TRUE(os::write_all(changed->get(), "9"));
    }
    EXPECT_FALSE(tree().is_whole(*list));
    EXPECT_EQ(tree().arrived(*list, {}).value(), "01") << "the other file is as it was";
    EXPECT_FALSE(std::filesystem::exists(file("more")));
    put(*list, 0);
    ASSERT_TRUE(tree().finish(*list));
    EXPECT_TRUE(tree().is_whole(*list));
    EXPECT_EQ(os::read_file(file("deep/x.csv")).value(), "12345");
}

TEST_F(Inputs, OfAnEarlierBootAreReadAgain)
{
    const auto list = begin();
    ASSERT_TRUE(tree().arrived(*list, {}));
    put(*list, 0);
    const auto noted = folder_ / "home/inputs" / id_.text() / "arrived";
    ASSERT_TRUE(os::replace_file(noted, std::string(36, 'x') + "\n11"));
    EXPECT_EQ(tree().arrived(*list, {}).value(), "10");
}

TEST_F(Inputs, WithOtherBytesAreRefused)
{
    const auto list = begin();
    ASSERT_TRUE(tree().arrived(*list, {}));
    EXPECT_EQ(tree().put(*list, {{0, "12346"}}).error().kind(), ErrorKind::damaged);
    EXPECT_EQ(tree().put(*list, {{2, "1"}}).error().kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(tree().arrived(*list, {}).value(), "00");
}

TEST_F(Inputs, GoAsAWhole)
{
    make();
    EXPECT_EQ(InputTree::all(folder_ / "home").size(), 1U);
    EXPECT_TRUE(tree().remove());
    EXPECT_TRUE(InputTree::all(folder_ / "home").empty());
}

}  // namespace
}  // namespace ponk::agent
