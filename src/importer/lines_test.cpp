// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "importer/import_test_support.hpp"
#include "importer/line_cursor.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/datasets.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <regex>

namespace ponk::importer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
constexpr auto infinity = std::numeric_limits<double>::infinity();

std::vector<model::MetricPoint> odd_points(std::int64_t more = 50)
{
    using Form = model::MetricPoint::Form;
    std::vector<model::MetricPoint> points{
        {"odd", 0.1, std::nullopt, 0, 5},
        {"odd", -0.0, std::nullopt, 1, 5},
        {"odd", std::nan(""), std::nullopt, 2, 5},
        {"odd", infinity, std::nullopt, 3, 5},
        {"odd", -infinity, std::nullopt, greatest, greatest},
        {"odd", 5e-324, std::nullopt, least, least},
        {"odd", 1.7976931348623157e308, std::nullopt, 4, 5},
        {"words", 0, "NaN", 0, 1},
        {"words", 0, "caf\xe9 \"quoted\"\n", 1, 2},
        {"list", 1, std::nullopt, 0, 1, Form::list},
        {"list", 2, std::nullopt, 1, 1, Form::list},
        {"listed words", 0, "a", 0, 1, Form::list},
    };
    for (std::int64_t i = 0; i < more; ++i)
        points.push_back({"long/one", static_cast<double>(i * 7919 % 997) / 3, std::nullopt, i, i});
    return points;
}

class LinesTest : public ImportTest {
protected:
    static void fill_engine_run(store::History& history, std::int64_t points)
    {
        model::Run run;
        run.id = RunId::make();
        run.project = "/home/ann/mnist";
        run.project_path = "/home/ann/mnist";
        run.script_name = "train.py";
        run.arguments = {"--lr", "caf\xe9"};
        run.target = run.target_type = "local";
        run.user = "ann";
        run.tags = {{"param.lr", "0.1"}, {"k", "v"}};
        run.git = JsonObject{{"commit", "abc"}, {"dirty", true}};
        run.gpu = JsonObject{{"verdict", "confirmed"}, {"devices", JsonArray{}}};
        ASSERT_TRUE(history.create_run(run));
        ASSERT_TRUE(history.record_metrics(run.id, {"m", 0, 1, odd_points(points)}));
        using S = model::RunState;
        store::RunChange end;
        end.exit_code = 3;
        end.ended = 1'700'000'000'123;
        end.timings = {{"run", 77}};
        end.error = Error(ErrorKind::timeout, "too long", "Be quicker.");
        end.warnings = {"one", "two"};
        ASSERT_TRUE(history.update_state(
            run.id, S::not_started, {S::starting, S::running, S::finalizing, S::failed}, end));
    }

    static void fill_client_runs(store::History& history)
    {
        store::Tracking tracking(history);
        const auto experiment =
            tracking.create_experiment("Vision", "s3://bucket/x", {{"kind", "test"}}).value();
        const auto run = tracking
                             .create_run({.experiment = experiment,
                                          .name = "first",
                                          .user = "bob",
                                          .started = 12,
                                          .tags = {{"param.like", "tag"}, {"a", "b"}}})
                             .value();
        const auto id = run.id.text();
        ASSERT_TRUE(tracking.log(
            id, {.points = store::PointsByKey(odd_points()), .params = {{"depth", "3"}}}));
        ASSERT_TRUE(store::Datasets(history).log_inputs(
            id, {{{"numbers", "d1", "local", "{}", "{}", std::nullopt}, {{"t", "1"}}}}, {"m-1"}));
        ASSERT_TRUE(store::Datasets(history).log_outputs(id, {{"m-2", 7}}));
        store::Models models(history);
        const auto model = models
                               .create({.experiment = experiment,
                                        .name = "net",
                                        .type = "cnn",
                                        .source_run = id,
                                        .params = {{"p", "1"}},
                                        .tags = {{"t", "2"}}})
                               .value();
        ASSERT_TRUE(
            models.log_metrics(id, {{model.id, "score", std::nan(""), 4, 5, "numbers", "d1", id}}));
        const auto gone = tracking.create_run({.experiment = 0, .name = "gone"}).value();
        ASSERT_TRUE(tracking.delete_run(gone.id.text()));
        ASSERT_TRUE(tracking.delete_experiment(tracking.create_experiment("old", "", {}).value()));
    }

    static void fill_registry(store::History& history)
    {
        store::Registry registry(history);
        ASSERT_TRUE(registry.create("digits", "Reads digits", {{"team", "x"}}));
        for (int i = 0; i < 3; ++i)
            ASSERT_TRUE(registry.create_version({.name = "digits",
                                                 .source = "s3://bucket/m",
                                                 .location = "s3://bucket/m",
                                                 .description = "v",
                                                 .tags = {{"n", "1"}}}));
        ASSERT_TRUE(registry.set_alias("digits", "best", 2));
        ASSERT_TRUE(registry.remove_version("digits", 3));
    }

