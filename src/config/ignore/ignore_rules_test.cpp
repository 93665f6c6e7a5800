// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/work_count.hpp"
#include "config/ignore/ignore_rules.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <random>
#include <set>

namespace ponk::config {
namespace {

struct Case {
    const char* rules;
    const char* path;
    bool ignored;
};

TEST(IgnoreRules, FollowTheManual)
{
    // A path that ends in a slash is a folder.
    const Case cases[] = {
        {"*.log", "a.log", true},
        {"*.log", "deep/er/a.log", true},
        {"/a.log", "a.log", true},
        {"/a.log", "b/a.log", false},
        {"build/", "build/", true},
        {"build/", "build", false},
        {"build/", "x/build/y.c", true},
        {"doc/*.txt", "doc/a.txt", true},
        {"doc/*.txt", "doc/sub/a.txt", false},
        {"**/foo", "a/b/foo", true},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"abc/**", "abc/x", true},
        {"abc/**", "abc/", false},
        {"*.log\n!keep.log", "keep.log", false},
        {"*.log\n!keep.log", "other.log", true},
        {"data\n!data/keep", "data/keep", true},
        {"data/*\n!data/keep", "data/keep", false},
        {"\\#name", "#name", true},
        {"#name", "#name", false},
        {"\\!name", "!name", true},
        {"name   ", "name", true},
        {"name\\ ", "name ", true},
        {"name\t", "name", false},
        {"[ab]x", "bx", true},
        {"[!ab]x", "bx", false},
        {"[a-c]x", "cx", true},
        {"[[:digit:]]x", "7x", true},
        {"a?c", "abc", true},
        {"a?c", "a/c", false},
        {"one\r\ntwo\r\n", "one", true},
        {"one\r\ntwo", "two", true},
        {"\xEF\xBB\xBFone", "one", true},
        {"Outputs", "outputs", false},
        {"foo**/bar", "foo/x/bar", true},
        {"a[", "a[", false},
        {"a\\", "a\\", false},
        {"", "a", false},
        {"/", "a/", false},
    };
    for (const auto& [text, path, ignored] : cases) {
        std::string name = path;
        const bool folder = name.ends_with('/');
        if (folder) name.pop_back();
        EXPECT_EQ(IgnoreRules::parse(text).ignores(name, folder), ignored)
            << "rules: " << text << "\npath: " << path;
    }
}

TEST(IgnoreRules, TakeNoLongerForHostilePatterns)
{
    std::string pattern;
    for (int i = 0; i < 200; ++i)
        pattern += "**/*a*";
    std::string path;
    for (int i = 0; i < 1000; ++i)
        path += "aa/";
    // Backtracking would not come back within a lifetime.
    EXPECT_FALSE(IgnoreRules::parse(pattern + "/b").ignores_entry(path + "c", false));
}

TEST(IgnoreRules, ManyPatternsOfStarsCostAFewStepsForAName)
{
    std::string text;
    for (int i = 0; i < 2000; ++i)
        text += fmt::format("*a{}*a*a*a*b\n*a{}*a*a*a*a\n", i, i);
    const auto rules = IgnoreRules::parse(text);
    const std::string name(104, 'a');

    const WorkCount work;
    EXPECT_FALSE(rules.ignores_entry(name, false));

    EXPECT_EQ(work.steps(), 0U) << "it has none of their digits";
    const WorkCount with_digits;
    EXPECT_FALSE(rules.ignores_entry(name + "0123456789a", false));
    // Half of them end otherwise; of the others a star is followed through the name once.
    EXPECT_LE(with_digits.steps(), 4000 * 2 * (name.size() + 10));
    EXPECT_TRUE(rules.ignores_entry("xa17yayayaya", false));
}

TEST(IgnoreRules, AreRefusedWhenThereAreTooManyAndSaySo)
{
    const os::TestFolder folder;
    std::string text;
    for (int i = 0; i < 10'001; ++i)
        text += fmt::format("name{}\n", i);
    ASSERT_TRUE(os::replace_file(folder.path() / ".gitignore", text));

    const auto rules = IgnoreRules::read(folder.path() / ".gitignore");

    ASSERT_FALSE(rules);
    EXPECT_THAT(rules.error().message(), testing::HasSubstr(".gitignore' has 10001 rules"));
    EXPECT_FALSE(rules.error().hint().empty());
}

TEST(IgnoreRules, AFolderInThePlaceOfTheFileIsRefusedWithAHint)
{
    const os::TestFolder folder;
    std::filesystem::create_directory(folder.path() / ".gitignore");

    const auto rules = IgnoreRules::read(folder.path() / ".gitignore");

    ASSERT_FALSE(rules);
    EXPECT_THAT(rules.error().hint(), testing::HasSubstr("a file of ignore rules"));
}

std::string random_text(std::mt19937& random, const char* const* parts, std::size_t count, int most)
{
    std::string text;
    const int length = std::uniform_int_distribution<int>(1, most)(random);
    for (int i = 0; i < length; ++i) {
        text += parts[std::uniform_int_distribution<std::size_t>(0, count - 1)(random)];
    }
    return text;
}

// A repository that answers which of some paths it ignores. Paths that are not there count as
// files.
class GitAnswers {
public:
    GitAnswers() : folder_(*os::make_temporary_directory("/tmp", "ponk-ignore-")) {}
    ~GitAnswers() { (void)os::remove_tree(folder_); }

    bool init() { return run({"init", "-q"}).has_value(); }
    void make_folder(const std::string& path)
    {
        std::filesystem::create_directories(folder_ / path);
    }
    std::set<std::string> ignored(const std::string& rules, const std::vector<std::string>& paths)
    {
        std::string input;
        for (const auto& path : paths)
            input += path + '\0';
        EXPECT_TRUE(os::replace_file(folder_ / ".gitignore", rules, 0600, os::Durable::no));
        const auto answer = run({"check-ignore", "--no-index", "-z", "--stdin"}, input);
        EXPECT_TRUE(answer && answer->err.empty());
        std::set<std::string> result;
        for (auto& path : split(answer ? answer->out : "", '\0'))
            result.insert(std::move(path));
        return result;
    }

private:
    Result<os::Output> run(std::vector<std::string> words, std::string input = {})
    {
        os::Command command;
        command.argv = {"git", "-C", folder_.string()};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.input = std::move(input);
        return os::run(command, after(std::chrono::seconds(60)), {});
    }

    os::Path folder_;
};

std::string random_rules(std::mt19937& random)
{
    static const char* const parts[] = {
        "a", "b",    "ab",   "c",     "/",   "/",    "*",      "**",     "**/",        "/**",
        "?", "[ab]", "[!a]", "[a-b]", "\\a", "\\*",  "\\",     "[",      "[a",         "!",
        "#", " ",    "\\ ",  ".",     "***", "[]a]", "[^b-c]", "[a\\]]", "[[:alpha:]]"};
    std::uniform_int_distribution<int> dice(0, 5);
    std::string rules;
    for (int line = dice(random); line >= 0; --line) {
        if (dice(random) == 0) rules += '!';
        rules += random_text(random, parts, std::size(parts), 5);
        if (dice(random) == 0) rules += '/';
        rules += dice(random) == 0 ? "\r\n" : "\n";
    }
    return rules;
}

std::string random_path(std::mt19937& random)
{
    static const char* const parts[] = {"a", "b", "c", "ab", "a*", "]", "A", " ", "."};
    std::string path;
    for (int level = std::uniform_int_distribution<int>(1, 4)(random); level > 0; --level) {
        std::string part = random_text(random, parts, std::size(parts), 2);
        if (part == "." || part == "..") part = "d";
        path += (path.empty() ? "" : "/") + part;
    }
    return path;
}

TEST(IgnoreRules, AgreeWithGit)
{
    GitAnswers files;
    GitAnswers folders;
    if (!files.init() || !folders.init()) GTEST_SKIP() << "there is no git here";
    std::mt19937 random(20170925);
    std::vector<std::string> paths;
    for (int i = 0; i < 150; ++i) {
        paths.push_back(random_path(random));
        folders.make_folder(paths.back());
    }
    std::size_t ignored = 0;
    for (int round = 0; round < 12; ++round) {
        const auto rules = random_rules(random);
        const auto as_files = files.ignored(rules, paths);
        const auto as_folders = folders.ignored(rules, paths);
        const auto ours = IgnoreRules::parse(rules);
        for (const auto& path : paths) {
            EXPECT_EQ(ours.ignores(path, false), as_files.contains(path)) << rules << path;
            EXPECT_EQ(ours.ignores(path, true), as_folders.contains(path)) << rules << path << '/';
        }
        ignored += as_files.size() + as_folders.size();
    }
    EXPECT_GT(ignored, 100U);
}

}  // namespace
}  // namespace ponk::config
