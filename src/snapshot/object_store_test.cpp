// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "snapshot/garbage.hpp"
#include "snapshot/golden_test_support.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/object_store.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {
namespace {

using Objects = SnapshotTest;

std::string compressible(std::size_t size)
{
    std::string text;
    while (text.size() < size)
        text += "line " + std::to_string(text.size() % 977) + "\n";
    text.resize(size);
    return text;
}

std::size_t stored_size(const os::Path& path)
{
    return static_cast<std::size_t>(std::filesystem::file_size(path));
}

TEST_F(Objects, AreNamedByTheDigestOfTheirContent)
{
    const auto digest = store_.put("hello").value();

    EXPECT_EQ(digest, sha256("hello"));
    EXPECT_EQ(os::read_file(object_path(digest)).value(), "hello");
    EXPECT_EQ(store_.read(digest).value(), "hello");
}

TEST_F(Objects, AreCompressedWhereItPays)
{
    const auto text = compressible(100'000);
    const auto noise = random_bytes(100'000);

    const auto small = store_.put(text).value();
    const auto large = store_.put(noise).value();

    EXPECT_LT(stored_size(object_path(small)), 50'000U);
    EXPECT_EQ(stored_size(object_path(large)), noise.size());
    EXPECT_EQ(store_.read(small).value(), text);
    EXPECT_EQ(store_.read(large).value(), noise);
}

TEST_F(Objects, ContentThatLooksCompressedComesBackAsItWas)
{
    for (const std::size_t size : {8U, 16U, 17U, 100U}) {
        const auto content = std::string(compressed_magic) + std::string(size - 8, 'x');
        const auto digest = store_.put(content).value();
        EXPECT_EQ(store_.read(digest).value(), content);
    }
}

TEST_F(Objects, CompressedFormIsTheGoldenOne)
{
    // The frame depends on the zstd version; what is stored must be read by every later one.
    const auto content = std::string(compressed_magic) + "golden";
    ObjectEncoder encoder;
    if (std::getenv("PONK_UPDATE_GOLDEN"))
        expect_golden("object.bin", encoder.encode(content).value());

    const auto file = os::read_file(os::Path(PONK_GOLDEN_FOLDER) / "object.bin").value();

    std::string out(content.size(), '\0');
    EXPECT_TRUE(decode_object(file, out.data(), out.size()));
    EXPECT_EQ(out, content);
}

TEST_F(Objects, AnyContentComesBackThroughBothWaysOfPublishing)
{
    const auto opened =
        ObjectStore::open(folder_ / "named", {os::UnnamedFile::Way::temporary_name});
    EXPECT_TRUE(rc::check([&](const std::string& content) {
        for (const ObjectStore* store : {&std::as_const(store_), &opened.value()}) {
            const auto digest = store->put(content);
            RC_ASSERT(digest.has_value());
            RC_ASSERT(store->read(*digest).value() == content);
        }
    }));
}

TEST_F(Objects, ADamagedOneIsRefusedAndPutAside)
{
    const auto digest = store_.put("precious").value();
    const auto before = store_.generation().value();
    overwrite(object_path(digest), "previous");

    const auto read = store_.read(digest);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind(), ErrorKind::damaged);
    EXPECT_NE(read.error().message().find(digest.text()), std::string::npos);
    EXPECT_FALSE(store_.contains(digest).value());
    EXPECT_EQ(os::list_directory(store_.root() / "quarantine")->size(), 1U);
    EXPECT_NE(store_.generation().value(), before);
    EXPECT_EQ(store_.read(store_.put("precious").value()).value(), "precious");
}

TEST_F(Objects, WhatIsNoFileIsPutAsideAndGivesWayToTheTrueOne)
{
    const auto digest = store_.put("hello").value();
    const auto path = object_path(digest);
    const std::vector<std::function<int()>> makers{
        [&] { return ::mkfifo(path.c_str(), 0600); },
        [&] { return ::mkdir(path.c_str(), 0700); },
        [&] { return ::symlink("/etc/hostname", path.c_str()); },
        [&] { return ::symlink(path.c_str(), path.c_str()); },
    };
    for (const auto& make : makers) {
        std::filesystem::remove(path);
        ASSERT_EQ(make(), 0);
        const auto read = store_.read(digest);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().kind(), ErrorKind::damaged);
        EXPECT_THAT(read.error().message(), testing::HasSubstr("not a regular file"));
        EXPECT_THAT(read.error().hint(), testing::HasSubstr("quarantine"));

        ASSERT_EQ(make(), 0);
        EXPECT_FALSE(store_.contains(digest).value());
        ASSERT_EQ(make(), 0);
        EXPECT_EQ(store_.put("hello").value(), digest);
        EXPECT_EQ(store_.read(digest).value(), "hello");
    }
}

TEST_F(Objects, TheSecondReaderOfADamagedOneHearsTheSame)
{
    const auto digest = store_.put("precious").value();
    overwrite(object_path(digest), "previous");
    ASSERT_FALSE(store_.read(digest));

    const auto again = store_.read(digest);

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::damaged);
    EXPECT_NE(again.error().message().find("quarantine"), std::string::npos);
    EXPECT_NE(again.error().hint().find("Submit again"), std::string::npos);
}

TEST_F(Objects, ASoundOneStoredMeanwhileIsNotPutAside)
{
    const auto digest = store_.put("precious").value();
    overwrite(object_path(digest), "previous");
    const auto slow_reader = store_.open_object(digest).value();
    ASSERT_FALSE(store_.read(digest));
    ASSERT_TRUE(store_.put("precious"));

    ASSERT_TRUE(store_.quarantine(digest, slow_reader.get()));

    EXPECT_EQ(store_.read(digest).value(), "precious");
}

TEST_F(Objects, EveryFlippedBitIsSeen)
{
    const auto text = compressible(20'000);
    const auto digest = store_.put(text).value();
    const auto stored = os::read_file(object_path(digest)).value();
    ASSERT_TRUE(is_compressed(stored));
    for (std::size_t at = 0; at < stored.size(); at += 97) {
        auto bytes = stored;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        overwrite(object_path(digest), bytes);
        const auto read = store_.read(digest);
        // A bit of the frame that does not matter for the content may pass; wrong content never.
        EXPECT_EQ(read.value_or(text), text);
        static_cast<void>(store_.put(text));
    }
}

TEST_F(Objects, TruncatedOnesAreRefused)
{
    const auto raw = store_.put("0123456789").value();
    overwrite(object_path(raw), "01234");

    EXPECT_EQ(store_.read(raw).error().kind(), ErrorKind::damaged);
}

TEST_F(Objects, AMissingOneIsNamedWithTheNextStep)
{
    const auto read = store_.read(sha256("never stored"));

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind(), ErrorKind::not_found);
    EXPECT_NE(read.error().message().find(sha256("never stored").text()), std::string::npos);
    EXPECT_FALSE(read.error().hint().empty());
}

TEST_F(Objects, AScrubFindsTheDamagedAmongTheGood)
{
    std::vector<Digest> digests;
    for (int i = 0; i < 50; ++i)
        digests.push_back(store_.put("object " + std::to_string(i)).value());
    overwrite(object_path(digests[7]), "object 8");

    const auto report = scrub(store_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->objects, 50U);
    EXPECT_EQ(report->damaged, std::vector<Digest>{digests[7]});
}

TEST_F(Objects, AStoreOfAnotherVersionIsRefused)
{
    must(os::replace_file(store_.root() / "store", "ponk store 2 00\n"));

    const auto opened = ObjectStore::open(store_.root());

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind(), ErrorKind::damaged);
}

}  // namespace
}  // namespace ponk::snapshot
