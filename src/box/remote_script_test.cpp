// SPDX-License-Identifier: Apache-2.0
// Scripts that reach for what is not theirs.
#include "box/remote_test_support.hpp"

namespace ponk::target {
namespace {

TEST_P(RemoteExecutor, ALinkInThePlaceOfTheJournalsBringsNothingHome)
{
    const auto theirs = root_ / "machine/user/ssh";
    ASSERT_TRUE(os::make_directories(theirs));
    ASSERT_TRUE(os::replace_file(theirs / "authorized_keys", "ssh-ed25519 mine"));
    const auto spec = job("steal");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    EXPECT_EQ(log_of(spec), "done\n");
    EXPECT_TRUE(os::list_directory(spec.directory / "journal")->empty());
}

TEST_P(RemoteExecutor, ManyOddNamesAmongTheJournalsKeepNobodyFromTheEnd)
{
    const auto spec = job("clutter");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 6);
}

TEST_P(RemoteExecutor, AScriptCannotNameOtherOutputsThanItsOwn)
{
    auto spec = job("forge");
    spec.arguments = {target_.spec.snapshot.text()};
    start(spec);
    ASSERT_EQ(follow(spec).exit->status(), 0);

    const auto collected = executor().collect(spec.id.text(), spec.directory, {}, {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    EXPECT_NE(*collected->outputs, target_.spec.snapshot);
}

}  // namespace
}  // namespace ponk::target
