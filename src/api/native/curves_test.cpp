// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"
#include "os/golden_test_support.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace ponk::api {
namespace {

class Curves : public ApiFixture {
protected:
    Curves()
    {
        model::Run run;
        run.id = *RunId::parse(id_);
        run.project = "p1";
        run.project_path = "/p1";
        run.script_name = "train.py";
        run.target = "local";
        EXPECT_TRUE(history_->create_run(run));
    }
    void log(const std::vector<model::MetricPoint>& points)
    {
        EXPECT_TRUE(history_->record_metrics(*RunId::parse(id_),
                                             {"m", logged_, logged_ + points.size(), points}));
        logged_ += points.size();
    }
    Json ask(JsonObject body, int status = 200)
    {
        if (body.find("runs") == nullptr) body.set("runs", JsonArray{Json(id_)});
        answer_ = call("POST", {"curves"}, std::move(body));
        EXPECT_EQ(answer_.status, status) << answer_.body;
        if (status != 200) return {};
        EXPECT_EQ(answer_.body.substr(0, 8), std::string("PNKC\1\0\0\0", 8));
        std::uint32_t length = 0;
        std::memcpy(&length, answer_.body.data() + 8, 4);
        EXPECT_EQ(length % 8, 0U);
        columns_ = answer_.body.substr(16 + length);
        return *parse_json(answer_.body.substr(16, length));
    }
    template <class Number>
    std::vector<Number> column(const Json& curve, std::size_t number)
    {
        const auto rows = static_cast<std::size_t>(curve.integer("rows"));
        std::vector<Number> numbers(rows);
        std::memcpy(
            numbers.data(), columns_.data() + curve.integer("at") + number * rows * 8, rows * 8);
        return numbers;
    }

    std::string id_ = "0199000000000000000000000000abcd";
    std::uint64_t logged_ = 0;
    net::Response answer_;
    std::string columns_;
};

TEST_F(Curves, EachHasWhatItsPictureShows)
{
    std::vector<model::MetricPoint> points;
    for (std::int64_t step = 0; step < 10'000; ++step)
        points.push_back({"loss", step == 7777 ? 100.0 : 1.0, {}, step, 5000 + step * 2});
    log(points);
    const auto head = ask({{"keys", JsonArray{"loss", "none"}}, {"width", 16}});
    ASSERT_EQ(head["curves"].as_array().size(), 1U);
    const auto& curve = head["curves"].as_array()[0];
    EXPECT_EQ(curve.integer("count"), 10'000);
    EXPECT_EQ(head.text("to"), "9999");
    const auto x = column<std::int64_t>(curve, 0);
    const auto y = column<double>(curve, 1);
    const auto spike = std::find(x.begin(), x.end(), 7777);
    ASSERT_NE(spike, x.end());
    EXPECT_EQ(y[static_cast<std::size_t>(spike - x.begin())], 100);
    EXPECT_LE(x.size(), 16U * 4);

    const auto relative =
        ask({{"keys", JsonArray{"loss"}}, {"width", 16}, {"x", "relative"}, {"smooth", 0.5}});
    EXPECT_EQ(relative.text("to"), "19998");
    EXPECT_EQ(column<double>(relative["curves"].as_array()[0], 2).front(), 1);
    const auto wall = ask({{"keys", JsonArray{"loss"}}, {"width", 16}, {"x", "wall"}});
    EXPECT_EQ(wall.text("from"), "5000");
    const auto zoomed =
        ask({{"keys", JsonArray{"loss"}}, {"width", 16}, {"from", 7776}, {"to", "7778"}});
    EXPECT_EQ(column<std::int64_t>(zoomed["curves"].as_array()[0], 0),
              (std::vector<std::int64_t>{7775, 7776, 7777, 7778, 7779}));
}

TEST_F(Curves, PointsThatCameInAnyOrderAreSorted)
{
    log({{"a", 3, {}, 30, 3}, {"a", 1, {}, 10, 1}, {"a", 2, {}, 20, 2}});
    const auto head = ask({{"keys", JsonArray{"a"}}});
    EXPECT_EQ(column<double>(head["curves"].as_array()[0], 1), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(head["curves"].as_array()[0]["last"].as_double(), 3);
}

TEST_F(Curves, AreAsDocumented)
{
    constexpr std::int64_t far = (std::int64_t{1} << 53) + 1;
    constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    log({{"a", 0.5, {}, 1, 1000}, {"a", nan, {}, 2, 1010}, {"a", 0.25, {}, 3, 1020}});
    log({{"b", 1.0, {}, far, 1000}, {"b", infinity, {}, far + 1, 1010}});
    const auto head = ask({{"keys", JsonArray{"a", "b"}}, {"width", 16}, {"smooth", 0.5}});
    EXPECT_EQ(head.text("to"), "9007199254740994");
    const auto& list = head["curves"].as_array();
    EXPECT_EQ(list[0].integer("nonfinite"), 1);
    EXPECT_EQ(list[1].text("last"), "Infinity");
    EXPECT_EQ(column<std::int64_t>(list[1], 0), (std::vector<std::int64_t>{far, far + 1}));
    os::expect_golden(os::Path(PONK_SOURCE_DIR "/tests/golden/api/curves.bin"), answer_.body);
}

TEST_F(Curves, WrongQuestionsAreRefused)
{
    log({{"a", 0.5, {}, 1, 1000}});
    const Json keys = JsonArray{"a"};
    for (const JsonObject& wrong : {JsonObject{},
                                    JsonObject{{"keys", "a"}},
                                    JsonObject{{"keys", JsonArray{Json(1)}}},
                                    JsonObject{{"keys", JsonArray()}},
                                    JsonObject{{"keys", keys}, {"x", "time"}},
                                    JsonObject{{"keys", keys}, {"width", 5000}},
                                    JsonObject{{"keys", keys}, {"smooth", 1}},
                                    JsonObject{{"keys", keys}, {"smooth", "0.5"}},
                                    JsonObject{{"keys", keys}, {"from", 1.5}},
                                    JsonObject{{"keys", keys}, {"from", 2}, {"to", 1}}})
        ask(wrong, 400);
    ask({{"keys", keys}, {"runs", JsonArray{"none"}}}, 404);
    EXPECT_EQ(ask({{"keys", keys}, {"from", 5}})["curves"].as_array().size(), 1U);
}

}  // namespace
}  // namespace ponk::api
