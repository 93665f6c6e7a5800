// SPDX-License-Identifier: Apache-2.0
#include "os/directory.hpp"
#include "os/test_folder.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <sys/stat.h>
#include <thread>

namespace ponk::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = ArtifactFolder::Found::Kind;

ArtifactPath at(std::string_view text)
{
    return ArtifactPath::parse(text).value();
}

TEST(ArtifactPath, WhatCouldLeadElsewhereIsRefused)
{
    using namespace std::string_view_literals;
    for (const auto text : {"../../etc/passwd"sv,
                            ".."sv,
                            "%2e%2e/%2e%2e/x"sv,
                            "..%2f..%2fx"sv,
                            "0/..%252f..%252fx"sv,
                            "/"sv,
                            "/etc/passwd"sv,
                            "//etc/passwd"sv,
                            "%2Fetc/passwd"sv,
                            "..\\..\\x"sv,
                            "\\\\share"sv,
                            "C:/x"sv,
                            "a/c:"sv,
                            "./.."sv,
                            "a//b"sv,
                            "a/.."sv,
                            "a//"sv,
                            "x\0y"sv,
                            "x\ny"sv,
                            "x\x7fy"sv,
                            "file:///etc/passwd"sv,
                            "x#y"sv,
                            "x;y"sv,
                            "x\xffy"sv}) {
        const auto parsed = ArtifactPath::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().kind(), ErrorKind::invalid_argument);
        EXPECT_THAT(parsed.error().message(), testing::HasSubstr("Invalid path"));
    }
    EXPECT_FALSE(ArtifactPath::parse(std::string(256, 'n')));
    EXPECT_FALSE(ArtifactPath::parse(std::string(9000, 'a')));
}

TEST(ArtifactPath, OrdinaryNamesStayAsTheyAre)
{
    for (const auto* text :
         {"a", "a/b c/ž.txt", "...", "a..b", ".hidden", "100%", "a:b", "x?y=z&w", "-rf"})
        EXPECT_EQ(at(text).text(), text);
    EXPECT_EQ(at("a/b/").text(), "a/b");
    EXPECT_TRUE(at("").is_root());
    EXPECT_TRUE(at(".").is_root());
    EXPECT_TRUE(at("./").is_root());
    for (const auto* text : {"./a/b", "a/./b", "a/b/.", "./a/././b/./"})
        EXPECT_EQ(at(text), at("a/b")) << text;
    EXPECT_EQ((at("a/b") / at("c")).below(1), at("b/c"));
    EXPECT_EQ(at("a/b").below(5), at(""));
}

class ArtifactFolderTest : public testing::Test {
protected:
    void put(std::string_view path, std::string_view bytes) const
    {
        auto upload = folder_.receive(bytes.size()).value();
        ASSERT_TRUE(upload.write(bytes));
        const auto published = upload.publish(at(path));
        ASSERT_TRUE(published) << published.error().message();
    }
    [[nodiscard]] std::string get(std::string_view path) const
    {
        const auto found = folder_.find(at(path)).value();
        return found.kind == Kind::file ? os::read_at(found.file.fd.get(), 0, 1U << 20U).value()
                                        : "(no file)";
    }
    [[nodiscard]] std::vector<std::string> names(std::string_view path) const
    {
        std::vector<std::string> names;
        const auto listed = folder_.list(at(path)).value();
        if (!listed) return {"(no folder)"};
        for (const auto& entry : *listed)
            names.push_back(entry.name +
                            (entry.kind == ArtifactFolder::Entry::Kind::folder ? "/" : ""));
        return names;
    }
    // Every file and folder that is really there, except the one for what comes and goes.
    [[nodiscard]] std::size_t things_on_disk() const
    {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(place_.path()))
            count += entry.path() != root_ && entry.path() != root_ / ".incoming" ? 1U : 0U;
        return count;
    }

    os::TestFolder place_;
    os::Path root_ = place_.path() / "artifacts";
    ArtifactFolder folder_{root_};
};

