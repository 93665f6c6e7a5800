// SPDX-License-Identifier: Apache-2.0
#include "snapshot/materialise.hpp"
#include "snapshot/snapshot_test_support.hpp"

namespace ponk::snapshot {
namespace {

class Materialise : public SnapshotTest {
protected:
    Digest store_text(const std::string& body)
    {
        return store_.put("ponk manifest 1\n" + body).value();
    }
    os::Path copy_ = folder_ / "copy";
};

TEST_F(Materialise, RecreatesTheTree)
{
    write("a/b/c.txt", "1");
    write("a-b", "2");
    write("program", "3");
    ::chmod((project_ / "program").c_str(), 0755);
    write("large", random_bytes(9 << 20));
    write("text", std::string(200'000, 'z'));
    must(os::make_directories(project_ / "empty/deep"));
    std::filesystem::create_symlink("a/b/c.txt", project_ / "link");
    std::filesystem::create_symlink("a", project_ / "folder-link");

    const auto made = materialise(store_, take(), copy_);

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(tree_of(copy_), tree_of(project_));
    EXPECT_EQ(made->files, 5U);
}

TEST_F(Materialise, GivesFilesOfItsOwn)
{
    write("file", "1");
    const auto id = take();
    ASSERT_TRUE(materialise(store_, id, copy_));
    const auto file = os::open_file(copy_ / "file", O_WRONLY | O_TRUNC);
    ASSERT_TRUE(file);
    must(os::write_all(file->get(), "changed by the run"));

    EXPECT_EQ(store_.read(sha256("1")).value(), "1");
}

TEST_F(Materialise, RefusesAFolderThatIsNotEmpty)
{
    write("file", "1");
    const auto id = take();
    must(os::make_directories(copy_));
    must(os::replace_file(copy_ / "mine", "precious"));

    const auto made = materialise(store_, id, copy_);

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(os::read_file(copy_ / "mine").value(), "precious");
}

TEST_F(Materialise, UsesAnEmptyFolderThatIsThere)
{
    write("file", "1");
    must(os::make_directories(copy_));

    EXPECT_TRUE(materialise(store_, take(), copy_));
    EXPECT_EQ(os::read_file(copy_ / "file").value(), "1");
}

TEST_F(Materialise, LeavesNothingBehindWhenAnObjectIsLost)
{
    write("a", "1");
    write("b", "2");
    const auto id = take();
    ::unlink(object_path(sha256("2")).c_str());

    const auto made = materialise(store_, id, copy_);

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind(), ErrorKind::not_found);
    EXPECT_NE(made.error().message().find("'b'"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(copy_));
}

TEST_F(Materialise, HealsADamagedObjectFromTheProject)
{
    write("a", "1");
    write("large", random_bytes(9 << 20));
    const auto id = take();
    const auto manifest = store_.read_manifest(id).value();
    for (const auto& digest : {sha256("1"), manifest.find("large")->chunks[1].digest}) {
        auto bytes = os::read_file(object_path(digest)).value();
        bytes[0] ^= 1;  // what is written over random bytes could be what was there
        overwrite(object_path(digest), bytes);
    }
    MaterialiseOptions options;
    options.heal_from = project_;

    const auto made = materialise(store_, id, copy_, options);

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->healed.size(), 2U);
    EXPECT_EQ(tree_of(copy_), tree_of(project_));
    EXPECT_EQ(store_.read(sha256("1")).value(), "1");
}

TEST_F(Materialise, DoesNotHealFromAFileThatChanged)
{
    write("a", "1");
    const auto id = take();
    ::unlink(object_path(sha256("1")).c_str());
    write("a", "2");
    MaterialiseOptions options;
    options.heal_from = project_;

    EXPECT_FALSE(materialise(store_, id, copy_, options));
}

TEST_F(Materialise, WritesNothingThroughLinks)
{
    must(os::make_directories(folder_ / "outside"));
    const auto file = store_.put("evil").value().text();
    const std::string target = (folder_ / "outside").native();
    for (const auto& body : {"l a\n> " + target + "\nf 4 " + file + " a/x\n",
                             "l a\n> " + target + "\nd a/\nf 4 " + file + " a/x\n",
                             "f 4 " + file + " ../outside/x\n",
                             "f 4 " + file + " " + target + "/x\n"}) {
        EXPECT_FALSE(materialise(store_, store_text(body), copy_)) << body;
    }
    EXPECT_TRUE(tree_of(folder_ / "outside").empty());
}

TEST_F(Materialise, KeepsALinkOutsideAsALinkAndNamesIt)
{
    const auto id = store_text("l data\n> /somewhere/else\n");

    const auto made = materialise(store_, id, copy_);

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(std::filesystem::read_symlink(copy_ / "data"), "/somewhere/else");
    EXPECT_EQ(made->outside, std::vector<std::string>{"data"});
}

TEST_F(Materialise, RefusesADestinationThatIsALink)
{
    write("file", "1");
    must(os::make_directories(folder_ / "outside"));
    std::filesystem::create_symlink(folder_ / "outside", copy_);

    EXPECT_FALSE(materialise(store_, take(), copy_));
    EXPECT_TRUE(tree_of(folder_ / "outside").empty());
}

TEST_F(Materialise, RefusesAManifestWhoseSizesLie)
{
    const auto id = store_text("f 3 " + store_.put("1234").value().text() + " a\n");

    EXPECT_FALSE(materialise(store_, id, copy_));
}

TEST_F(Materialise, HolesStayHoles)
{
    const auto file = os::open_file(project_ / "sparse", O_CREAT | O_WRONLY, 0644);
    ASSERT_EQ(::ftruncate(file->get(), 64 << 20), 0);
    ASSERT_EQ(::pwrite(file->get(), "x", 1, 33 << 20), 1);

    ASSERT_TRUE(materialise(store_, take(), copy_));

    struct stat info {};
    ::stat((copy_ / "sparse").c_str(), &info);
    EXPECT_EQ(info.st_size, 64 << 20);
    EXPECT_LT(info.st_blocks * 512, 8 << 20);
    EXPECT_EQ(take(), [this] {
        auto again = options();
        again.directory = copy_;
        again.cache_file.clear();
        return take(again);
    }());
}

}  // namespace
}  // namespace ponk::snapshot
