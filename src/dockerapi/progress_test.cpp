// SPDX-License-Identifier: Apache-2.0
#include "base/base64.hpp"
#include "dockerapi/build_cache.hpp"
#include "dockerapi/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::dockerapi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Lines {
    std::vector<std::string> list;
    Report report()
    {
        return [this](const std::string& line) { list.push_back(line); };
    }
};

std::string field(int number, std::string_view bytes)
{
    std::string out(1, static_cast<char>(number << 3 | 2));
    auto length = bytes.size();
    for (; length >= 128; length >>= 7)
        out += static_cast<char>(length | 0x80U);
    out += static_cast<char>(length);
    return out + std::string(bytes);
}

std::string trace_line(std::string_view message)
{
    return to_json(JsonObject{{"id", "moby.buildkit.trace"}, {"aux", to_base64(message)}}) + "\n";
}

const std::string step_began =
    field(1, field(1, "sha256:a") + field(3, "[2/3] RUN make") + field(5, ""));
std::string printed(std::string_view text)
{
    return field(3, field(1, "sha256:a") + field(4, text));
}

TEST(BuildProgress, StepsAndWhatTheyPrintBecomeLines)
{
    Lines lines;
    BuildProgress progress(lines.report());

    const auto stream = trace_line(step_began) + trace_line(printed("one\ntw")) +
                        trace_line(step_began + printed("o\r\n10%\r100%\n")) +
                        R"({"id":"moby.image.id","aux":{"ID":"sha256:beef"}})"
                        "\n";
    for (const char c : stream)
        progress.take(std::string_view(&c, 1));

    EXPECT_THAT(lines.list, ElementsAre("[2/3] RUN make", "one", "two", "100%"));
    ASSERT_TRUE(progress.result());
    EXPECT_EQ(*progress.result(), "sha256:beef");
}

TEST(BuildProgress, AFailedStepTellsWhatItPrinted)
{
    BuildProgress progress({});

    progress.take(trace_line(step_began) + trace_line(printed("no matching distribution\n")) +
                  trace_line(field(1, field(1, "sha256:a") + field(7, "exit code: 1"))) +
                  R"({"errorDetail":{"message":"exit code: 1"},"error":"exit code: 1"})"
                  "\n");

    ASSERT_FALSE(progress.result());
    EXPECT_THAT(progress.result().error().message(),
                HasSubstr("exit code: 1\n  no matching distribution"));
}

TEST(BuildProgress, AStreamThatEndsEarlyIsAnError)
{
    BuildProgress progress({});
    progress.take(trace_line(step_began));
    EXPECT_FALSE(progress.result());
}

TEST(BuildProgress, NonsenseIsSkipped)
{
    BuildProgress progress({});
    progress.take("\nno json\n[]\n{\"id\":\"moby.buildkit.trace\",\"aux\":\"%%%\"}\n" +
                  trace_line("\xff\xff"));
    EXPECT_FALSE(progress.result());
    EXPECT_EQ(parse_build_trace("\x0a\x7f short"), std::nullopt);
}

TEST(PullProgress, TellsHowFarItIsInSteps)
{
    Lines lines;
    PullProgress progress(lines.report());
    const auto at = [](int bytes) {
        return to_json(JsonObject{
                   {"status", "Downloading"},
                   {"id", "layer"},
                   {"progressDetail", JsonObject{{"current", bytes}, {"total", 1000}}}}) +
               "\n";
    };

    progress.take(at(10) + at(20) + at(500) + at(510) + at(1000));

    EXPECT_THAT(lines.list,
                ElementsAre("pulling the image: 500 bytes of 1000 bytes",
                            "pulling the image: 1000 bytes of 1000 bytes"));
    EXPECT_TRUE(progress.result());
}

TEST(PullProgress, ARefusalIsAnErrorWithAdvice)
{
    PullProgress progress({});
    progress.take(
        R"({"errorDetail":{"message":"pull access denied for x"},"error":"pull access denied for x"})"
        "\n");
    ASSERT_FALSE(progress.result());
    EXPECT_EQ(progress.result().error().kind(), ErrorKind::not_found);
    EXPECT_THAT(progress.result().error().hint(), HasSubstr("docker login"));
}

TEST(BuildCache, EntriesSayWhoNeedsThem)
{
    const auto usage = parse_json(R"({"BuildCache": [
        {"ID": "ab1", "Type": "regular", "Description": "mount / from exec /x", "InUse": false,
         "Shared": true, "Size": 7}, {"ID": "cd2", "InUse": true, "Shared": false, "Size": 9}]})");
    const auto entries = build_cache_of(*usage);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].description, "mount / from exec /x");
    EXPECT_TRUE(entries[0].shared);
    EXPECT_TRUE(entries[1].in_use);
    EXPECT_EQ(entries[1].size, 9);
    EXPECT_TRUE(build_cache_of(*parse_json("{}")).empty());
}

}  // namespace
}  // namespace ponk::dockerapi
