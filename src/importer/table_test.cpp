// SPDX-License-Identifier: Apache-2.0
#include "importer/import_test_support.hpp"
#include "importer/table_reader.hpp"

#include <cmath>

namespace ponk::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TableTest : public ImportTest {
protected:
    // All rows of a table; a row that is none is one cell with the reason.
    std::vector<Cells> rows(std::string_view text)
    {
        auto reader = TableReader::open(write("t.csv", text)).value();
        std::vector<Cells> all{reader.heading()};
        while (const auto row = reader.next().value())
            all.push_back(*row ? **row : Cells{row->error().message()});
        return all;
    }
    [[nodiscard]] store::TrackedRun run(const std::string& name) const
    {
        const auto page = home_.history->list_runs({}).value();
        for (const auto& found : page.runs) {
            if (found.name == name) return home_.tracking().get_run(found.id.text()).value();
        }
        ADD_FAILURE() << "no run " << name;
        return {};
    }
};

TEST_F(TableTest, CellsAreReadAsRfc4180AndSpreadsheetsWriteThem)
{
    EXPECT_THAT(rows("a,b\n1,\"x, \"\"y\"\"\nz\"\n,\n"),
                ElementsAre(Cells{"a", "b"}, Cells{"1", "x, \"y\"\nz"}, Cells{"", ""}));
    EXPECT_THAT(rows("\xef\xbb\xbf"
                     "a;b\r\n\"1\r\n2\";3,5\r\n\r\nlast;x"),
                ElementsAre(Cells{"a", "b"}, Cells{"1\r\n2", "3,5"}, Cells{"last", "x"}));
    EXPECT_THAT(rows("a\tb\n\"\"\t\n"), ElementsAre(Cells{"a", "b"}, Cells{"", ""}));
    EXPECT_THAT(rows("\xef\xbb\xbfsep=;\r\na,x;b\r\n1;2\r\n"),
                ElementsAre(Cells{"a,x", "b"}, Cells{"1", "2"}));
    EXPECT_THAT(
        rows("a,b\n5\" disk,1\nx,2\n\"7\"\" disk\",3\n"),
        ElementsAre(
            Cells{"a", "b"}, Cells{"5\" disk", "1"}, Cells{"x", "2"}, Cells{"7\" disk", "3"}));
}

TEST_F(TableTest, ARowThatIsNoneSaysWhyAndTheNextOneIsRead)
{
    const auto read = rows("a,b\n1\n1,2,3\n\"x\"y,2\n3,4\n5,\"open\n");

    ASSERT_EQ(read.size(), 6U);
    EXPECT_THAT(read[1][0], HasSubstr("1 cells and the heading has 2"));
    EXPECT_THAT(read[2][0], HasSubstr("3 cells"));
    EXPECT_THAT(read[3][0], HasSubstr("character 4: unexpected text after a closing quote"));
    EXPECT_EQ(read[4], (Cells{"3", "4"}));
    EXPECT_THAT(rows("a\nf\xfcr\n")[1][0], HasSubstr("not UTF-8"));
    EXPECT_THAT(read[5][0],
                HasSubstr("character 3: a quote that opens in this row is never closed"));
}

TEST_F(TableTest, ASpreadsheetBecomesRunsOnce)
{
    const auto file =
        write("Grid search.csv",
              "name,params.lr,params.note,metrics.acc,metrics.loss,tags.team,weather\n"
              "one,0.1,'=1+1,0.9,nan,blue,sun\n"
              "two,0.2,''=2,0.95,-inf,,rain\n");

    const auto report = home_.imported(file);

    EXPECT_EQ(report["runs"].integer("added"), 2);
    EXPECT_EQ(report.integer("points"), 4);
    EXPECT_EQ(report.integer("problem_count"), 0);
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("the column 'weather'"));
    const auto one = run("one");
    EXPECT_THAT(one.params, ElementsAre(std::pair("lr", "0.1"), std::pair("note", "=1+1")));
    EXPECT_EQ(one.state, model::RunState::completed);
    ASSERT_EQ(one.metrics.size(), 2U);
    EXPECT_DOUBLE_EQ(one.metrics[0].value, 0.9);
    EXPECT_TRUE(std::isnan(one.metrics[1].value));
    EXPECT_TRUE(std::isinf(run("two").metrics[1].value));
    EXPECT_EQ(run("two").params.at(1).second, "'=2");
    const auto again = home_.imported(file);
    EXPECT_EQ(again["runs"].integer("same"), 2);
    EXPECT_EQ(again["runs"].integer("added"), 0);
}