TEST_F(ArtifactFolderTest, FilesAreStoredListedAndReplaced)
{
    put("1/run/artifacts/model/weights.bin", "old");
    put("1/run/artifacts/model/weights.bin", "new bytes");
    put("1/run/artifacts/empty", "");

    EXPECT_EQ(get("1/run/artifacts/model/weights.bin"), "new bytes");
    EXPECT_THAT(names("1/run/artifacts"), ElementsAre("empty", "model/"));
    EXPECT_THAT(names("1/run/artifacts/empty"), ElementsAre("(no folder)"));
    EXPECT_THAT(names("1/none"), ElementsAre("(no folder)"));
    std::vector<std::string> walked;
    ASSERT_TRUE(folder_.walk(at("1/run"), [&](const std::string& path, std::uint64_t size) {
        walked.push_back(path + " " + std::to_string(size));
    }));
    EXPECT_THAT(walked, ElementsAre("artifacts/empty 0", "artifacts/model/weights.bin 9"));
}

TEST_F(ArtifactFolderTest, AReplacedFileHasAnotherVersionAndAnOpenOneStaysWhole)
{
    put("1/a", "first");
    const auto before = folder_.find(at("1/a")).value();
    put("1/a", "other");
    const auto after = folder_.find(at("1/a")).value();

    EXPECT_NE(before.file.version, after.file.version);
    EXPECT_EQ(os::read_at(before.file.fd.get(), 0, 10).value(), "first");
}

TEST_F(ArtifactFolderTest, AnUploadThatIsCutLeavesNothing)
{
    {
        auto upload = folder_.receive(std::nullopt).value();
        ASSERT_TRUE(upload.write("half of it"));
    }
    EXPECT_EQ(things_on_disk(), 0U);
}

TEST_F(ArtifactFolderTest, WhatAKilledWriterLeftIsSwept)
{
    put("1/a", "kept");
    ASSERT_TRUE(os::replace_file(root_ / ".incoming/0123", "half"));
    ASSERT_TRUE(os::make_directories(root_ / ".incoming/4567/tree"));

    ASSERT_TRUE(folder_.sweep());

    EXPECT_EQ(get("1/a"), "kept");
    EXPECT_THAT(os::list_directory(root_ / ".incoming").value(), IsEmpty());
    EXPECT_TRUE(ArtifactFolder(place_.path() / "none").sweep());
}

TEST_F(ArtifactFolderTest, AFileAndAFolderCannotHaveOneName)
{
    put("1/a", "file");
    put("1/b/c", "file");
    for (const auto* path : {"1/a/x", "1/a/x/y", "1/b"}) {
        auto upload = folder_.receive(1).value();
        ASSERT_TRUE(upload.write("x"));
        const auto refused = upload.publish(at(path));
        ASSERT_FALSE(refused) << path;
        EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
    }
    EXPECT_EQ(get("1/a"), "file");
    EXPECT_EQ(folder_.find(at("1/a/x")).value().kind, Kind::blocked);
    EXPECT_EQ(folder_.find(at("1/b")).value().kind, Kind::folder);
    EXPECT_EQ(folder_.find(at("1/z/y")).value().kind, Kind::absent);
    EXPECT_EQ(things_on_disk(), 4U);
}

TEST_F(ArtifactFolderTest, RemovingIsForFilesTreesAndWhatIsNotThere)
{
    put("1/a/b/c", "x");
    put("1/a/d", "x");
    put("1/e", "x");

    EXPECT_TRUE(folder_.remove(at("1/e")));
    EXPECT_TRUE(folder_.remove(at("1/a")));
    EXPECT_TRUE(folder_.remove(at("1/a")));
    EXPECT_TRUE(folder_.remove(at("1/none/below")));
    EXPECT_FALSE(folder_.remove(at("")));

    EXPECT_THAT(names("1"), IsEmpty());
    EXPECT_EQ(things_on_disk(), 1U);
}

