// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/tar.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::dockerapi {
namespace {

using namespace std::chrono_literals;

struct Unpacked {
    TarEntry entry;
    std::string bytes;
};

Result<std::vector<Unpacked>> unpack(std::string_view archive, std::size_t piece)
{
    std::vector<Unpacked> entries;
    TarReader reader({.begin = [&entries](const TarEntry& entry) -> Result<> {
                          entries.push_back({entry, {}});
                          return {};
                      },
                      .data = [&entries](std::string_view bytes) -> Result<> {
                          entries.back().bytes += bytes;
                          return {};
                      }});
    for (std::size_t at = 0; at < archive.size(); at += piece)
        TRY(reader.take(archive.substr(at, piece)));
    TRY(reader.finish());
    return entries;
}

std::vector<TarEntry> awkward_entries()
{
    return {{.kind = TarEntry::Kind::folder, .path = "outputs", .mode = 0755},
            {.path = "outputs/plain", .mode = 0600, .size = 5},
            {.path = "outputs/" + std::string(300, 'x') + "/\xff name\n", .size = 512},
            {.kind = TarEntry::Kind::link, .path = "outputs/l", .link = std::string(200, 'y')},
            {.path = "exactly-one-hundred-" + std::string(80, 'z'), .mode = 0755, .size = 0}};
}

std::string pack(const std::vector<TarEntry>& entries)
{
    std::string archive;
    for (const auto& entry : entries)
        archive += tar_header(entry) + std::string(entry.size, 'd') + tar_padding(entry.size);
    return archive + tar_end();
}

TEST(Tar, WhatIsWrittenIsReadInAnyPieces)
{
    const auto entries = awkward_entries();
    const auto archive = pack(entries);

    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{511}, std::size_t{513}, archive.size()}) {
        const auto found = unpack(archive, piece);
        ASSERT_TRUE(found) << found.error().message();
        ASSERT_EQ(found->size(), entries.size());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            auto path = entries[i].path;
            if (entries[i].kind == TarEntry::Kind::folder) path += '/';
            EXPECT_EQ((*found)[i].entry.path, path);
            EXPECT_EQ((*found)[i].entry.kind, entries[i].kind);
            EXPECT_EQ((*found)[i].entry.link, entries[i].link);
            EXPECT_EQ((*found)[i].entry.mode, entries[i].mode);
            EXPECT_EQ((*found)[i].bytes, std::string(entries[i].size, 'd'));
        }
    }
}

TEST(Tar, TheSystemsTarReadsWhatWeWrite)
{
    const os::TestFolder folder;
    ASSERT_TRUE(os::replace_file(folder.path() / "a.tar", pack(awkward_entries())));

    const auto listed = os::run(
        {.argv = {"tar", "--quoting-style=escape", "-tf", (folder.path() / "a.tar").string()}},
        after(20s),
        {});

    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->exit.status(), 0) << listed->err;
    EXPECT_EQ(listed->out,
              "outputs/\noutputs/plain\noutputs/" + std::string(300, 'x') +
                  "/\\377 name\\n\noutputs/l\nexactly-one-hundred-" + std::string(80, 'z') + "\n");
}

TEST(Tar, WhatTheSystemsTarWritesIsRead)
{
    const os::TestFolder folder;
    const std::string deep = std::string(90, 'p') + "/" + std::string(90, 'q');
    ASSERT_TRUE(os::make_directories(folder.path() / "in" / deep));
    ASSERT_TRUE(os::replace_file(folder.path() / "in" / deep / "file", "bytes"));
    for (const auto* format : {"gnu", "pax", "ustar", "posix"}) {
        const auto made = os::run({.argv = {"tar",
                                            std::string("--format=") + format,
                                            "-C",
                                            (folder.path() / "in").string(),
                                            "-c",
                                            "."}},
                                  after(20s),
                                  {});
        ASSERT_TRUE(made);
        const auto found = unpack(made->out, 1000);
        ASSERT_TRUE(found) << format << ": " << found.error().message();
        EXPECT_EQ(found->back().entry.path, "./" + deep + "/file") << format;
        EXPECT_EQ(found->back().bytes, "bytes") << format;
    }
}

TEST(Tar, ASizePastTheFieldIsWrittenAndRead)
{
    const TarEntry huge{.path = "huge", .size = std::uint64_t{1} << 40};
    std::uint64_t size = 0;
    TarReader reader({.begin = [&size](const TarEntry& entry) -> Result<> {
                          size = entry.size;
                          return {};
                      },
                      .data = [](std::string_view) -> Result<> { return {}; }});

    ASSERT_TRUE(reader.take(tar_header(huge)));

    EXPECT_EQ(size, huge.size);
    EXPECT_FALSE(reader.finish()) << "the bytes are missing";
}

TEST(Tar, ADamagedHeaderIsAnError)
{
    auto archive = pack(awkward_entries());
    archive[3] ^= 1;

    const auto found = unpack(archive, 4096);

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::damaged);
}

}  // namespace
}  // namespace ponk::dockerapi