TEST_F(TableTest, NumbersOfTablesWithSemicolonsMayHaveCommas)
{
    home_.imported(write("t.csv", "name;params.lr;metrics.a\nx;0,1;1,5\n"));

    EXPECT_DOUBLE_EQ(run("x").metrics.at(0).value, 1.5);
    EXPECT_EQ(run("x").params.at(0).second, "0,1");
}

TEST_F(TableTest, LinesOfEmptyCellsAreNoRuns)
{
    const auto report = home_.imported(write("t.csv", "name,metrics.a\nx,1\n,\n , \n,\n"));

    EXPECT_EQ(report["runs"].integer("added"), 1);
    EXPECT_EQ(report.integer("problem_count"), 0);
}

TEST_F(TableTest, ExcelsLineBeforeTheHeadingIsNoHeading)
{
    home_.imported(write("t.csv", "sep=;\r\nname;metrics.a\r\nx;1,5\r\n"));

    EXPECT_DOUBLE_EQ(run("x").metrics.at(0).value, 1.5);
}

TEST_F(TableTest, AMetricThatIsNoNumberIsKeptAndSaidOnceForItsColumn)
{
    const auto report =
        home_.imported(write("t.csv", "name,metrics.a,metrics.b\nx,12 %,1\ny,oops,2\n"));

    EXPECT_EQ(report["runs"].integer("added"), 2);
    EXPECT_EQ(report.integer("left_out_count"), 1);
    EXPECT_THAT(to_json(report["left_out"]),
                HasSubstr("numbers in 'metrics.a': 2 cells, '12 %' first, are kept as text"));
}

TEST_F(TableTest, WhatIsLongerThanAnybodyLogsIsRefused)
{
    const std::string long_text(100'001, 'x');
    const auto report = home_.imported(
        write("t.csv",
              "name,params.a,experiment,params." + std::string(251, 'y') + "\n" + long_text +
                  ",,,\na," + long_text + ",,\nb,1," + std::string(501, 'x') + ",\nc,1,,2\n"));

    EXPECT_EQ(report.integer("problem_count"), 3);
    EXPECT_EQ(report["runs"].integer("added"), 1);
    EXPECT_THAT(to_json(report["problems"]),
                HasSubstr("has 100001 characters, at most 100000 are kept"));
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("the column 'params.yyy"));
    EXPECT_EQ(run("c").params.size(), 1U);
}

TEST_F(TableTest, HeadingsForPeopleAreUnderstood)
{
    const auto report = home_.imported(
        write("t.csv",
              "Name,Run_ID,Created UTC,Start time UTC,LR\none,,2026-01-30,2026-01-31 12:00,0.1\n"));

    EXPECT_EQ(home_.history->list_runs({}).value().runs.at(0).created, 1'769'731'200'000);
    EXPECT_EQ(run("one").started, 1'769'860'800'000);
    EXPECT_THAT(to_json(report["left_out"]),
                HasSubstr("the column 'LR': values are read from columns 'metrics.NAME'"));
}

TEST_F(TableTest, VeryManyColumnsAreReadAndOfOthersAFewAreNamed)
{
    std::string heading = "name";
    std::string row = "wide";
    for (int i = 0; i < 20'000; ++i) {
        heading += fmt::format(",params.p{},other{}", i, i);
        row += ",1,2";
    }

    const auto report = home_.imported(write("t.csv", heading + "\n" + row + "\n"));

    EXPECT_EQ(run("wide").params.size(), 20'000U);
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("'other29' and 19970 more"));
}

TEST_F(TableTest, EqualRowsAreSeveralRuns)
{
    const auto file = write("t.csv", "name,metrics.a\nx,1\nx,1\n");

    EXPECT_EQ(home_.imported(file)["runs"].integer("added"), 2);
    EXPECT_EQ(home_.imported(file)["runs"].integer("same"), 2);
}

