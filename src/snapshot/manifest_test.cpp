// SPDX-License-Identifier: Apache-2.0
#include "snapshot/golden_test_support.hpp"
#include "snapshot/manifest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace ponk::snapshot {
namespace {

ManifestEntry file(std::string path, std::string_view content, EntryKind kind = EntryKind::file)
{
    return {kind, std::move(path), content.size(), sha256(content)};
}

ManifestEntry folder(std::string path)
{
    return {EntryKind::folder, std::move(path)};
}

ManifestEntry link(std::string path, std::string target)
{
    ManifestEntry entry{EntryKind::link, std::move(path)};
    entry.target = std::move(target);
    return entry;
}

std::vector<ManifestEntry> example()
{
    ManifestEntry large{EntryKind::file, "data/large.bin", 9 << 20};
    large.chunks = {{4 << 20, sha256("1")}, {4 << 20, sha256("2")}, {1 << 20, sha256("3")}};
    return {file("train.py", "print()"),
            file("run.sh", "#!/bin/sh", EntryKind::executable),
            folder("data"),
            file("data-old", "x"),
            file("data.csv", "y"),
            large,
            folder("data/empty"),
            link("data/latest", "large.bin"),
            file("new\nline \\ \xff", "")};
}

TEST(Manifest, TextIsTheGoldenOne)
{
    const auto manifest = Manifest::from_entries(example());

    ASSERT_TRUE(manifest) << manifest.error().message();
    expect_golden("manifest.txt", manifest->text());
}

TEST(Manifest, TextReadsBackAsTheSameTree)
{
    const auto manifest = Manifest::from_entries(example());

    const auto again = Manifest::parse(manifest->text());

    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->entries(), manifest->entries());
    EXPECT_EQ(again->find("data/large.bin")->chunks.size(), 3U);
    EXPECT_EQ(again->find("data")->kind, EntryKind::folder);
    EXPECT_EQ(again->find("data/none"), nullptr);
    EXPECT_EQ(again->file_count(), 6U);
}

TEST(Manifest, OrderOfTheEntriesGivenDoesNotMatter)
{
    auto entries = example();
    const auto text = Manifest::from_entries(entries)->text();
    std::reverse(entries.begin(), entries.end());

    EXPECT_EQ(Manifest::from_entries(entries)->text(), text);
}

TEST(Manifest, RefusesWhatCouldLeadOutOfTheTree)
{
    const auto digest = sha256("").text();
    for (const auto& body :
         std::vector<std::string>{"f 0 " + digest + " ../x\n",
                                  "f 0 " + digest + " /etc/passwd\n",
                                  "f 0 " + digest + " a/b\n",               // no folder "a"
                                  "l a\n> /tmp\nf 0 " + digest + " a/b\n",  // through a link
                                  "f 0 " + digest + " a\nd a/\n",           // file and folder
                                  "d a/\nf 0 " + digest + " a/./b\n",
                                  "d a/\nf 0 " + digest + " a//b\n",
                                  "f 0 " + digest + " a\\x00b\n",
                                  "d ./\n",
                                  "d /\n"}) {
        const auto parsed = Manifest::parse("ponk manifest 1\n" + body);
        ASSERT_FALSE(parsed) << body;
        EXPECT_EQ(parsed.error().kind(), ErrorKind::damaged);
    }
}

TEST(Manifest, RefusesEveryTextThatIsNotCanonical)
{
    const auto digest = sha256("").text();
    const auto upper = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(), ::toupper);
        return text;
    };
    for (const auto& text :
         std::vector<std::string>{std::string(),
                                  std::string("ponk manifest 2\n"),
                                  std::string("ponk manifest 1"),
                                  "ponk manifest 1\nf 0 " + digest + " b\nf 0 " + digest + " a\n",
                                  "ponk manifest 1\nf 0 " + digest + " a\nf 0 " + digest + " a\n",
                                  "ponk manifest 1\nf 00 " + digest + " a\n",
                                  "ponk manifest 1\nf 0 " + upper(digest) + " a\n",
                                  "ponk manifest 1\nf 0 " + digest + " \\x61\n",
                                  "ponk manifest 1\nf 0 " + digest + " a\\q\n",
                                  "ponk manifest 1\nf 9 *1 a\n* 8 " + digest + "\n",
                                  "ponk manifest 1\nf 9 *999999999 a\n",
                                  std::string("ponk manifest 1\nl a\n")}) {
        EXPECT_FALSE(Manifest::parse(text)) << text;
    }
}

TEST(Manifest, NamesTheLineThatIsWrong)
{
    const auto parsed = Manifest::parse("ponk manifest 1\nd a/\nq b\n");

    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message(), "manifest line 3: has an unknown type");
}

TEST(Manifest, AnyTreeOfAnyBytesSurvivesTheText)
{
    EXPECT_TRUE(rc::check([] {
        const auto names = *rc::gen::resize(25, rc::gen::arbitrary<std::vector<std::string>>());
        std::set<std::string> unique;
        std::vector<ManifestEntry> entries;
        for (auto name : names) {
            std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
            if (name.empty() || name == "." || name == ".." || !unique.insert(name).second)
                continue;
            if (unique.size() % 3 == 0) {
                entries.push_back(folder(name));
                entries.push_back(file(name + "/" + name, name));
            } else {
                entries.push_back(unique.size() % 3 == 1 ? file(name, name) : link(name, name));
            }
        }
        const auto manifest = Manifest::from_entries(entries);
        RC_ASSERT(manifest.has_value());
        const auto again = Manifest::parse(manifest->text());
        RC_ASSERT(again.has_value());
        RC_ASSERT(again->entries() == manifest->entries());
        RC_ASSERT(again->text() == manifest->text());
    }));
}

}  // namespace
}  // namespace ponk::snapshot
