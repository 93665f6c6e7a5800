// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"
#include "os/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::os {
namespace {

class Tree : public testing::Test {
protected:
    void SetUp() override
    {
        folder_ = *make_temporary_directory("/tmp", "ponk-tree-");
        root_ = *open_file(folder_, O_RDONLY | O_DIRECTORY);
    }
    void TearDown() override { static_cast<void>(remove_tree(folder_)); }
    Path folder_;
    Fd root_;
};

TEST_F(Tree, NamesOfALargeFolderAreAllThereWithTheirTypes)
{
    for (int i = 0; i < 800; ++i) {
        const auto name = std::string(60, 'n') + std::to_string(i);
        ::close(::openat(root_.get(), name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    ::mkdirat(root_.get(), "folder\n\xff", 0700);
    ::symlinkat("nowhere", root_.get(), "link");

    NameList list;
    ASSERT_EQ(list.read(root_.get()), 0);

    std::set<std::string> names;
    for (const auto& name : list.names()) {
        names.emplace(name.text);
        const auto expected = name.text == "link"               ? DT_LNK
                              : name.text.starts_with("folder") ? DT_DIR
                                                                : DT_REG;
        EXPECT_EQ(name.type, expected) << name.text;
    }
    EXPECT_EQ(names.size(), 802U);
    EXPECT_TRUE(names.contains("folder\n\xff"));
}

TEST_F(Tree, FoldersOpenBelowTheRootOnly)
{
    ::mkdirat(root_.get(), "a", 0700);
    ::mkdirat(root_.get(), "a/b", 0700);
    ::symlinkat("/tmp", root_.get(), "out");

    const Fd inside(open_folder_beneath(root_.get(), "a/b"));

    EXPECT_TRUE(inside);
    EXPECT_LT(open_folder_beneath(root_.get(), "out"), 0);
    EXPECT_LT(open_folder_beneath(root_.get(), "a/../../etc"), 0);
    EXPECT_EQ(open_folder_beneath(root_.get(), "none"), -ENOENT);
}

TEST_F(Tree, FoldersDeeperThanPathMaxOpenToo)
{
    std::string path;
    Fd at(::dup(root_.get()));
    const std::string part(200, 'd');
    for (int i = 0; i < 25; ++i) {
        ASSERT_EQ(::mkdirat(at.get(), part.c_str(), 0700), 0);
        at.reset(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        path += (path.empty() ? "" : "/") + part;
    }

    const Fd deep(open_folder_beneath(root_.get(), path));

    EXPECT_TRUE(deep);
}

TEST_F(Tree, AHoleIsToldFromData)
{
    const Fd file(::openat(root_.get(), "sparse", O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    ASSERT_EQ(::ftruncate(file.get(), 1 << 22), 0);
    ASSERT_EQ(::pwrite(file.get(), "x", 1, 1 << 21), 1);

    EXPECT_TRUE(is_hole(file.get(), 0, 1 << 20));
    EXPECT_FALSE(is_hole(file.get(), 1 << 20, 2 << 20));
}

TEST_F(Tree, AFileOpenForWritingHasAWriter)
{
    Fd writer(::openat(root_.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const Fd reader(::openat(root_.get(), "file", O_RDONLY | O_CLOEXEC));

    EXPECT_FALSE(has_no_writer(reader.get()));
    writer.reset();
    EXPECT_TRUE(has_no_writer(reader.get()));
}

}  // namespace
}  // namespace ponk::os
