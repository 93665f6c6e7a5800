// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"
#include "importer/import_test_support.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"

#include <cmath>
#include <sys/stat.h>

namespace ponk::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* run_a = "0123456789abcdef0123456789abcdef";
constexpr const char* run_b = "fedcba9876543210fedcba9876543210";

// As MLflow 1.x and 2.x made them.
constexpr const char* old_tables =
    "CREATE TABLE experiments(experiment_id INTEGER PRIMARY KEY, name TEXT, artifact_location TEXT,"
    " lifecycle_stage TEXT);"
    "CREATE TABLE runs(run_uuid TEXT PRIMARY KEY, name TEXT, user_id TEXT, status TEXT,"
    " start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT, artifact_uri TEXT,"
    " experiment_id INTEGER);"
    "CREATE TABLE metrics(key TEXT, value FLOAT NOT NULL, timestamp BIGINT, run_uuid TEXT,"
    " step BIGINT DEFAULT 0, is_nan BOOLEAN DEFAULT 0);"
    "CREATE TABLE params(key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE tags(key TEXT, value TEXT, run_uuid TEXT);";

// What MLflow 3 has besides.
constexpr const char* new_tables =
    "ALTER TABLE experiments ADD creation_time BIGINT; ALTER TABLE experiments ADD last_update_time"
    " BIGINT; ALTER TABLE experiments ADD workspace TEXT DEFAULT 'default' NOT NULL;"
    "ALTER TABLE runs ADD deleted_time BIGINT;"
    "CREATE TABLE experiment_tags(key TEXT, value TEXT, experiment_id INTEGER);"
    "CREATE TABLE datasets(dataset_uuid TEXT, experiment_id INTEGER, name TEXT, digest TEXT,"
    " dataset_source_type TEXT, dataset_source TEXT, dataset_schema TEXT, dataset_profile TEXT);"
    "CREATE TABLE inputs(input_uuid TEXT, source_type TEXT, source_id TEXT, destination_type TEXT,"
    " destination_id TEXT, step BIGINT DEFAULT 0);"
    "CREATE TABLE input_tags(input_uuid TEXT, name TEXT, value TEXT);"
    "CREATE TABLE logged_models(model_id TEXT, experiment_id INTEGER, name TEXT, artifact_location"
    " TEXT, creation_timestamp_ms BIGINT, last_updated_timestamp_ms BIGINT, status INTEGER,"
    " lifecycle_stage TEXT, model_type TEXT, source_run_id TEXT);"
    "CREATE TABLE logged_model_metrics(model_id TEXT, metric_name TEXT, metric_timestamp_ms BIGINT,"
    " metric_step BIGINT, metric_value FLOAT, run_id TEXT, dataset_name TEXT, dataset_digest TEXT);"
    "CREATE TABLE logged_model_params(model_id TEXT, param_key TEXT, param_value TEXT);"
    "CREATE TABLE logged_model_tags(model_id TEXT, tag_key TEXT, tag_value TEXT);"
    "CREATE TABLE registered_models(name TEXT, creation_time BIGINT, last_updated_time BIGINT,"
    " description TEXT, workspace TEXT DEFAULT 'default' NOT NULL);"
    "CREATE TABLE registered_model_aliases(alias TEXT, version INTEGER, name TEXT, workspace TEXT"
    " DEFAULT 'default' NOT NULL);"
    "CREATE TABLE model_versions(name TEXT, version INTEGER, creation_time BIGINT,"
    " last_updated_time BIGINT, description TEXT, current_stage TEXT, source TEXT, run_id TEXT,"
    " status TEXT, run_link TEXT, storage_location TEXT, workspace TEXT DEFAULT 'default' NOT "
    "NULL);"
    "CREATE TABLE trace_info(request_id TEXT);";

