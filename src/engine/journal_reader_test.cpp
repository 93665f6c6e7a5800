// SPDX-License-Identifier: Apache-2.0
#include "engine/journal_reader.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

class JournalReaders : public testing::Test {
protected:
    os::TestFolder place_;
    std::unique_ptr<store::History> history_ =
        std::move(*store::History::open(place_.path() / "history"));
    snapshot::ObjectStore objects_ =
        std::move(*snapshot::ObjectStore::open(place_.path() / "store"));
    secrets::Secrets secrets_{place_.path(), secrets::Secrets::Keyring::never};
    std::map<std::string, std::unique_ptr<target::Executor>> executors_;
    Notifier notifier_;
    Context context_{place_.path(), *history_, objects_, secrets_, executors_, notifier_};
};

TEST_F(JournalReaders, AJournalIsDueWhenItHasGrownAndNotBefore)
{
    JournalReader reader(context_, RunId::make());
    EXPECT_FALSE(reader.is_due());
    EXPECT_GT(reader.due(), after(std::chrono::hours(1)));

    reader.note_length(10);
    EXPECT_TRUE(reader.is_due());

    reader.read_some({});  // there is no folder: nothing to wait for
    EXPECT_FALSE(reader.is_due());
    reader.note_length(10);
    EXPECT_GT(reader.due(), after(std::chrono::hours(1)));
}

TEST_F(JournalReaders, OneThatCannotBeReadNowKeepsNobodySpinning)
{
    JournalReader reader(context_, RunId::make());
    reader.note_length(10);

    reader.put_off();
    reader.note_length(20);

    EXPECT_FALSE(reader.is_due());
    EXPECT_GT(reader.due(), after(std::chrono::seconds(10)));
    EXPECT_LT(reader.due(), after(std::chrono::hours(1)));
}

}  // namespace
}  // namespace ponk::engine
