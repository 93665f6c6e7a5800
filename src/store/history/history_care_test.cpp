// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"
#include "store/history/history_test_support.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace ponk::store {
namespace {

TEST_F(HistoryTest, ImportedRunsKeepTheirNumbersWhereTheyCan)
{
    auto known = add();  // number 1
    auto lost = make_run();
    lost.number = 1;  // taken
    lost.state = RunState::completed;
    auto older = make_run();
    older.number = 7;
    older.state = RunState::lost;
    if (older.id < lost.id) std::swap(older.id, lost.id);  // born in the same millisecond

    const auto added = history_->import_runs({known, lost, older}).value();

    EXPECT_EQ(added, 2U);
    EXPECT_EQ(history_->get_run(known.id).value().state, RunState::not_started);
    EXPECT_EQ(history_->get_run(lost.id).value().number, 2);
    EXPECT_EQ(history_->get_run(lost.id).value().state, RunState::completed);
    EXPECT_EQ(history_->get_run(older.id).value().number, 7);
    EXPECT_EQ(add().number, 8);
}

TEST_F(HistoryTest, ABackupRestoresWhatADamagedFileLost)
{
    const auto before = add();
    ASSERT_TRUE(history_->make_backup());
    const auto after = add();
    history_.reset();
    ASSERT_TRUE(os::replace_file(folder_ / "history.db", std::string(50'000, 'z')));

    history_ = History::open(folder_).value();

    EXPECT_EQ(history_->opening().outcome, Opening::Outcome::restored);
    EXPECT_TRUE(history_->opening().must_import());
    EXPECT_TRUE(history_->get_run(before.id));
    EXPECT_FALSE(history_->get_run(after.id));
    EXPECT_EQ(history_->import_runs({before, after}).value(), 1U);
    EXPECT_EQ(history_->get_run(after.id).value().number, 2);
}

TEST_F(HistoryTest, ChecksAndCopiesItself)
{
    add();
    EXPECT_EQ(history_->last_integrity_check().value(), 0);

    EXPECT_TRUE(history_->check_integrity());
    EXPECT_GT(history_->last_integrity_check().value(), 0);
    EXPECT_GT(history_->sizes().database + history_->sizes().log, 0U);
    ASSERT_TRUE(history_->backup_to(folder_ / "copy.db"));
    EXPECT_EQ(history_->backup_to(folder_ / "copy.db").error().kind(), ErrorKind::conflict);
    EXPECT_FALSE(history_->failure());
}

TEST_F(HistoryTest, ASecondProcessCannotOpenIt)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const auto second = History::open(folder_);
        ::_exit(!second && second.error().kind() == ErrorKind::conflict ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ponk::store