class MlflowDatabaseTest : public ImportTest {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(os::make_directories(file_.parent_path()));
        execute(old_tables);
        execute(fmt::format(
            "INSERT INTO experiments(experiment_id, name, artifact_location, lifecycle_stage) "
            "VALUES"
            "(0, 'Default', './mlruns/0', 'active'), (7, 'Vision', '{0}/arts/7', 'active'),"
            "(9, 'Away', 's3://bucket/9', 'active'), (12, 'Old', '/x', 'deleted');"
            "INSERT INTO runs(run_uuid, name, user_id, status, start_time, end_time,"
            " lifecycle_stage, artifact_uri, experiment_id) VALUES"
            "('{1}', 'first', 'ann', 'FINISHED', 1000, 2000, 'active', '{0}/arts/7/{1}/artifacts', "
            "7),"
            "('{2}', '', 'bob', 'KILLED', 500, NULL, 'deleted', 's3://bucket/9/{2}/artifacts', 9);"
            "INSERT INTO params VALUES('lr', '0.1', '{1}');"
            "INSERT INTO tags VALUES('param.x', 't', '{1}'), ('mlflow.runName', 'named', '{2}'),"
            " ('mlflow.source.name', '/a/train.py', '{1}');"
            "INSERT INTO metrics VALUES('loss', 0.5, 10, '{1}', 1, 0), ('loss', 0, 11, '{1}', 2, "
            "1),"
            " ('acc', 1.7976931348623157e308, 12, '{1}', -9223372036854775808, 0),"
            " ('loss', 0.25, 12, '{1}', 3, 0);",
            file_.parent_path().native(),
            run_a,
            run_b));
    }
    void make_new()
    {
        execute(new_tables);
        execute(fmt::format(
            "UPDATE experiments SET creation_time = 5, last_update_time = 6;"
            "INSERT INTO experiments VALUES(20, 'Vision', '/w', 'active', 1, 1, 'other');"
            "INSERT INTO experiment_tags VALUES('kind', 'test', 7);"
            "INSERT INTO datasets VALUES('u1', 7, 'numbers', 'd1', 'local', '{{}}', NULL, 'p');"
            "INSERT INTO inputs VALUES('i1', 'DATASET', 'u1', 'RUN', '{0}', 0),"
            " ('i2', 'RUN_OUTPUT', '{0}', 'MODEL_OUTPUT', 'm-1', 4);"
            "INSERT INTO input_tags VALUES('i1', 'mlflow.data.context', 'training');"
            "INSERT INTO logged_models VALUES('m-1', 7, 'net', '{1}/arts/7/models/m-1/artifacts', "
            "1,"
            " 2, 2, 'active', 'cnn', '{0}');"
            "INSERT INTO logged_model_metrics VALUES('m-1', 'score', 3, 4, 0.5, '{0}', NULL, NULL),"
            " ('m-1', 'score', 3, 5, NULL, 'gone', NULL, NULL);"
            "INSERT INTO logged_model_params VALUES('m-1', 'p', '1');"
            "INSERT INTO registered_models(name, creation_time, last_updated_time) "
            "VALUES('digits', 1, 2);"
            "INSERT INTO model_versions(name, version, creation_time, last_updated_time,"
            " current_stage, source, run_id, status, storage_location) VALUES"
            "('digits', 1, 1, 1, 'Production', '{1}/arts/7/{0}/artifacts/m', '{0}', 'READY', NULL),"
            "('digits', 2, 1, 1, 'None', 's3://x', '', 'FAILED_REGISTRATION', NULL),"
            "('digits', 3, 1, 1, 'Deleted_Internal', 'x', '', 'READY', NULL);"
            "INSERT INTO registered_model_aliases(alias, version, name) VALUES('best', 1, "
            "'digits'),"
            " ('lost', 3, 'digits');"
            "INSERT INTO trace_info VALUES('t1'), ('t2');",
            run_a,
            file_.parent_path().native()));
    }
    void execute(const std::string& sql)
    {
        auto database = db::Connection::open(file_, db::Role::writer).value();
        const auto done = database->execute(sql);
        ASSERT_TRUE(done) << done.error().message();
    }
    std::string bytes_of_source() { return os::read_file(file_).value(); }

    os::Path file_ = place_.path() / "theirs" / "mlflow.db";
};

