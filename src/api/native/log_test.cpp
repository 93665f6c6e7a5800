// SPDX-License-Identifier: Apache-2.0
// Logs with secrets, from any offset.
#include "api/api_test_support.hpp"
#include "base/work_budget.hpp"

#include <algorithm>

namespace ponk::api {
namespace {

using Step = net::BodySource::Step;

class MaskedLog : public ApiFixture {
protected:
    // A run whose log has a secret in several forms and is `size` bytes long; a long one has plain
    // lines between.
    void make_log(std::size_t size)
    {
        ASSERT_EQ(call("PUT", {"secrets", "KEY"}, JsonObject{{"value", "hunter2-hunter2"}}).status,
                  200);
        id_ = submit(JsonObject{{"K", "secret:KEY"}}).text("run_id");
        std::string text;
        for (int i = 0; text.size() < size; ++i) {
            text += "line " + std::to_string(i);
            if (i % 7 == 0) text += " hunter2-hunter2hunter2-hunter2";
            if (i % 5 == 0) text += " aHVudGVyMi1odW50ZXIy";
            if (i % 3 == 0) text += " hunter2-hunte";
            text += i % 2 == 0 ? " hunter2-hunter2" : "\n";
            if (i % 16 == 15 && size > 10'000) text += std::string(20'011, '.');
        }
        const auto log = executor::RunDirectory(root_ / "home/runs" / id_).task() / "log";
        ASSERT_TRUE(os::replace_file(log, text));
    }

    net::Response from(std::uint64_t offset)
    {
        return call("GET", {"runs", id_, "log"}, {{"offset", std::to_string(offset)}}, Json());
    }

    // How many pieces a body takes.
    static std::size_t count_pieces(net::Response response)
    {
        std::size_t count = 1;
        std::string out;
        while (response.stream->next(out) == Step::data) {
            EXPECT_LE(out.size(), std::size_t{256} << 10);
            out.clear();
            ++count;
        }
        return count;
    }

    std::string id_;
};

TEST_F(MaskedLog, IsTheSameFromEveryOffset)
{
    make_log(1'500);
    const auto keeps_patterns = from(0);  // which take longer to make than to use
    const auto whole = drain(from(0));
    EXPECT_EQ(whole.find("hunter2-hunter2"), std::string::npos);
    for (std::size_t at = 0; at <= whole.size() + 2; ++at)
        ASSERT_EQ(drain(from(at)), at < whole.size() ? whole.substr(at) : "") << at;
}

TEST_F(MaskedLog, IsTheSameFromOffsetsAroundEveryPlaceWhereAReaderMayBegin)
{
    make_log(3 << 20);
    const auto whole = drain(from(0));  // leaves its marks
    for (std::size_t at = 0; at < whole.size(); at += 499'979)
        ASSERT_TRUE(drain(from(at)) == whole.substr(at)) << at;
}

TEST_F(MaskedLog, IsNotReadFromItsBeginningByTheNextWhoWantsItsEnd)
{
    make_log(3 << 20);
    const auto first = count_pieces(from(std::uint64_t{1} << 60));
    const auto next = count_pieces(from(std::uint64_t{1} << 60));

    EXPECT_GE(first, std::size_t{3} << 4) << "pieces of 64 KiB, between which others have a turn";
    EXPECT_LE(next, 2U + (1U << 4));
}

TEST_F(MaskedLog, HasTheSameTailAsTheWhole)
{
    make_log(3 << 20);
    const auto whole = drain(from(0));
    std::size_t begin = whole.size();
    for (const std::uint64_t lines : {0U, 1U, 2U, 7U, 40U}) {
        begin = whole.size();
        for (auto left = lines; left > 0; --left)
            begin = whole.rfind('\n', begin - 2) + 1;
        const auto found = body(
            call("GET", {"runs", id_, "log", "tail"}, {{"lines", std::to_string(lines)}}, Json()));
        const auto place = std::to_string(found.integer("from"));
        const auto tail = [&](std::size_t offset) {
            return drain(call("GET",
                              {"runs", id_, "log"},
                              {{"from", place}, {"offset", std::to_string(offset)}},
                              Json()));
        };
        EXPECT_TRUE(tail(0) == whole.substr(begin)) << lines;
        if (lines > 0) EXPECT_TRUE(tail(3) == whole.substr(begin + 3)) << lines;
    }
}

TEST_F(MaskedLog, IsSearchedAsItIsServed)
{
    make_log(3 << 20);
    const auto whole = drain(from(0));
    const auto search = [&](const std::string& text, const std::string& cursor) {
        return call("GET",
                    {"runs", id_, "log", "search"},
                    {{"q", text}, {"cursor", cursor}, {"case", "1"}},
                    Json());
    };
    EXPECT_TRUE(body(search("hunter2-hunter2", ""))["lines"].as_array().empty());
    const auto all = body(search("line 1", ""));
    EXPECT_TRUE(all.boolean("at_end"));
    const auto& lines = all["lines"].as_array();
    ASSERT_GT(lines.size(), 20U);
    std::int64_t number = 1;
    std::size_t counted = 0;
    for (const auto& line : lines) {
        const auto begin = static_cast<std::size_t>(line.integer("begin"));
        const auto offset = static_cast<std::size_t>(line.integer("offset"));
        EXPECT_EQ(whole.substr(offset, 6), "line 1");
        EXPECT_TRUE(begin == 0 || whole[begin - 1] == '\n');
        const auto before = std::string_view(whole).substr(counted, begin - counted);
        number += std::count(before.begin(), before.end(), '\n');
        counted = begin;
        EXPECT_EQ(line.integer("line"), number);
        EXPECT_EQ(std::string_view(whole).substr(begin, offset - begin).find('\n'),
                  std::string_view::npos);
    }
    // From the cursor on there is nothing more, until the log grows.
    const auto next = body(search("line 1", all.text("cursor")));
    EXPECT_TRUE(next["lines"].as_array().empty());
}

TEST_F(MaskedLog, IsSearchedForNothingElse)
{
    make_log(1'500);
    const auto status = [&](std::vector<std::pair<std::string, std::string>> parameters) {
        return call("GET", {"runs", id_, "log", "search"}, std::move(parameters), Json()).status;
    };
    EXPECT_EQ(status({}), 400);
    EXPECT_EQ(status({{"q", ""}}), 400);
    EXPECT_EQ(status({{"q", std::string(1001, 'a')}}), 400);
    EXPECT_EQ(status({{"q", "a\nb"}}), 400);
    EXPECT_EQ(status({{"q", "a"}, {"cursor", "1"}}), 400);
    EXPECT_EQ(status({{"q", "a"}, {"cursor", "1:2:3"}}), 400);
    EXPECT_EQ(status({{"q", "a"}, {"cursor", "-1:0:0"}}), 400);
    EXPECT_EQ(status({{"q", "a"}, {"cursor", "900000000:0:0"}}), 200);
}

TEST_F(MaskedLog, ShowsNoPartOfASecretThatBeginsBeforeThePlace)
{
    make_log(1'500);
    for (std::size_t place = 0; place < 1'600; ++place) {
        const auto text =
            drain(call("GET", {"runs", id_, "log"}, {{"from", std::to_string(place)}}, Json()));
        ASSERT_EQ(text.find("ter2-hunter2"), std::string::npos) << place;
        ASSERT_FALSE(text.starts_with("unter2-hunter2")) << place;
    }
}

}  // namespace
}  // namespace ponk::api