    os::Path export_of_everything(std::int64_t points = 50)
    {
        TestHome other(place_.path() / "other");
        fill_engine_run(*other.history, points);
        fill_client_runs(*other.history);
        fill_registry(*other.history);
        return write("all.jsonl", other.exported());
    }
    static std::string text_of(const os::Path& file) { return os::read_file(file).value(); }
};

TEST_F(LinesTest, AnImportIsExportedAgainByteForByte)
{
    const auto file = export_of_everything(9000);

    const auto report = home_.imported(file);

    EXPECT_EQ(first_problem(report), "");
    EXPECT_EQ(report["runs"].integer("added"), 3);
    EXPECT_EQ(report["models"].integer("added"), 1);
    EXPECT_EQ(report["registered_models"].integer("added"), 1);
    const auto points = odd_points().size() + odd_points(9000).size();
    EXPECT_EQ(report.integer("points"), static_cast<std::int64_t>(points));
    // The experiment that every home has was made when it was: its times differ wherever they are.
    const auto made = [](const std::string& text) {
        static const std::regex times(
            R"re(("project_name":"Default"),"created":\d+,"updated":\d+)re");
        return std::regex_replace(text, times, "$1");
    };
    EXPECT_EQ(made(home_.exported()), made(text_of(file)));
}

TEST_F(LinesTest, ImportingAgainAddsNothing)
{
    const auto file = export_of_everything();
    home_.imported(file);
    const auto before = home_.exported();

    const auto report = home_.imported(file);

    EXPECT_EQ(first_problem(report), "");
    EXPECT_EQ(report["runs"].integer("same"), 3);
    EXPECT_EQ(report["runs"].integer("added"), 0);
    EXPECT_EQ(report["experiments"].integer("added"), 0);
    EXPECT_EQ(report.integer("points"), 0);
    EXPECT_EQ(home_.exported(), before);
}

TEST_F(LinesTest, AnImportThatWasInterruptedGoesOnWithTheRest)
{
    const auto file = export_of_everything();
    {
        auto import =
            Import::open({*home_.history, home_.files, [](const std::string&) { return false; }},
                         {.path = file})
                .value();
        while (import->report().runs.added < 2)
            ASSERT_TRUE(import->step().value());
    }

    const auto report = home_.imported(file);

    EXPECT_EQ(report["runs"].integer("same"), 2);
    EXPECT_EQ(report["runs"].integer("added"), 1);
}

TEST_F(LinesTest, ADryRunWritesNothingAndCountsTheSame)
{
    const auto file = export_of_everything();
    const auto before = home_.exported();

    const auto report = home_.import({.path = file, .mode = store::Copies::Mode::look}).value();

    EXPECT_EQ(report["runs"].integer("added"), 3);
    EXPECT_EQ(report["registered_models"].integer("added"), 1);
    EXPECT_EQ(home_.exported(), before);
}

TEST_F(LinesTest, ARunWithOtherContentIsRefusedAndBothAreNamed)
{
    const auto file = export_of_everything();
    home_.imported(file);
    auto text = text_of(file);
    const auto at = text.find("\"first\"");
    text.replace(at, 7, "\"other\"");
    const auto before = home_.exported();

    const auto report = home_.imported(write("changed.jsonl", text));

    EXPECT_EQ(report["runs"].integer("refused"), 1);
    EXPECT_THAT(first_problem(report),
                testing::AllOf(HasSubstr("changed.jsonl:"),
                               HasSubstr("as 'first' of experiment 'Vision'"),
                               HasSubstr("'name'")));
    EXPECT_EQ(home_.exported(), before);
}

TEST_F(LinesTest, ADamagedLineIsNamedByItsPlaceAndTheOthersCome)
{
    auto lines = split(text_of(export_of_everything()), '\n');
    for (auto& line : lines) {
        const auto at = line.find("[3,5,\"Infinity\"]");
        if (line.find("\"first\"") != std::string::npos && at != std::string::npos)
            line.replace(at, 16, "[3,5,\"Infinity\" ");
    }
    const auto file = write("damaged.jsonl", join(lines, "\n"));
    std::size_t number = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].find("\"Infinity\" ") != std::string::npos &&
            lines[i].find("\"first\"") != std::string::npos)
            number = i + 1;
    }

    const auto report = home_.imported(file);

    EXPECT_THAT(first_problem(report), HasSubstr(fmt::format("damaged.jsonl:{}:", number)));
    EXPECT_THAT(first_problem(report), HasSubstr("'\"' is expected"));
    EXPECT_EQ(report["runs"].integer("added"), 2);
    // Nothing of the damaged run is there, and no metric of a run that is none.
    EXPECT_THAT(home_.exported(), Not(HasSubstr("\"first\"")));
    // What the model measured in that run stays behind, which is said.
    EXPECT_GT(report.integer("left_out_count"), 0);
}