TEST_F(MlflowDatabaseTest, AnOldDatabaseComesWithAllThatItHas)
{
    const auto before = bytes_of_source();

    const auto report = home_.imported(file_);

    EXPECT_EQ(first_problem(report), "");
    EXPECT_EQ(report["runs"].integer("added"), 2);
    EXPECT_EQ(report.integer("points"), 4);
    const auto run = home_.tracking().get_run(run_a).value();
    EXPECT_EQ(run.experiment, 7);
    EXPECT_EQ(run.name, "first");
    EXPECT_EQ(run.user, "ann");
    EXPECT_EQ(run.started, 1000);
    EXPECT_EQ(run.ended, 2000);
    EXPECT_EQ(run.state, model::RunState::completed);
    EXPECT_THAT(run.params, ElementsAre(Pair("lr", "0.1")));
    EXPECT_THAT(run.tags,
                UnorderedElementsAre(Pair("mlflow.runName", "first"),
                                     Pair("param.x", "t"),
                                     Pair("mlflow.source.name", "/a/train.py")));
    const auto losses = home_.history->metric_series(run.id, "loss").value();
    ASSERT_EQ(losses.size(), 3U);
    EXPECT_TRUE(std::isnan(losses[1].value));
    EXPECT_EQ(home_.history->find_metric(run.id, "acc").value()->point.step,
              std::numeric_limits<std::int64_t>::min());
    const auto other = home_.tracking().get_run(run_b).value();
    EXPECT_EQ(other.name, "named");
    EXPECT_TRUE(other.deleted);
    EXPECT_EQ(other.location, "s3://bucket/9");
    EXPECT_EQ(home_.tracking().get_experiment(0).value().name, "Default");
    EXPECT_TRUE(home_.tracking().get_experiment(12).value().deleted);
    EXPECT_EQ(bytes_of_source(), before);
    struct stat info {};
    EXPECT_NE(::stat((file_.native() + "-shm").c_str(), &info), 0) << "something was made there";
}

TEST_F(MlflowDatabaseTest, ANewDatabaseHasMoreAndWhatStaysBehindIsSaid)
{
    make_new();
    write("theirs/arts/7/" + std::string(run_a) + "/artifacts/m/model.bin", "bytes");
    write("theirs/arts/7/models/m-1/artifacts/net.bin", "more");

    const auto report = home_.imported(file_);

    EXPECT_EQ(first_problem(report), "");
    EXPECT_EQ(report["files"].integer("added"), 2);
    EXPECT_EQ(home_.tracking().get_experiment(7).value().created, 5);
    const auto run = home_.tracking().get_run(run_a).value();
    ASSERT_EQ(run.inputs.datasets.size(), 1U);
    EXPECT_EQ(run.inputs.datasets[0].dataset.profile, "p");
    EXPECT_THAT(run.inputs.datasets[0].tags, ElementsAre(Pair("mlflow.data.context", "training")));
    ASSERT_EQ(run.inputs.outputs.size(), 1U);
    EXPECT_EQ(run.inputs.outputs[0].step, 4);
    const auto model = store::Models(*home_.history).get("m-1").value();
    EXPECT_EQ(model.location, "mlflow-artifacts:/7/models/m-1/artifacts");
    EXPECT_EQ(model.metrics.size(), 1U);
    const auto version = store::Registry(*home_.history).get_version("digits", 1).value();
    EXPECT_EQ(version.location, "mlflow-artifacts:/7/" + std::string(run_a) + "/artifacts/m");
    EXPECT_THAT(version.aliases, ElementsAre("best"));
    EXPECT_FALSE(store::Registry(*home_.history).get_version("digits", 2));
    // A number that was given is not given again.
    EXPECT_EQ(store::Registry(*home_.history)
                  .create_version({.name = "digits", .source = "s", .location = "s"})
                  .value()
                  .version,
              4);
    const auto left = to_json(report["left_out"]);
    EXPECT_THAT(left, HasSubstr("2 traces"));
    EXPECT_THAT(left, HasSubstr("1 experiments of other workspaces"));
    EXPECT_THAT(left, HasSubstr("version 2 is FAILED_REGISTRATION"));
    EXPECT_THAT(left, HasSubstr("1 of its values"));
    EXPECT_THAT(left, HasSubstr("are in 's3://bucket/9'"));
    const auto place =
        store::ArtifactPath::parse("7/" + std::string(run_a) + "/artifacts/m/model.bin").value();
    EXPECT_EQ(home_.files.find(place).value().kind, store::ArtifactFolder::Found::Kind::file);
}

