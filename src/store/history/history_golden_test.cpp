// SPDX-License-Identifier: Apache-2.0
// Databases as released versions left them must open, in every later version. A golden file is made
// once, with PONK_UPDATE_GOLDEN=1 while there is none, and never again.
#include "base/json.hpp"
#include "db/connection.hpp"
#include "query/search/filter.hpp"
#include "store/history/history_test_support.hpp"
#include "store/tracking/tracking.hpp"

#include <cstdlib>
#include <filesystem>

namespace ponk::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

// The newest is what this version writes.
constexpr int newest_version = 18;

model::Run golden_run(const std::string& id, RunState state)
{
    model::Run run;
    run.id = RunId::parse(id).value();
    run.project = "9b6a3c1e-golden";
    run.project_path = "/home/ann/caf\xe9";
    run.name = "golden";
    run.state = state;
    run.script_name = "train.py";
    run.arguments = {"--epochs", "3", "\xff"};
    run.target = "local";
    run.target_type = "local";
    run.run_configuration = "local";
    run.framework = "Python";
    run.user = "ann";
    run.host = "box";
    run.created = 1'740'832'205'123;
    run.snapshot = std::string(64, 'a');
    run.timings = {{"run", 5100}, {"start", 2}};
    run.tags = {{"color", "red"}};
    run.git = JsonObject{{"commit", "abc"}, {"dirty", true}};
    run.configuration = JsonObject{{"variables", JsonObject{{"KEY", "secret:TOKEN"}}}};
    return run;
}

const std::string first_id = "01955211aa0370008000000000000001";
const std::string second_id = "01955211aa0370008000000000000002";

Json golden_gpu()
{
    return JsonObject{{"phase", "ended"},
                      {"requested", "all"},
                      {"verdict", "idle"},
                      {"reason", "hardly at work"},
                      {"evidence", JsonObject{{"samples", 9}}}};
}

void make_golden(History& history, const Path& file)
{
    const auto run = golden_run(first_id, RunState::not_started);
    ASSERT_TRUE(history.create_run(run));
    ASSERT_TRUE(history.create_run(golden_run(second_id, RunState::running)));
    ASSERT_TRUE(history.update_state(run.id,
                                     RunState::not_started,
                                     RunState::failed,
                                     {.exit_code = 3,
                                      .error = Error(ErrorKind::timeout, "too long", "Wait."),
                                      .started = 1'740'832'206'000,
                                      .ended = 1'740'832'211'123,
                                      .gpu = golden_gpu()}));
    ASSERT_TRUE(history.record_metrics(
        run.id,
        {"m-1",
         0,
         64,
         {{"loss", 0.5, {}, 1, 10}, {"loss", 0.25, {}, 2, 20}, {"note", 0, "text", 0, 5}}}));
    const std::vector<model::MetricPoint> logged{{"tail", 1.5, {}, 1, 30},
                                                 {"tail", 2.5, {}, 2, 40}};
    ASSERT_TRUE(history.log_points(run.id, logged));
    ASSERT_TRUE(history.append_event(run.id, "progress", "copying"));
    ASSERT_TRUE(history.add_asset({.project = run.project,
                                   .name = "model",
                                   .run = run.id,
                                   .path = "outputs/model.json",
                                   .digest = std::string(64, 'b'),
                                   .size = 7,
                                   .created = 1'740'832'212'000}));
    ASSERT_TRUE(history.put_setting("answer", "42"));
    Tracking tracking(history);
    const auto experiment = tracking.create_experiment("vision", "s3://bucket", {{"team", "b"}});
    const auto clients = tracking.create_run({.experiment = experiment.value(),
                                              .name = "client's",
                                              .user = "bob",
                                              .started = 7,
                                              .parent = second_id});
    ASSERT_TRUE(
        tracking.log(clients->id.text(),
                     {.points = PointsByKey(std::vector<model::MetricPoint>{{"m", 1.5, {}, 2, 3}}),
                      .params = {{"lr", "0.1"}},
                      .tags = {{"param.t", "x"}}}));
    ASSERT_TRUE(tracking.delete_run(clients->id.text()));
    ASSERT_TRUE(history.backup_to(file));
}

class GoldenHistory : public HistoryTest, public testing::WithParamInterface<int> {
protected:
    Path golden_ = Path(PONK_GOLDEN) / fmt::format("history-v{}.db", GetParam());
};