TEST_F(TableTest, AnExperimentThatIsNotThereGetsNoOtherNameAndThatIsSaid)
{
    const auto file = write("t.csv", "name,metrics.a\nx,1\n");

    const auto report =
        home_.import({.path = file, .experiments = {{"t", "U"}, {"z", "V"}}}).value();

    EXPECT_TRUE(home_.tracking().get_experiment_named("U"));
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("'z=V': it has no experiment 'z'"));
    EXPECT_EQ(report.integer("left_out_count"), 1);
}

TEST_F(TableTest, IdsTimesStatesAndExperimentsOfARowAreKept)
{
    const auto report = home_.imported(
        write("t.csv",
              "run_id,name,status,user,experiment,start_time_utc,end_time_utc,metrics.a\n"
              "0123456789abcdef0123456789abcdef,n,Failed,ann,E,2026-01-31T12:00:00.000Z,"
              "2026-01-31T12:00:01.500Z,1\n"
              ",m,KILLED,,,2026-01-31 12:00:00,, 7 \n"));

    EXPECT_EQ(report.integer("problem_count"), 0) << first_problem(report);
    EXPECT_EQ(report["experiments"].integer("added"), 2);
    const auto one = run("n");
    EXPECT_EQ(one.id.text(), "0123456789abcdef0123456789abcdef");
    EXPECT_EQ(one.state, model::RunState::failed);
    EXPECT_EQ(one.user, "ann");
    EXPECT_EQ(one.ended - one.started, 1500);
    EXPECT_EQ(one.metrics.at(0).time, one.ended);
    EXPECT_EQ(run("m").state, model::RunState::canceled);
    EXPECT_EQ(run("m").started, one.started);
    EXPECT_DOUBLE_EQ(run("m").metrics.at(0).value, 7);
}

TEST_F(TableTest, WhatIsWrongIsNamedWithItsLineAndTheRestComes)
{
    const auto report = home_.imported(write("t.csv",
                                             "run_id,status,start_time_utc,metrics.a\n"
                                             "short,,,1\n"
                                             ",Sleeping,,1\n"
                                             ",,yesterday,1\n"
                                             ",,\n"
                                             ",,,2\n"));

    EXPECT_EQ(report["runs"].integer("added"), 1);
    EXPECT_EQ(report.integer("problem_count"), 4);
    const auto said = to_json(report["problems"]);
    EXPECT_THAT(said, HasSubstr("t.csv:2"));
    EXPECT_THAT(said, HasSubstr("'short' is not a run id"));
    EXPECT_THAT(said, HasSubstr("unknown status 'Sleeping'"));
    EXPECT_THAT(said, HasSubstr("'yesterday' in 'start_time_utc' is not a time"));
    EXPECT_THAT(said, HasSubstr("t.csv:5"));
}

TEST_F(TableTest, TablesThatCannotBeMeantAreRefused)
{
    const auto refusal = [&](std::string_view text) {
        const auto done = home_.import({.path = write("t.csv", text)});
        return done ? "imported" : done.error().message();
    };
    EXPECT_THAT(refusal("run_id,key,step,time,value\n"), HasSubstr("is a table of points"));
    EXPECT_THAT(refusal("params.a,params.a\n1,2\n"), HasSubstr("two columns 'params.a'"));
    EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("nor a table with columns such as"));
    EXPECT_THAT(refusal("params.a\r1\r2\r"), HasSubstr("cannot import"));
    const auto forced =
        home_.import({.path = write("t.csv", "a,b\n1,2\n"), .format = Format::table});
    ASSERT_FALSE(forced);
    EXPECT_THAT(forced.error().message(), HasSubstr("none of the columns"));
    EXPECT_THAT(refusal("\xff\xfep\0a\0"), HasSubstr("it is UTF-16"));
    EXPECT_FALSE(home_.import({.path = write("t.csv", "params.a\n1\n"), .artifacts = "/tmp"}));
}

}  // namespace
}  // namespace ponk::importer
