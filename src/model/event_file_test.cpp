// SPDX-License-Identifier: Apache-2.0
#include "model/event_file.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace ponk::model {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string golden(const std::string& name)
{
    std::ifstream in(PONK_SOURCE "/tests/golden/tensorboard/events.out.tfevents." + name,
                     std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

std::vector<Event> events_of(const std::string& file)
{
    std::vector<Event> out;
    const std::string_view bytes(file);
    for (std::size_t at = 0; at < bytes.size();) {
        const auto size = event_record_size(bytes.substr(at, event_head_size));
        if (!size) {
            ADD_FAILURE() << "no record at " << at;
            break;
        }
        const auto event = event_of_record(bytes.substr(at, *size));
        EXPECT_TRUE(event);
        if (event) {
            const auto parsed = parse_event(*event);
            EXPECT_TRUE(parsed);
            if (parsed) out.push_back(*parsed);
        }
        at += *size;
    }
    return out;
}

std::vector<std::pair<std::string, double>> scalars_of(const std::vector<Event>& events)
{
    std::vector<std::pair<std::string, double>> out;
    for (const auto& event : events) {
        for (const auto& scalar : event.scalars)
            out.emplace_back(scalar.tag, scalar.value);
    }
    return out;
}

TEST(EventFile, NumbersOfARealWriterAreReadWithStepAndTime)
{
    const auto events = events_of(golden("summaries"));

    ASSERT_EQ(events.size(), 9U);
    EXPECT_TRUE(events[0].scalars.empty());  // says the version
    EXPECT_EQ(events[2].scalars.at(0).tag, "loss");
    EXPECT_EQ(events[2].scalars.at(0).value, 0.25);
    EXPECT_EQ(events[2].step, 1);
    EXPECT_EQ(events[2].time, 1700000001250);
    EXPECT_EQ(events[3].scalars.at(0).tag, "accuracy/top");
    EXPECT_TRUE(std::isnan(events[4].scalars.at(0).value));
    EXPECT_EQ(events[7].scalars.at(0).value, -2.5);
    EXPECT_EQ(events[8].step, -1);
}

TEST(EventFile, HistogramsAndTextsAreCountedAndNoMetrics)
{
    const auto events = events_of(golden("summaries"));

    EXPECT_EQ(events.at(5).others, 1U);
    EXPECT_TRUE(events[5].scalars.empty());
    EXPECT_EQ(events.at(6).others, 1U);
    EXPECT_TRUE(events[6].scalars.empty());
}

TEST(EventFile, OneNumberInATensorIsAMetricInEachOfItsForms)
{
    const auto events = events_of(golden("tensors"));

    EXPECT_THAT(scalars_of(events),
                ElementsAre(Pair("float", 0.5),
                            Pair("float_val", 0.75),
                            Pair("double_val", 0.1),
                            Pair("int64", -7),
                            Pair("int_val", -3),
                            Pair("half", 0.5),
                            Pair("zero", 0)));
    EXPECT_EQ(events.at(8).others, 1U);   // a text
    EXPECT_EQ(events.at(9).others, 1U);   // of the plugin for hyperparameters
    EXPECT_EQ(events.at(10).others, 1U);  // two numbers
}

TEST(EventFile, ChangedByteIsSeenWhereverItIs)
{
    const auto file = golden("tensors");
    const auto size = event_record_size(std::string_view(file).substr(0, event_head_size));
    ASSERT_TRUE(size);
    for (std::size_t i = 0; i < *size; ++i) {
        auto record = file.substr(0, *size);
        record[i] = static_cast<char>(record[i] ^ 1);
        const auto head = event_record_size(std::string_view(record).substr(0, event_head_size));
        EXPECT_TRUE(!head || !event_of_record(record)) << i;
    }
}

TEST(EventFile, CutEventIsNoEvent)
{
    const auto file = golden("summaries");
    const auto first = *event_record_size(std::string_view(file).substr(0, event_head_size));
    const auto size = *event_record_size(std::string_view(file).substr(first, event_head_size));
    const auto event = event_of_record(std::string_view(file).substr(first, size));
    ASSERT_TRUE(event);
    EXPECT_FALSE(parse_event(event->substr(0, event->size() - 1)));
}

TEST(EventFile, LengthThatNobodyCanMeanIsDamage)
{
    // The checksum of this length is right.
    const std::string head("\xff\xff\xff\xff\xff\xff\xff\x7f\xfa\x7f\x02\x84", 12);
    EXPECT_FALSE(event_record_size(head));
    EXPECT_FALSE(event_record_size("short"));
}

TEST(EventFile, TagsBecomeKeysThatMetricsMayHave)
{
    EXPECT_EQ(metric_of_tag("", "loss"), "loss");
    EXPECT_EQ(metric_of_tag("train", "loss"), "train/loss");
    EXPECT_EQ(metric_of_tag("a/b", "c/d"), "a/b/c/d");
    EXPECT_EQ(metric_of_tag("", "/a//b/./../c/"), "a/b/_/c");
    EXPECT_EQ(metric_of_tag("", "grad|norm?\n"), "grad_norm__");
    EXPECT_EQ(metric_of_tag("", "pr\xc3\xa4zision \xff"), "pr\xc3\xa4zision _");
    EXPECT_EQ(metric_of_tag("train", ""), "");
    EXPECT_EQ(metric_of_tag("", std::string(300, 'x')).size(), 250U);
}

}  // namespace
}  // namespace ponk::model