INSTANTIATE_TEST_SUITE_P(Versions,
                         GoldenHistory,
                         testing::Range(1, newest_version + 1),
                         [](const auto& one) { return "of" + std::to_string(one.param); });

TEST_P(GoldenHistory, OpensADatabaseOfEveryVersion)
{
    if (::getenv("PONK_UPDATE_GOLDEN") && GetParam() == newest_version &&
        !std::filesystem::exists(golden_))
        make_golden(*history_, golden_);
    history_.reset();
    const auto copy = place_.path() / "old";
    std::filesystem::create_directory(copy);
    std::filesystem::copy_file(golden_, copy / "history.db");

    auto history = History::open(copy).value();

    EXPECT_EQ(history->opening().outcome, Opening::Outcome::opened);
    EXPECT_TRUE(history->check_integrity());
    auto expected = golden_run(first_id, RunState::failed);
    expected.number = 1;
    expected.exit_code = 3;
    expected.error = Error(ErrorKind::timeout, "too long", "Wait.");
    expected.started = 1'740'832'206'000;
    expected.ended = 1'740'832'211'123;
    const bool knows_gpus = GetParam() >= 3;
    if (knows_gpus) expected.gpu = golden_gpu();
    EXPECT_THAT(
        history->list_runs({.gpu_verdict = knows_gpus ? "idle" : "not-requested"}).value().runs,
        SizeIs(knows_gpus ? 1 : 2));
    RunSearch search;
    search.filter = query::search::parse_filter(query::search::runs,
                                                "user_id = 'ann' AND metrics.loss = 0.25 AND "
                                                "tags.color = 'red' AND start_time > 0")
                        .value();
    EXPECT_THAT(history->search_runs(search).value().runs, SizeIs(1));
    EXPECT_EQ(to_json(shown(history->get_run(expected.id).value())), to_json(shown(expected)));
    const auto active = history->active_runs().value();
    ASSERT_THAT(active, SizeIs(1));
    EXPECT_EQ(active[0].id.text(), second_id);
    EXPECT_EQ(history->journal_offset(expected.id, "m-1").value(), 64U);
    EXPECT_EQ(history->metric_series(expected.id, "loss").value().at(1).value, 0.25);
    EXPECT_EQ(history->latest_metrics(expected.id).value().at(1).point.text, "text");
    const bool has_tail = GetParam() >= 6;
    EXPECT_THAT(history->metric_series(expected.id, "tail").value(), SizeIs(has_tail ? 2 : 0));
    EXPECT_EQ(history->events(expected.id).value().at(2).text, "copying");
    EXPECT_EQ(history->assets(expected.project).value().at(0).size, 7U);
    EXPECT_EQ(history->find_setting("answer").value(), "42");
    EXPECT_EQ(history->find_project_at("/home/ann/caf\xe9").value()->runs, 2);
    EXPECT_EQ(history->create_run(golden_run(std::string(32, 'c'), RunState::not_started))
                  .value()
                  .run.number,
              3);
}

// Until version 18 nobody knew the least and the greatest of a metric.
TEST_P(GoldenHistory, LooksUpRangesOfMetrics)
{
    const auto copy = place_.path() / "old";
    std::filesystem::create_directory(copy);
    std::filesystem::copy_file(golden_, copy / "history.db");
    {
        const auto history = History::open(copy).value();
        ASSERT_TRUE(history->compact_all());
    }

    const auto opened = db::Connection::open(copy / "history.db", db::Role::writer).value();
    auto ranges = opened->prepare("SELECT low, high FROM metric WHERE key = 'loss'").value();
    ASSERT_TRUE(ranges.step().value());
    EXPECT_EQ(ranges.real(0), 0.25);
    EXPECT_EQ(ranges.real(1), 0.5);
    auto missing = opened->prepare("SELECT count(*) FROM metric WHERE low IS NULL").value();
    ASSERT_TRUE(missing.step().value());
    EXPECT_EQ(missing.integer(0), 0);
    auto texts = opened->prepare("SELECT low > high FROM metric WHERE key = 'note'").value();
    ASSERT_TRUE(texts.step().value());
    EXPECT_EQ(texts.integer(0), 1) << "a text is no number";
}

