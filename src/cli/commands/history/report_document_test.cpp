// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/report_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ReportDocument, NoTextEndsTheBlockItIsIn)
{
    const std::string hostile = "</script><script>alert(1)</script><!--\xE2\x80\xA8&\xE2\x80\xA9\"";
    const std::string block = report_block("run", JsonObject{{"name", hostile}});
    const std::string begin = "<script type=\"application/json\" data-ponk=\"run\">";
    const std::string end = "</script>\n";
    ASSERT_THAT(block, StartsWith(begin));
    ASSERT_THAT(block, EndsWith(end));
    const std::string inside = block.substr(begin.size(), block.size() - begin.size() - end.size());
    EXPECT_THAT(inside, Not(HasSubstr("<")));
    EXPECT_THAT(inside, Not(HasSubstr("&")));
    EXPECT_THAT(inside, Not(HasSubstr("\xE2\x80")));
    EXPECT_EQ(parse_json(inside).value().text("name"), hostile);
}

TEST(ReportDocument, LongTextsEndBetweenSignsAndAreCounted)
{
    std::size_t cut = 0;
    const std::string text = std::string(most_report_text - 1, 'a') + "čč";
    const Json shown = bounded(JsonObject{{"a", text}, {"b", "short"}}, cut);
    EXPECT_EQ(shown.text("a"), std::string(most_report_text - 1, 'a') + "…");
    EXPECT_EQ(shown.text("b"), "short");
    EXPECT_EQ(cut, 1U);
}

TEST(ReportDocument, OfManyNamesTheFirstAreShown)
{
    JsonObject params;
    for (std::size_t i = 0; i < most_report_names + 7; ++i)
        params.set("p" + std::to_string(i), "1");
    std::size_t cut = 0;
    EXPECT_EQ(bounded(params, cut).as_object().size(), most_report_names);
    EXPECT_EQ(cut, 7U);
}

TEST(ReportDocument, PathsOfTheMachineStayThere)
{
    const Json run = JsonObject{
        {"run_id", "01"},
        {"project_path", "/home/ann/secret-place/vision"},
        {"tags", JsonObject{{"mlflow.source.name", "/home/ann/train.py"}, {"team", "x"}}},
        {"environment",
         JsonObject{{"version", "3.11"}, {"interpreter", "/home/ann/.venv/bin/python"}}},
        {"configuration",
         JsonObject{{"folder", "/home/ann"},
                    {"inputs",
                     JsonArray{JsonObject{
                         {"path", "data"}, {"source", "/home/ann/data"}, {"files", 3}}}}}}};
    std::size_t cut = 0;
    const std::string shown = to_json(report_fields(run, cut));
    EXPECT_THAT(shown, Not(HasSubstr("/home/ann")));
    EXPECT_THAT(shown, HasSubstr("\"project_path\":\"vision\""));
    EXPECT_THAT(shown, HasSubstr("\"team\":\"x\""));
    EXPECT_THAT(shown, HasSubstr("\"version\":\"3.11\""));
    EXPECT_THAT(shown, HasSubstr(R"("inputs":[{"path":"data",)"));
    EXPECT_THAT(shown, HasSubstr("\"files\":3"));
}

TEST(ReportDocument, DataGoWhereTheMarkIs)
{
    EXPECT_EQ(report_document("<p><!--ponk-data--></p>", "DATA").value(), "<p>DATA</p>");
    EXPECT_EQ(report_document("", "DATA").error().kind(), ErrorKind::unavailable);
    EXPECT_EQ(report_document("<p></p>", "DATA").error().kind(), ErrorKind::damaged);
}

}  // namespace
}  // namespace ponk::cli
