// SPDX-License-Identifier: Apache-2.0
// Files of snapshots that are read in parts.
#include "base/work_count.hpp"
#include "snapshot/snapshot_test_support.hpp"

namespace ponk::snapshot {
namespace {

constexpr std::size_t part = std::size_t{128} << 10;

std::string lines(std::size_t size)
{
    std::string text;
    while (text.size() < size)
        text += "line " + std::to_string(text.size()) + "\n";
    text.resize(size);
    return text;
}

class ReadFile : public SnapshotTest {
protected:
    // As downloads do.
    std::string read_in_parts(const Manifest& manifest, const std::string& path)
    {
        std::string all;
        for (;;) {
            const auto next = read_file(store_, manifest, path, all.size(), part);
            EXPECT_TRUE(next) << next.error().message();
            if (!next || next->empty()) return all;
            all += *next;
        }
    }
};

TEST_F(ReadFile, PartsCostAboutAsMuchAsTheWhole)
{
    const auto text = lines(9 << 20);
    const auto noise = random_bytes(9 << 20);
    const auto small = lines(3 << 20);
    write("text", text);
    write("noise", noise);
    write("small", small);
    const auto manifest = store_.read_manifest(take()).value();

    for (const auto& [path, content] :
         {std::pair("text", text), std::pair("noise", noise), std::pair("small", small)}) {
        const WorkCount work;
        EXPECT_TRUE(read_in_parts(manifest, path) == content);
        // Each byte is expanded and hashed once.
        EXPECT_LE(work.steps(), 2 * content.size()) << path;
    }
}

TEST_F(ReadFile, AHoleCostsNothing)
{
    const auto file = os::open_file(project_ / "sparse", O_CREAT | O_WRONLY, 0644);
    ASSERT_EQ(::ftruncate(file->get(), 32 << 20), 0);
    const auto manifest = store_.read_manifest(take()).value();

    const WorkCount work;
    const auto all = read_in_parts(manifest, "sparse");

    EXPECT_EQ(work.steps(), 0U);
    EXPECT_TRUE(all == std::string(32 << 20, '\0'));
}

TEST_F(ReadFile, ManyReadersInTurnHashNothingTwice)
{
    constexpr std::size_t size = std::size_t{1} << 20;
    constexpr std::size_t files = 20;  // more than are kept expanded
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < files; ++i) {
        texts.push_back(std::to_string(i) + lines(size));
        write("f" + std::to_string(i), texts.back());
    }
    const auto manifest = store_.read_manifest(take()).value();
    constexpr std::size_t third = size / 3;

    const WorkCount work;
    for (std::size_t turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < files; ++i) {
            const auto got =
                read_file(store_, manifest, "f" + std::to_string(i), turn * third, third);
            EXPECT_EQ(got.value(), texts[i].substr(turn * third, third));
        }
    }

    // Expanded three times at most, hashed once.
    EXPECT_LE(work.steps(), (3 + 1) * files * (size + 16));
}

TEST_F(ReadFile, DamageBetweenTwoPartsIsSeen)
{
    for (const auto& content : {lines(2 << 20), random_bytes(2 << 20)}) {
        write("a", content);
        const auto manifest = store_.read_manifest(take()).value();
        ASSERT_TRUE(read_file(store_, manifest, "a", 0, part));
        const auto object = object_path(manifest.find("a")->digest);
        auto bytes = os::read_file(object).value();
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        overwrite(object, bytes);

        const auto next = read_file(store_, manifest, "a", part, part);

        ASSERT_FALSE(next);
        EXPECT_EQ(next.error().kind(), ErrorKind::damaged);
    }
}

}  // namespace
}  // namespace ponk::snapshot
