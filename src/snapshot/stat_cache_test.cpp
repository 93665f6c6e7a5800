// SPDX-License-Identifier: Apache-2.0
#include "snapshot/golden_test_support.hpp"
#include "snapshot/scan_result.hpp"
#include "snapshot/stat_cache.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

namespace ponk::snapshot {
namespace {

std::string example()
{
    StatCacheBuilder builder;
    os::FileStatus status;
    status.size = 5;
    status.mtime_ns = 1'600'000'000'000'000'123;
    status.ctime_ns = 1'600'000'000'000'000'456;
    status.inode = 77;
    status.device = 8;
    status.mode = 0100644;
    builder.add_folder("", status, true);
    builder.add_file({"a", EntryKind::file, true, status, sha256("a")}, {});
    CachedFile folder{"d", EntryKind::folder};
    builder.add_file(folder, {});
    CachedFile link{"l", EntryKind::link, true, status};
    link.target = "a";
    builder.add_file(link, {});
    builder.set_child(1, 1);
    builder.add_folder("d", status, false);
    const std::vector<Chunk> chunks{{4, sha256("1")}, {1, sha256("2")}};
    builder.add_file({"big", EntryKind::executable, false, status}, chunks);
    CacheFacts facts;
    facts.store.fill(3);
    facts.generation = 9;
    facts.manifest = sha256("m");
    facts.ignore = sha256("i");
    facts.files = 2;
    facts.bytes = 10;
    facts.git_memo = "memo";
    return builder.bytes(facts);
}

TEST(StatCache, BytesAreTheGoldenOnes)
{
    expect_golden("statcache.bin", example());
}

TEST(StatCache, ReadsBackWhatWasWritten)
{
    const auto cache = StatCache::parse(example());

    ASSERT_TRUE(cache);
    EXPECT_EQ(cache->facts().git_memo, "memo");
    EXPECT_EQ(cache->facts().manifest, sha256("m"));
    const auto root = cache->folder(0);
    EXPECT_TRUE(root.trusted);
    ASSERT_EQ(root.file_count, 3U);
    EXPECT_EQ(cache->file(0).digest, sha256("a"));
    EXPECT_EQ(cache->file(0).status.mtime_ns, 1'600'000'000'000'000'123);
    EXPECT_EQ(cache->file(1).child, 1U);
    EXPECT_EQ(cache->file(2).target, "a");
    const auto below = cache->folder(1);
    EXPECT_EQ(below.path, "d");
    EXPECT_FALSE(below.trusted);
    const auto big = cache->file(below.first_file);
    EXPECT_EQ(big.kind, EntryKind::executable);
    EXPECT_EQ(cache->chunks(big), (std::vector<Chunk>{{4, sha256("1")}, {1, sha256("2")}}));
}

TEST(StatCache, AnyChangedByteMakesItAbsent)
{
    const auto bytes = example();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto wrong = bytes;
        wrong[at] = static_cast<char>(wrong[at] ^ 1);
        EXPECT_FALSE(StatCache::parse(wrong)) << at;
    }
    for (std::size_t size = 0; size < bytes.size(); size += 7)
        EXPECT_FALSE(StatCache::parse(bytes.substr(0, size)));
}

TEST(StatCache, BytesWithARightChecksumAndWrongInsidesAreBounded)
{
    EXPECT_TRUE(rc::check([](const std::vector<std::pair<std::size_t, char>>& changes) {
        auto bytes = example();
        const auto content = bytes.size() - 32;
        for (const auto& [at, value] : changes)
            bytes[12 + at % (content - 12)] = value;
        const auto sum = sha256(std::string_view(bytes).substr(0, content));
        std::memcpy(bytes.data() + content, sum.bytes.data(), 32);
        const auto cache = StatCache::parse(bytes);
        if (!cache) return;
        for (std::uint32_t i = 0; i < cache->folder_count(); ++i) {
            const auto folder = cache->folder(i);
            for (std::uint32_t k = 0; k < folder.file_count; ++k) {
                const auto file = cache->file(folder.first_file + k);
                static_cast<void>(cache->chunks(file));
                RC_ASSERT(std::strlen(file.name.data()) <= bytes.size());
            }
        }
    }));
}

TEST(StatCache, TimesNearTheSnapshotAreNotTrusted)
{
    constexpr std::int64_t now = 1'700'000'000'500'000'000;
    os::FileStatus status;
    status.mtime_ns = status.ctime_ns = now - 1'000'000'123;
    EXPECT_TRUE(is_stable(status, now));
    status.ctime_ns = now - 10'000'000;
    EXPECT_FALSE(is_stable(status, now));
    status.ctime_ns = now + 5'000'000'000;  // the clock went back
    EXPECT_FALSE(is_stable(status, now));
    status.mtime_ns = status.ctime_ns = 1'699'999'999'000'000'000;  // whole seconds
    EXPECT_FALSE(is_stable(status, now));
    status.mtime_ns = status.ctime_ns = 1'699'999'990'000'000'000;
    EXPECT_TRUE(is_stable(status, now));
}

}  // namespace
}  // namespace ponk::snapshot
