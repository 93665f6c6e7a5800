// SPDX-License-Identifier: Apache-2.0
#include "output/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ponk::output {
namespace {

TEST(Csv, QuotesWhatWouldBreakALine)
{
    EXPECT_EQ(csv_line({"plain", "a,b", "say \"hi\"", "two\nlines", Json(), true, 7, 0.5}),
              "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",,true,7,0.5\n");
    EXPECT_EQ(csv_field(JsonArray{1, "x"}), "\"[1,\"\"x\"\"]\"");
}

TEST(Csv, KeepsTextsFromBecomingFormulas)
{
    EXPECT_EQ(csv_field("=1+1"), "'=1+1");
    EXPECT_EQ(csv_field("'=1+1"), "''=1+1") << "else it would come back without its own";
    EXPECT_EQ(csv_field("'quoted'"), "'quoted'");
    EXPECT_EQ(csv_field("@cmd"), "'@cmd");
    EXPECT_EQ(csv_field("+A1"), "'+A1");
    EXPECT_EQ(csv_field("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
    EXPECT_EQ(csv_field("\tx"), "'\tx");
}

TEST(Csv, LeavesArgumentsOfScriptsAlone)
{
    for (const char* text : {"--lr 0.1", "--lr=0.1 --deep", "-v", "--batch-size 3 data/x.csv"})
        EXPECT_EQ(csv_field(text), text);
    for (const char* text :
         {"-A1", "--A1", "-2+3", "--lr SUM(1)", "-x cmd|' /C calc'!A0", "--", "-x+y", "+lr"})
        EXPECT_EQ(csv_field(text), "'" + std::string(text)) << text;
}

TEST(Csv, LeavesNumbersAlone)
{
    EXPECT_EQ(csv_field(-0.5), "-0.5");
    EXPECT_EQ(csv_field("-0.5"), "-0.5") << "a parameter is a text";
    EXPECT_EQ(csv_field(-INFINITY), "-Infinity");
    EXPECT_EQ(csv_field("-Infinity"), "-Infinity");
    EXPECT_EQ(csv_field(NAN), "NaN");
    EXPECT_EQ(csv_field(5e-324), "5e-324");
}

}  // namespace
}  // namespace ponk::output
