// SPDX-License-Identifier: Apache-2.0
// History on a file system that is really full. Needs the right to mount.
#include "os/file.hpp"
#include "os/test_folder.hpp"
#include "secrets/secrets.hpp"
#include "small_disk.hpp"
#include "store/history/history.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

namespace ponk {
namespace {

using model::RunState;

class FullDiskTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!disk_.problem().empty()) GTEST_SKIP() << disk_.problem();
    }
    // Leaves not one byte.
    void fill() const
    {
        const auto file = os::open_file(place_.path() / "ballast", O_WRONLY | O_CREAT).value();
        for (std::size_t size = 65536; size > 0; size /= 2) {
            while (os::write_all(file.get(), std::string(size, 'b'))) {
            }
        }
    }
    void make_room() const { ::unlink((place_.path() / "ballast").c_str()); }

    static model::Run make_run()
    {
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        run.configuration = std::string(20'000, 'c');
        return run;
    }

    os::TestFolder place_;
    SmallDisk disk_{place_.path(), "3m"};
    os::Path home_ = place_.path() / "home";
};

TEST_F(FullDiskTest, HistoryRefusesClearlyAndKeepsWhatItAcknowledged)
{
    std::vector<RunId> acknowledged;
    {
        auto history = store::History::open(home_).value();
        acknowledged.push_back(history->create_run(make_run()).value().run.id);
        fill();
        std::optional<Error> refusal;
        for (int i = 0; i < 200 && !refusal; ++i) {
            const auto created = history->create_run(make_run());
            if (created) {
                acknowledged.push_back(created->run.id);
            } else {
                refusal = created.error();
            }
        }
        ASSERT_TRUE(refusal);
        EXPECT_EQ(refusal->kind(), ErrorKind::unavailable);
        EXPECT_THAT(refusal->message(), testing::HasSubstr("the disk is full"));
        EXPECT_FALSE(refusal->hint().empty());
        EXPECT_TRUE(history->list_runs({}));

        make_room();
        const auto later = history->create_run(make_run());
        ASSERT_TRUE(later) << later.error().message();
        acknowledged.push_back(later->run.id);
        EXPECT_TRUE(history->update_state(later->run.id, RunState::not_started, RunState::failed));
    }
    auto history = store::History::open(home_).value();
    EXPECT_TRUE(history->check_integrity());
    for (const auto& id : acknowledged)
        EXPECT_TRUE(history->get_run(id)) << id.text();
}

TEST_F(FullDiskTest, OpeningOnAFullDiskSaysSoAndHarmsNothing)
{
    const auto run = make_run();
    {
        auto history = store::History::open(home_).value();
        ASSERT_TRUE(history->create_run(run));
    }
    fill();

    const auto refused = store::History::open(home_);

    EXPECT_TRUE(refused || refused.error().kind() == ErrorKind::unavailable)
        << refused.error().message();
    make_room();
    auto history = store::History::open(home_).value();
    EXPECT_TRUE(history->get_run(run.id));
    EXPECT_EQ(history->opening().outcome, store::Opening::Outcome::opened);
}

TEST_F(FullDiskTest, ASecretThatCannotBeStoredLeavesTheOldOne)
{
    secrets::Secrets secrets(home_, secrets::Secrets::Keyring::never);
    ASSERT_TRUE(secrets.set("TOKEN", "old value"));
    fill();

    const auto refused = secrets.set("TOKEN", "new value");

    ASSERT_FALSE(refused);
    EXPECT_EQ(secrets.get("TOKEN").value(), "old value");
    make_room();
    EXPECT_TRUE(secrets.set("TOKEN", "new value"));
}

TEST_F(FullDiskTest, AnArtifactThatHasNoRoomLeavesNothingAndTheOldOneStays)
{
    const store::ArtifactFolder folder(home_);
    const auto path = store::ArtifactPath::parse("1/run/artifacts/model").value();
    const auto send = [&](const store::ArtifactPath& to, std::size_t size) -> Result<> {
        auto upload = TRY(folder.receive(std::nullopt));
        for (std::size_t sent = 0; sent < size; sent += 65536)
            TRY(upload.write(std::string(65536, 'x')));
        return upload.publish(to);
    };
    ASSERT_TRUE(send(path, 65536));
    const auto room = os::free_space(home_).value();

    const auto refused = send(path, std::size_t{4} << 20U);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(refused.error().hint(), testing::HasSubstr("disk is full"));
    EXPECT_EQ(os::free_space(home_).value(), room);
    EXPECT_EQ(folder.find(path).value().file.size, 65536U);
    EXPECT_FALSE(folder.receive(std::uint64_t{4} << 20U));

    fill();
    const auto elsewhere = store::ArtifactPath::parse("2/run/artifacts/model").value();
    EXPECT_FALSE(send(elsewhere, 65536));
    EXPECT_EQ(folder.find(elsewhere.parent()).value().kind,
              store::ArtifactFolder::Found::Kind::absent);
    make_room();
    EXPECT_TRUE(send(elsewhere, 65536));
}

TEST_F(FullDiskTest, AReadOnlyFileSystemIsNamed)
{
    store::History::open(home_).value().reset();
    ASSERT_EQ(::mount(nullptr, place_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);

    const auto refused = store::History::open(home_);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("ead-only file system"));
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("history"));
}

}  // namespace
}  // namespace ponk
