// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pieces.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace ponk::snapshot {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Pieces : public SnapshotTest {
protected:
    SnapshotReport list()
    {
        auto how = options();
        how.contents = SnapshotOptions::Contents::digests_only;
        return take_snapshot(store_, how).value();
    }
    os::Fd open(const os::Path& folder)
    {
        static_cast<void>(os::make_directories(folder));
        return std::move(os::open_file(folder, O_RDONLY | O_DIRECTORY).value());
    }
    std::size_t objects() const
    {
        std::size_t count = 0;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(store_.root() / "objects"))
            count += entry.is_regular_file() ? 1 : 0;
        return count;
    }
};

TEST_F(Pieces, AListStoresNothingButItself)
{
    write("small", "12345");
    write("large", std::string(chunked_above + 5, 'x'));
    write("empty", "");
    const auto first = list();
    EXPECT_EQ(objects(), 1U) << "the manifest";
    EXPECT_EQ(first.bytes_read, chunked_above + 10);
    age();
    list();
    EXPECT_EQ(list().bytes_read, 0U) << "what did not change is not read again";
    EXPECT_EQ(take(), first.id) << "a snapshot of the same has the same digest";
}

TEST_F(Pieces, TogetherTheyAreTheTree)
{
    write("small", "12345");
    write("large", std::string(chunked_above, '\0') + "end");
    const auto manifest = store_.read_manifest(list().id).value();
    const auto pieces = pieces_of(manifest);
    ASSERT_EQ(pieces.size(), 4U);
    EXPECT_TRUE(pieces[0].is_hole() && pieces[1].is_hole() && !pieces[2].is_hole());
    const auto from = open(project_);
    const auto to = open(folder_ / "there");
    for (const auto& piece : pieces)
        must(write_piece(to.get(), piece, read_piece(from.get(), piece).value()));
    EXPECT_EQ(tree_of(folder_ / "there"), tree_of(project_));
}

TEST_F(Pieces, OtherBytesAreRefusedAtBothEnds)
{
    write("file", "12345");
    const auto manifest = store_.read_manifest(list().id).value();
    const auto piece = pieces_of(manifest).front();
    const auto to = open(folder_ / "there");
    EXPECT_EQ(write_piece(to.get(), piece, "12346").error().kind(), ErrorKind::damaged);
    EXPECT_THAT(tree_of(folder_ / "there"), IsEmpty());
    for (const auto* const other : {"12346", "1234"}) {
        write("file", other);
        const auto read = read_piece(open(project_).get(), piece);
        EXPECT_EQ(read.error().kind(), ErrorKind::conflict);
        EXPECT_THAT(read.error().message(), HasSubstr("'file' changed"));
    }
}

}  // namespace
}  // namespace ponk::snapshot