// What a client stored in the first version that had clients.
TEST_P(GoldenHistory, KeepsWhatClientsStored)
{
    if (GetParam() < 5) return;
    const auto copy = place_.path() / "old";
    std::filesystem::create_directory(copy);
    std::filesystem::copy_file(golden_, copy / "history.db");
    const auto history = History::open(copy).value();
    const Tracking tracking(*history);

    const auto experiment = tracking.get_experiment_named("vision").value();
    EXPECT_EQ(experiment.id, 2);
    EXPECT_EQ(experiment.location, "s3://bucket");
    EXPECT_THAT(experiment.tags, ElementsAre(Pair("team", "b")));
    RunSearch search;
    search.scope.lifecycle = Lifecycle::deleted;
    search.scope.hidden = RunFilter::Hidden::include;
    const auto runs = tracking.search_runs(search).value().runs;
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_EQ(runs[0].name, "client's");
    EXPECT_EQ(runs[0].started, 7);
    EXPECT_THAT(runs[0].params, ElementsAre(Pair("lr", "0.1")));
    EXPECT_THAT(runs[0].tags, Contains(Pair("param.t", "x")));
    ASSERT_THAT(runs[0].metrics, SizeIs(1));
    EXPECT_EQ(runs[0].metrics[0].value, 1.5);
    EXPECT_EQ(runs[0].parent, GetParam() >= 12 ? second_id : "");
}

// Until version 11 a tag said whose script made a run.
TEST_F(HistoryTest, TheTagOfAParentBecomesAColumn)
{
    const auto copy = place_.path() / "old";
    std::filesystem::create_directory(copy);
    std::filesystem::copy_file(Path(PONK_GOLDEN) / "history-v11.db", copy / "history.db");
    {
        const auto old = db::Connection::open(copy / "history.db", db::Role::writer).value();
        ASSERT_TRUE(old->execute(
            "INSERT INTO tag(run, key, value) SELECT child.row, 'ponk.made_by', parent.id"
            " FROM run AS child, run AS parent"
            " WHERE child.id LIKE '%2' AND parent.id LIKE '%1';"
            "INSERT INTO tag(run, key, value)"
            " SELECT row, 'ponk.made_by', 'somebody' FROM run WHERE id LIKE '%1'"));
    }

    const auto history = History::open(copy).value();

    const auto child = history->get_run(RunId::parse(second_id).value()).value();
    EXPECT_EQ(child.parent, first_id);
    EXPECT_THAT(child.tags, ElementsAre(Pair("color", "red")));
    const auto parent = history->get_run(RunId::parse(first_id).value()).value();
    EXPECT_EQ(parent.parent, "");
    EXPECT_THAT(parent.tags, Contains(Pair("ponk.made_by", "somebody"))) << "it names no run";
    const auto children = history->list_runs({.parent = first_id}).value().runs;
    ASSERT_THAT(children, SizeIs(1));
    EXPECT_EQ(children[0].id, child.id);
    EXPECT_THAT(Tracking(*history).get_run(second_id).value().tags,
                Contains(Pair("ponk.made_by", first_id)))
        << "clients see it as before";
    RunSearch search;
    search.filter = query::search::parse_filter(query::search::runs,
                                                fmt::format("tags.`ponk.made_by` = '{}'", first_id))
                        .value();
    EXPECT_THAT(history->search_runs(search).value().runs, SizeIs(1));
    search.filter.clear();
    search.scope.parent = first_id;
    EXPECT_THAT(history->search_runs(search).value().runs, SizeIs(1));
}

// Folders became experiments, and there is always the one called Default.
TEST_P(GoldenHistory, HasAnExperimentForEachProject)
{
    const auto copy = place_.path() / "old";
    std::filesystem::create_directory(copy);
    std::filesystem::copy_file(golden_, copy / "history.db");
    const auto history = History::open(copy).value();
    const Tracking tracking(*history);

    EXPECT_EQ(tracking.get_experiment(0).value().name, "Default");
    const auto own = tracking.get_experiment(1).value();
    EXPECT_EQ(own.name, "caf\xe9");
    EXPECT_GT(own.created, 0);
    RunSearch search;
    search.experiments = {1};
    search.words = RunSearch::Words::mlflow;
    EXPECT_THAT(tracking.search_runs(search).value().runs, SizeIs(2));
}

}  // namespace
}  // namespace ponk::store
