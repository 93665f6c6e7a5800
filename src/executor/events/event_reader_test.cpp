// SPDX-License-Identifier: Apache-2.0
#include "executor/events/event_reader.hpp"
#include "executor/events/event_test_support.hpp"
#include "executor/run_directory/run_files.hpp"
#include "model/metric_journal.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace ponk::executor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* name = "events.out.tfevents.1.host";

class EventFilesOfARun : public testing::Test {
protected:
    EventFilesOfARun() { EXPECT_TRUE(os::make_directories(run_.task() / "journal")); }

    void append(const std::string& path, const std::string& bytes)
    {
        EXPECT_TRUE(os::make_directories((run_.work() / path).parent_path()));
        std::ofstream(run_.work() / path, std::ios::binary | std::ios::app) << bytes;
    }
    void read_all()
    {
        const auto read = EventReaders::read_all(run_, {});
        ASSERT_TRUE(read);
        EXPECT_TRUE(*read);
    }
    Path journal() const { return run_.task() / "journal" / "tensorboard.journal"; }
    model::JournalPiece piece() const
    {
        const auto bytes = os::read_file_if_any(journal());
        if (!bytes || !*bytes) return {};
        return model::read_journal(**bytes, 0);
    }
    std::vector<std::string> points() const
    {
        std::vector<std::string> out;
        for (const auto& point : piece().points)
            out.push_back(fmt::format("{} {} {}", point.key, point.step, point.value));
        return out;
    }

    os::TestFolder folder_;
    RunDirectory run_{folder_.path() / "run"};
};

