// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/git/git_index.hpp"
#include "config/git/git_info.hpp"
#include "os/process.hpp"
#include "snapshot/snapshot_test_support.hpp"

namespace ponk::snapshot {
namespace {

// Against the real git.
class Git : public SnapshotTest {
protected:
    void SetUp() override
    {
        if (!os::find_program("git", std::getenv("PATH"))) GTEST_SKIP() << "git is not installed";
        git({"init", "-q", "-b", "main"});
        write("tracked", "1");
        write("sub/deep", "2");
        git({"add", "."});
        git({"commit", "-qm", "first"});
    }

    std::string git(std::vector<std::string> words)
    {
        os::Command command;
        command.argv = {
            "git", "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.directory = project_;
        const auto output = os::run(command, after(std::chrono::seconds(20)), {});
        EXPECT_TRUE(output && output->exit.status() == 0)
            << words[0] << (output ? output->err : "");
        return output ? std::string(trim(output->out)) : "";
    }

    config::GitInfo info(const os::Path& below = {})
    {
        auto with_git = options();
        with_git.directory = below.empty() ? project_ : project_ / below;
        with_git.git = SnapshotOptions::Git::record;
        with_git.git_patience = std::chrono::seconds(10);
        with_git.ignore.fingerprint = ".git";
        with_git.ignore.ignored = [](std::string_view path, bool) { return path == ".git"; };
        const auto report = take_snapshot(store_, with_git);
        EXPECT_TRUE(report && report->git);
        return report && report->git ? *report->git : config::GitInfo{};
    }
};

TEST_F(Git, WithoutACommitEverythingIsUncommitted)
{
    ASSERT_TRUE(os::remove_tree(project_ / ".git"));
    git({"init", "-q", "-b", "main"});

    EXPECT_EQ(info().commit, "");
    EXPECT_EQ(info().dirty, true);

    git({"add", "."});
    EXPECT_EQ(info().dirty, true);
}

TEST_F(Git, CommitBranchAndRemoteAreRecordedWithoutThePassword)
{
    git({"remote", "add", "origin", "https://me:token@example.org/x.git"});

    const auto found = info();

    EXPECT_EQ(found.commit, git({"rev-parse", "HEAD"}));
    EXPECT_EQ(found.branch, "main");
    EXPECT_EQ(found.remote, "https://example.org/x.git");
    EXPECT_EQ(found.dirty, false);
}

// All that a clone of somebody else's archive may have in its .git: each names a program.
TEST_F(Git, NoProgramThatTheRepositoryNamesIsStarted)
{
    const auto trace = folder_ / "started";
    const auto evil = folder_ / "evil.sh";
    ASSERT_TRUE(os::replace_file(evil,
                                 fmt::format("#!/bin/sh\necho $0 $* >>'{}'\n", trace.string()),
                                 0755,
                                 os::Durable::no));
    for (const char* setting : {"core.sshCommand",
                                "core.fsmonitor",
                                "core.pager",
                                "core.askPass",
                                "core.gitProxy",
                                "core.alternateRefsCommand",
                                "diff.external",
                                "diff.own.command",
                                "diff.own.textconv",
                                "filter.own.clean",
                                "filter.own.smudge",
                                "filter.own.process",
                                "credential.helper"})
        git({"config", setting, evil.string()});
    git({"config", "alias.diff-index", "!" + evil.string()});
    git({"config", "pager.diff-index", evil.string()});
    git({"config", "filter.own.required", "true"});
    git({"config", "core.hooksPath", project_.string() + "/hooks"});
    for (const char* hook : {"hooks/post-index-change", "hooks/fsmonitor-watchman"}) {
        write(hook, "#!/bin/sh\n" + evil.string() + " hook\n");
        std::filesystem::permissions(project_ / hook, std::filesystem::perms::owner_all);
    }
    write(".gitattributes", "* filter=own diff=own\n");
    write("tracked", "other");
    // A partial clone whose remote is reached by a program of its own, and an object that it lacks.
    git({"config", "core.repositoryFormatVersion", "1"});
    git({"config", "extensions.partialClone", "origin"});
    git({"config", "remote.origin.promisor", "true"});
    git({"config", "protocol.allow", "always"});
    git({"config", "protocol.ssh.allow", "always"});
    git({"config", "protocol.ext.allow", "always"});
    const std::string head(
        trim(os::read_file(project_ / ".git/refs/heads/main", 100).value_or("")));
    const auto tree = git({"-c", "core.fsmonitor=false", "rev-parse", "HEAD^{tree}"});
    std::filesystem::remove(project_ / ".git/objects" / tree.substr(0, 2) / tree.substr(2));

    for (const std::string& url :
         {std::string("ssh://host/x"), "ext::" + evil.string() + " %S", std::string("own::x")}) {
        git({"-c", "core.fsmonitor=false", "config", "remote.origin.url", url});
        std::filesystem::remove(trace);
        EXPECT_EQ(info().commit, head);
        EXPECT_EQ(os::read_file(trace, 4096).value_or(""), "") << url;
    }
}

TEST_F(Git, PackedRefsAndADetachedHeadAreRead)
{
    git({"pack-refs", "--all"});
    EXPECT_EQ(info().commit, git({"rev-parse", "HEAD"}));
    git({"checkout", "-q", "--detach"});
    EXPECT_EQ(info().commit, git({"rev-parse", "HEAD"}));
    EXPECT_EQ(info().branch, "");
}

TEST_F(Git, EveryWayOfBeingDirtyIsSeen)
{
    EXPECT_EQ(info().dirty, false);
    write("untracked", "x");
    EXPECT_EQ(info().dirty, false);
    write("tracked", "9");
    EXPECT_EQ(info().dirty, true);
    git({"add", "tracked"});
    EXPECT_EQ(info().dirty, true);  // staged
    git({"commit", "-qm", "second"});
    EXPECT_EQ(info().dirty, false);
    std::filesystem::remove(project_ / "sub/deep");
    EXPECT_EQ(info().dirty, true);
    git({"checkout", "-q", "."});
    EXPECT_EQ(info().dirty, false);
    ::chmod((project_ / "tracked").c_str(), 0755);
    EXPECT_EQ(info().dirty, true);
}

TEST_F(Git, TouchingAFileDoesNotMakeItDirty)
{
    age();

    EXPECT_EQ(info().dirty, false);
}

TEST_F(Git, TheAnswerIsRememberedForAnUnchangedTree)
{
    age();
    const timespec old[2] = {{1'600'000'000, 5}, {1'600'000'000, 5}};
    git({"status"});
    ::utimensat(AT_FDCWD, (project_ / ".git/index").c_str(), old, 0);
    EXPECT_EQ(info().dirty, false);
    EXPECT_EQ(info().dirty, false);
    write("tracked", "2");
    EXPECT_EQ(info().dirty, true);
    EXPECT_EQ(info().dirty, true);
}

TEST_F(Git, AFolderBelowTheTopCountsByItself)
{
    write("tracked", "9");

    EXPECT_EQ(info("sub").dirty, false);
    write("sub/deep", "9");
    EXPECT_EQ(info("sub").dirty, true);
}

TEST_F(Git, LinkedWorkTreesAreUnderstood)
{
    git({"worktree", "add", "-q", "-b", "side", (folder_ / "side").native()});
    project_ = folder_ / "side";

    EXPECT_EQ(info().branch, "side");
    EXPECT_EQ(info().dirty, false);
}

TEST_F(Git, IndexVersionsTwoAndFourReadAlike)
{
    write("sub/deep2", "3");
    git({"add", "."});
    git({"update-index", "--index-version", "2"});
    const auto two = config::parse_git_index(os::read_file(project_ / ".git/index").value(), 20);
    git({"update-index", "--index-version", "4"});
    const auto four = config::parse_git_index(os::read_file(project_ / ".git/index").value(), 20);

    ASSERT_TRUE(two && four);
    ASSERT_EQ(two->entries.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(two->entries[i].path, four->entries[i].path);
        EXPECT_EQ(two->entries[i].object_id, four->entries[i].object_id);
    }
    EXPECT_EQ(two->entries[1].path, "sub/deep2");
}

TEST_F(Git, RepositoriesWithLongObjectIdsAreUnderstood)
{
    ASSERT_TRUE(os::remove_tree(project_ / ".git"));
    git({"init", "-q", "-b", "main", "--object-format=sha256"});
    git({"add", "."});
    git({"commit", "-qm", "first"});

    EXPECT_EQ(info().commit.size(), 64U);
    EXPECT_EQ(info().dirty, false);
    write("sub/deep", "9");
    EXPECT_EQ(info().dirty, true);
}

TEST_F(Git, ACutIndexIsRefused)
{
    const auto bytes = os::read_file(project_ / ".git/index").value();
    for (std::size_t size = 0; size + 60 < bytes.size(); size += 3)
        EXPECT_FALSE(config::parse_git_index(std::string_view(bytes).substr(0, size), 20));
}

TEST_F(Git, OutsideARepositoryThereIsNothing)
{
    auto with_git = options();
    with_git.directory = folder_ / "plain";
    with_git.git = SnapshotOptions::Git::record;
    must(os::make_directories(with_git.directory));

    const auto report = take_snapshot(store_, with_git);

    ASSERT_TRUE(report);
    EXPECT_FALSE(report->git);
}

}  // namespace
}  // namespace ponk::snapshot