TEST_F(MlflowDatabaseTest, ImportingAgainAddsNothingAndCopiesFilesThatAreMissing)
{
    make_new();
    const auto name = "theirs/arts/7/" + std::string(run_a) + "/artifacts/m/model.bin";
    home_.imported(file_);
    write(name, "bytes");

    const auto again = home_.imported(file_);

    EXPECT_EQ(first_problem(again), "");
    EXPECT_EQ(again["runs"].integer("same"), 2);
    EXPECT_EQ(again["models"].integer("same"), 1);
    EXPECT_EQ(again["files"].integer("added"), 1);
    write(name, "other");
    const auto third = home_.imported(file_);
    EXPECT_EQ(third["files"].integer("refused"), 1);
    EXPECT_THAT(first_problem(third), HasSubstr("already exists and is not overwritten"));
}

TEST_F(MlflowDatabaseTest, ARunThatWentOnThereIsRefusedHere)
{
    home_.imported(file_);
    execute(fmt::format("INSERT INTO metrics VALUES('loss', 9, 99, '{}', 9, 0)", run_a));

    const auto report = home_.imported(file_);

    EXPECT_EQ(report["runs"].integer("refused"), 1);
    EXPECT_THAT(first_problem(report), HasSubstr("points of 'loss'"));
    const auto id = RunId::parse(run_a).value();
    EXPECT_EQ(home_.history->metric_series(id, "loss").value().size(), 3U);
}

TEST_F(MlflowDatabaseTest, FilesElsewhereComeOnlyFromTheFolderThatTheUserNames)
{
    write("secret/" + std::string(run_a) + "/artifacts/key", "private");
    execute(
        fmt::format("UPDATE runs SET artifact_uri = '{}/secret/{}/artifacts' WHERE run_uuid = '{}'",
                    place_.path().native(),
                    run_a,
                    run_a));

    const auto without = home_.imported(file_);
    const auto with = home_.import({.path = file_, .artifacts = place_.path() / "secret"}).value();

    EXPECT_EQ(without["files"].integer("found"), 0);
    EXPECT_THAT(to_json(without["left_out"]), HasSubstr("use --artifacts DIR to copy them"));
    EXPECT_EQ(with["files"].integer("added"), 1);
}

TEST_F(MlflowDatabaseTest, IdsThatAreNoneAreNamed)
{
    execute("UPDATE runs SET run_uuid = '../../etc/passwd' WHERE experiment_id = 9");

    const auto report = home_.imported(file_);

    EXPECT_EQ(report["runs"].integer("added"), 1);
    EXPECT_THAT(first_problem(report), HasSubstr("is not a run id"));
}

TEST_F(MlflowDatabaseTest, ADatabaseInUseIsReadAndNotHeldUp)
{
    auto server = db::Connection::open(file_, db::Role::writer).value();
    ASSERT_TRUE(
        server->execute("INSERT INTO params VALUES('late', '1', '" + std::string(run_a) + "')"));

    const auto report = home_.imported(file_);

    EXPECT_EQ(first_problem(report), "");
    const auto run = home_.tracking().get_run(run_a).value();
    EXPECT_EQ(run.params.size(), 2U);
    EXPECT_TRUE(server->execute("DELETE FROM params"));
}

TEST_F(MlflowDatabaseTest, OneThatIsNotMlflowsIsRefused)
{
    execute("ALTER TABLE runs RENAME TO walks");

    const auto refused = home_.import({.path = file_});

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("it has no table 'runs'"));
}

}  // namespace
}  // namespace ponk::importer