TEST_F(LinesTest, LinesThatAreNothingOfOursAreNamed)
{
    const auto file = write("bad.jsonl",
                            "{\"experiment\":{\"id\":1,\"name\":\"a\"}}\n"
                            "\n"
                            "{\"other\":1}\n"
                            "{\"run\":{\"run_id\":\"../../etc\"}}\n"
                            "{\"run\":17}\n"
                            "[]\n"
                            "{\"run\":{}\n");

    const auto report = home_.imported(file);

    EXPECT_EQ(report["experiments"].integer("added"), 1);
    EXPECT_EQ(report.integer("problem_count"), 5);
    const auto text = to_json(report["problems"]);
    EXPECT_THAT(text, HasSubstr("bad.jsonl:3:1"));
    EXPECT_THAT(text, HasSubstr("bad.jsonl:4:1"));
    EXPECT_THAT(text, HasSubstr("bad.jsonl:7:10"));
    EXPECT_THAT(text, HasSubstr("the line ends here"));
}

TEST_F(LinesTest, ARunThatHadNotEndedIsLeftOutUnlessAClientMadeIt)
{
    TestHome other(place_.path() / "other");
    model::Run run;
    run.id = RunId::make();
    run.project = "p";
    ASSERT_TRUE(other.history->create_run(run));
    ASSERT_TRUE(other.tracking().create_run({.experiment = 0, .name = "open"}));

    const auto report = home_.imported(write("open.jsonl", other.exported()));

    EXPECT_EQ(report["runs"].integer("added"), 1);
    EXPECT_THAT(first_problem(report), HasSubstr("was NotStarted when it was exported"));
}

TEST_F(LinesTest, AnExperimentCanGoIntoAnother)
{
    const auto file = export_of_everything();

    const auto report = home_.import({.path = file, .experiments = {{"Vision", "Seen"}}}).value();

    EXPECT_EQ(first_problem(report), "");
    EXPECT_TRUE(home_.tracking().get_experiment_named("Seen"));
    EXPECT_FALSE(home_.tracking().get_experiment_named("Vision"));
}

TEST_F(LinesTest, AnOlderExportIsTakenToo)
{
    const auto id = RunId::make().text();
    const auto file = write(
        "old.jsonl",
        "{\"run\":{\"run_id\":\"" + id +
            "\",\"run_number\":4,\"name\":\"\",\"status\":\"Completed\",\"project\":\"p1\","
            "\"project_path\":\"/home/ann/p1\",\"start_time_utc\":\"2026-03-01T12:30:05.123Z\","
            "\"params\":{\"lr\":\"1\"},\"tags\":{}},\"metrics\":{\"loss\":{\"latest\":\"NaN\","
            "\"count\":2,\"points\":[[0,1,\"NaN\"],[1,2,\"word\"]]}},\"events\":[]}\n");

    EXPECT_EQ(first_problem(home_.imported(file)), "");

    const auto points = home_.history->metric_series(RunId::parse(id).value(), "loss").value();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_TRUE(std::isnan(points[0].value));
    EXPECT_EQ(points[1].text, "word");
    const auto run = home_.history->get_run(RunId::parse(id).value()).value();
    EXPECT_EQ(run.started, 1772368205123);
    EXPECT_EQ(run.number, 4);
}

class GoldenLines : public LinesTest, public testing::WithParamInterface<const char*> {};

// Earlier versions also wrote what had its default.
INSTANTIATE_TEST_SUITE_P(,
                         GoldenLines,
                         testing::Values("history-lines.jsonl", "history-lines-full.jsonl"));

TEST_P(GoldenLines, are_read_and_written_again)
{
    const os::Path golden = os::Path(PONK_GOLDEN) / "history-lines.jsonl";

    EXPECT_EQ(first_problem(home_.imported(os::Path(PONK_GOLDEN) / GetParam())), "");

    std::string written;
    for (const auto& line : split(home_.exported(), '\n')) {
        // That one is made with the home, at its time.
        if (!line.empty() && line.find("\"experiment:default\"") == std::string::npos)
            written += line + "\n";
    }
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(os::replace_file(golden, written, 0644));
    }
    EXPECT_EQ(written, text_of(golden));
}

TEST(LineCursorTest, ReadsWhatJsonHasAndNothingElse)
{
    const auto fails_at = [](std::string_view text) {
        LineCursor in(text);
        const auto done = in.value();
        return done ? std::string("no") : std::to_string(in.place());
    };
    EXPECT_EQ(fails_at(R"({"a":[1,{"b":"]}\""}]})"), "no");
    EXPECT_EQ(fails_at("[1,2"), "4");
    EXPECT_EQ(fails_at("{\"a\":}"), "5");
    EXPECT_EQ(fails_at(std::string(100, '[')), "64");
    EXPECT_EQ(fails_at(""), "0");
    LineCursor large("9223372036854775808");
    EXPECT_FALSE(large.integer());
    LineCursor least_one("-9223372036854775808 1e999 -0.0 1e");
    EXPECT_EQ(least_one.integer().value(), least);
    EXPECT_EQ(least_one.number().value(), infinity);
    EXPECT_TRUE(std::signbit(least_one.number().value()));
    EXPECT_FALSE(least_one.number());
}

}  // namespace
}  // namespace ponk::importer