TEST_F(ArtifactFolderTest, LinksThatSomebodyPlantedLeadNowhere)
{
    put("1/run/a", "x");
    const auto outside = place_.path() / "outside";
    ASSERT_TRUE(os::make_directories(outside));
    ASSERT_TRUE(os::replace_file(outside / "secret", "secret"));
    std::filesystem::create_symlink(outside, root_ / "1/run/way");
    std::filesystem::create_symlink(outside / "secret", root_ / "1/run/file");
    std::filesystem::create_symlink("a", root_ / "1/run/near");
    ASSERT_EQ(::mkfifo((root_ / "1/run/fifo").c_str(), 0600), 0);

    for (const auto* path : {"1/run/way/secret", "1/run/file", "1/run/near", "1/run/fifo"})
        EXPECT_EQ(get(path), "(no file)") << path;
    EXPECT_THAT(names("1/run"), ElementsAre("a"));
    EXPECT_THAT(names("1/run/way"), ElementsAre("(no folder)"));
    auto upload = folder_.receive(1).value();
    EXPECT_FALSE(upload.publish(at("1/run/way/new")));
    EXPECT_TRUE(folder_.remove(at("1/run/way/secret")));
    put("1/run/file", "mine");  // replaces the link, not what it points to
    EXPECT_TRUE(folder_.remove(at("1/run")));

    EXPECT_EQ(os::read_file(outside / "secret").value(), "secret");
    EXPECT_EQ(os::list_directory(outside).value().size(), 1U);
}

TEST_F(ArtifactFolderTest, OfWritersAtOnceOneWinsWhole)
{
    std::vector<std::thread> writers;
    for (char mark = 'a'; mark < 'i'; ++mark) {
        writers.emplace_back([this, mark] {
            for (int i = 0; i < 5; ++i)
                put("1/run/deep/file", std::string(20'000 + static_cast<std::size_t>(mark), mark));
        });
    }
    for (auto& writer : writers)
        writer.join();

    const auto bytes = get("1/run/deep/file");
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(bytes, std::string(20'000 + static_cast<std::size_t>(bytes[0]), bytes[0]));
    EXPECT_EQ(things_on_disk(), 4U);
}

TEST_F(ArtifactFolderTest, WhoRemovesWhileOthersWriteLosesNoWriter)
{
    std::atomic<int> writing = 3;
    std::vector<std::thread> writers;
    for (int number = 0; number < 3; ++number) {
        writers.emplace_back([this, number, &writing] {
            for (int i = 0; i < 100; ++i)
                put(fmt::format("1/run/artifacts/{}/file{}", number, i), "x");
            --writing;
        });
    }
    std::vector<std::thread> removers;
    for (const char* path : {"1/run", "1/run/artifacts"}) {
        removers.emplace_back([this, path, &writing] {
            while (writing > 0) {
                const auto removed = folder_.remove(at(path));
                EXPECT_TRUE(removed) << removed.error().message();
            }
        });
    }
    for (auto* threads : {&writers, &removers}) {
        for (auto& thread : *threads)
            thread.join();
    }
    EXPECT_TRUE(folder_.remove(at("1")));
    EXPECT_EQ(things_on_disk(), 0U);  // nor was anything left half removed
    put("1/run/artifacts/file", "last");
    EXPECT_EQ(get("1/run/artifacts/file"), "last");
}

TEST_F(ArtifactFolderTest, MoreThanTheDiskHasRoomForIsRefusedAtOnce)
{
    const auto refused = folder_.receive(std::uint64_t{1} << 60U);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
    EXPECT_FALSE(refused.error().hint().empty());
}

TEST_F(ArtifactFolderTest, WhatIsTooDeepToBeListedIsNotStored)
{
    const auto deep = [](int folders) {
        std::string path;
        for (int i = 0; i < folders; ++i)
            path += "d/";
        return path + "file";
    };
    put(deep(199), "x");
    std::vector<std::string> found;
    ASSERT_TRUE(folder_.walk(at(""), [&found](const std::string& path, std::uint64_t) {
        if (!path.starts_with(".")) found.push_back(path);
    }));
    EXPECT_EQ(found, std::vector<std::string>{deep(199)});

    auto upload = folder_.receive(1).value();
    const auto refused = upload.publish(at(deep(200)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace ponk::store