TEST_F(EventFilesOfARun, WithoutAnyThereIsNoJournal)
{
    append("outputs/model.bin", "model");
    read_all();
    EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(EventFilesOfARun, NumbersBecomePointsOfTheRunAsTheFileGrows)
{
    EventReader reader(run_);
    const auto file = std::string("outputs/") + name;
    append(file, event_file_begin(1) + scalar_record("loss", 0.5, 0));
    EXPECT_EQ(reader.read_some(), EventReader::Progress::done);
    EXPECT_THAT(points(), ElementsAre("loss 0 0.5"));
    append(file, scalars_record({{"loss", 0.25F}, {"accuracy", 0.75F}}, 1));
    EXPECT_EQ(reader.read_some(), EventReader::Progress::done);
    EXPECT_EQ(reader.read_some(), EventReader::Progress::done);
    EXPECT_THAT(points(), ElementsAre("loss 0 0.5", "loss 1 0.25", "accuracy 1 0.75"));
    EXPECT_EQ(piece().points.at(0).time, 1500);
}

TEST_F(EventFilesOfARun, AnotherProcessGoesOnWhereTheFirstStood)
{
    const auto file = std::string("outputs/") + name;
    append(file, event_file_begin(1) + scalar_record("a", 1, 0));
    read_all();
    append(file, scalar_record("a", 2, 1));
    read_all();
    read_all();
    EXPECT_THAT(points(), ElementsAre("a 0 1", "a 1 2"));
}

TEST_F(EventFilesOfARun, KilledWhileItWritesNoNumberIsLostOrDoubled)
{
    const auto file = std::string("outputs/") + name;
    append(file, event_file_begin(1) + scalar_record("a", 1, 0));
    EventReader reader(run_);
    reader.read_some();
    append(file, scalar_record("a", 2, 1));
    reader.read_some();
    // The second record, cut at any byte.
    const auto whole = *os::read_file(journal());
    const auto first = whole.find('\x1e', whole.find('\x1e', 1) + 1);
    for (auto end = first; end < whole.size(); end += 7) {
        EXPECT_TRUE(os::replace_file(journal(), whole.substr(0, end)));
        read_all();
        EXPECT_THAT(points(), ElementsAre("a 0 1", "a 1 2")) << end;
    }
}

TEST_F(EventFilesOfARun, RecordThatIsBeingWrittenIsWaitedFor)
{
    EventReader reader(run_);
    const auto bytes = event_file_begin(1) + scalar_record("a", 1, 0);
    for (const char c : bytes) {
        EXPECT_THAT(points(), IsEmpty());
        append(std::string("outputs/") + name, std::string(1, c));
        reader.read_some();
    }
    EXPECT_THAT(points(), ElementsAre("a 0 1"));
}

TEST_F(EventFilesOfARun, DamagedRecordEndsItsFileWithOneWarningAndNoOther)
{
    auto damaged = scalar_record("a", 2, 1);
    damaged[20] = static_cast<char>(damaged[20] ^ 1);
    append(std::string("outputs/") + name,
           event_file_begin(1) + scalar_record("a", 1, 0) + damaged + scalar_record("a", 3, 2));
    append("outputs/other/events.out.tfevents.2", event_file_begin(2) + scalar_record("b", 1, 0));
    append("outputs/events.out.tfevents.garbage", std::string(100, 'x'));
    read_all();
    append(std::string("outputs/") + name, scalar_record("a", 4, 3));
    read_all();
    EXPECT_THAT(points(), ElementsAre("a 0 1", "other/b 0 1"));
    EXPECT_THAT(event_file_notices(run_),
                testing::UnorderedElementsAre(HasSubstr("outputs/events.out.tfevents.1.host"),
                                              HasSubstr("outputs/events.out.tfevents.garbage")));
}

TEST_F(EventFilesOfARun, FoldersBelowNameTheirMetrics)
{
    append("outputs/train/events.out.tfevents.1",
           event_file_begin(1) + scalar_record("loss", 1, 0));
    append("outputs/a/b/events.out.tfevents.2", event_file_begin(2) + scalar_record("x/y", 2, 0));
    read_all();
    EXPECT_THAT(points(), ElementsAre("a/b/x/y 0 2", "train/loss 0 1"));
}

TEST_F(EventFilesOfARun, GivenFolderIsReadBesidesOutputsAndNamesWhatLiesInBoth)
{
    Job job;
    job.context.directory = run_;
    job.spec.program.tensorboard = "outputs/tb/";
    ASSERT_TRUE(note_event_folders(job));
    append("outputs/tb/events.out.tfevents.1", event_file_begin(1) + scalar_record("in", 1, 0));
    append("outputs/else/events.out.tfevents.2", event_file_begin(2) + scalar_record("out", 2, 0));
    read_all();
    EXPECT_THAT(points(), ElementsAre("in 0 1", "else/out 0 2"));
}

TEST_F(EventFilesOfARun, UsualFoldersAreReadAndTold)
{
    Job job;
    job.context.directory = run_;
    append("runs/old/events.out.tfevents.1", event_file_begin(1) + scalar_record("old", 1, 0));
    ASSERT_TRUE(note_event_folders(job));
    append("outputs/events.out.tfevents.2", event_file_begin(2) + scalar_record("a", 1, 0));
    read_all();
    EXPECT_EQ(usual_folders_notice(run_), std::nullopt);
    append("runs/one/events.out.tfevents.3", event_file_begin(3) + scalar_record("b", 1, 0));
    append("lightning_logs/version_0/events.out.tfevents.4",
           event_file_begin(4) + scalar_record("c", 1, 0));
    append("elsewhere/events.out.tfevents.5", event_file_begin(5) + scalar_record("d", 1, 0));
    read_all();
    EXPECT_THAT(points(), ElementsAre("a 0 1", "one/b 0 1", "version_0/c 0 1"));
    EXPECT_EQ(usual_folders_notice(run_),
              "metrics come from TensorBoard files in 'lightning_logs', 'runs'");
}

TEST_F(EventFilesOfARun, UsualFolderThatWasNamedIsNoNews)
{
    EXPECT_EQ(usual_folder_of("logs/tb/events", "logs/"), "");
    EXPECT_EQ(usual_folder_of("logs/tb/events", "./logs/tb"), "");
    EXPECT_EQ(usual_folder_of("logs/tb/events", "."), "");
    EXPECT_EQ(usual_folder_of("logs/tb/events", "logs/t"), "logs");
    EXPECT_EQ(usual_folder_of("logs_of/tb/events", ""), "");
    EXPECT_EQ(usual_folder_of("outputs/runs/events", ""), "");
}

TEST_F(EventFilesOfARun, FilesThatCameWithTheProjectAreNotOfTheRun)
{
    append("logs/events.out.tfevents.1", event_file_begin(1) + scalar_record("old", 1, 0));
    append("outputs/events.out.tfevents.2", event_file_begin(2) + scalar_record("old", 1, 0));
    Job job;
    job.context.directory = run_;
    job.spec.program.tensorboard = "logs";
    ASSERT_TRUE(note_event_folders(job));
    append("logs/events.out.tfevents.3", event_file_begin(3) + scalar_record("new", 1, 0));
    // Written again under the old name.
    std::filesystem::remove(run_.outputs() / "events.out.tfevents.2");
    append("outputs/events.out.tfevents.2", event_file_begin(4) + scalar_record("again", 1, 0));
    read_all();
    EXPECT_THAT(points(), ElementsAre("new 0 1", "again 0 1"));
}

TEST_F(EventFilesOfARun, MovedFileIsNotReadTwiceAndOneInItsPlaceIs)
{
    append("outputs/events.out.tfevents.1", event_file_begin(1) + scalar_record("a", 1, 0));
    read_all();
    std::filesystem::create_directories(run_.outputs() / "old");
    std::filesystem::rename(run_.outputs() / "events.out.tfevents.1",
                            run_.outputs() / "old/events.out.tfevents.1");
    append("outputs/events.out.tfevents.1", event_file_begin(2) + scalar_record("a", 5, 0));
    read_all();
    read_all();
    EXPECT_THAT(points(), ElementsAre("a 0 1", "a 0 5"));
}

TEST_F(EventFilesOfARun, EventWithVeryManyNumbersComesInSeveralRecords)
{
    std::vector<std::pair<std::string, float>> values;
    for (int i = 0; i < 3'000; ++i)
        values.emplace_back(fmt::format("a/long/name/of/a/metric/number/{}", i), i);
    append("outputs/events.out.tfevents.1", event_file_begin(1) + scalars_record(values, 3));
    read_all();
    EXPECT_EQ(piece().damaged, 0U);
    EXPECT_THAT(piece().points, SizeIs(3'000));
    // Only what is left of the event is read by the next.
    auto bytes = *os::read_file(journal());
    bytes.resize(bytes.rfind('\x1e'));
    EXPECT_TRUE(os::replace_file(journal(), bytes));
    EXPECT_LT(piece().points.size(), 3'000U);
    read_all();
    ASSERT_THAT(piece().points, SizeIs(3'000));
    EXPECT_EQ(piece().points.back().value, 2999);
}

TEST_F(EventFilesOfARun, LargeRecordIsPassedOverUnread)
{
    append("outputs/events.out.tfevents.1",
           event_file_begin(1) + event_record(std::string(5 << 20, 'g')) +
               scalar_record("a", 1, 0));
    read_all();
    EXPECT_THAT(points(), ElementsAre("a 0 1"));
}

TEST_F(EventFilesOfARun, LinksAreNotFollowed)
{
    append("elsewhere/events.out.tfevents.1", event_file_begin(1) + scalar_record("a", 1, 0));
    std::filesystem::create_directories(run_.outputs());
    std::filesystem::create_directory_symlink(run_.work() / "elsewhere", run_.outputs() / "link");
    std::filesystem::create_symlink(run_.work() / "elsewhere/events.out.tfevents.1",
                                    run_.outputs() / "events.out.tfevents.2");
    read_all();
    EXPECT_THAT(points(), IsEmpty());
}

TEST_F(EventFilesOfARun, OneProcessAtATimeReads)
{
    append("outputs/events.out.tfevents.1", event_file_begin(1) + scalar_record("a", 1, 0));
    EventReader reader(run_);
    {
        const auto other = EventJournal::open(run_);
        ASSERT_TRUE(other && *other);
        EXPECT_EQ(reader.read_some(), EventReader::Progress::busy);
    }
    EXPECT_EQ(reader.read_some(), EventReader::Progress::done);
    EXPECT_THAT(points(), ElementsAre("a 0 1"));
}

TEST_F(EventFilesOfARun, EndOfTheRunBringsTheRestAndItsLength)
{
    append("outputs/events.out.tfevents.1", event_file_begin(1) + scalar_record("a", 1, 0));
    EventReaders readers;
    JobStatus status{.phase = JobPhase::running};
    ASSERT_TRUE(readers.follow(run_, status, {}));
    const auto before = status.journal_length;
    EXPECT_GT(before, 0U);
    append("outputs/events.out.tfevents.1", scalar_record("a", 2, 1));
    ASSERT_TRUE(readers.follow(run_, status, {}));  // too soon
    EXPECT_EQ(status.journal_length, before);
    EXPECT_GT(readers.due(run_), Deadline::clock::now());
    status.phase = JobPhase::ended;
    ASSERT_TRUE(readers.follow(run_, status, {}));
    EXPECT_GT(status.journal_length, before);
    EXPECT_THAT(points(), ElementsAre("a 0 1", "a 1 2"));
}

TEST(EventFolder, IsBelowTheProject)
{
    EXPECT_TRUE(is_event_folder("logs/tb"));
    EXPECT_TRUE(is_event_folder("./logs"));
    EXPECT_FALSE(is_event_folder(""));
    EXPECT_FALSE(is_event_folder("/tmp/tb"));
    EXPECT_FALSE(is_event_folder("../tb"));
    EXPECT_FALSE(is_event_folder("logs/../../tb"));
}

}  // namespace
}  // namespace ponk::executor
