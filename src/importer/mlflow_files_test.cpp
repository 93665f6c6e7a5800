// SPDX-License-Identifier: Apache-2.0
#include "importer/import_test_support.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"

#include <cmath>

namespace ponk::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* run_a = "0123456789abcdef0123456789abcdef";
constexpr const char* model_a = "m-0123456789abcdef0123456789abcdef";

class MlflowFilesTest : public ImportTest {
protected:
    void SetUp() override
    {
        write("mlruns/272607815952549059/meta.yaml",
              "artifact_location: file:///elsewhere/mlruns/272607815952549059\ncreation_time: 5\n"
              "experiment_id: '272607815952549059'\nlast_update_time: 6\nlifecycle_stage: active\n"
              "name: 'Vision: \xC3\x9C'\nworkspace: default\n");
        write("mlruns/272607815952549059/tags/kind", "test");
        write(
            run("meta.yaml"),
            "artifact_uri: file:///elsewhere/x/artifacts\nend_time: 2000\nexperiment_id: "
            "'272607815952549059'\nlifecycle_stage: active\nrun_id: " +
                std::string(run_a) +
                "\nrun_name: '1e5'\nsource_type: 4\nstart_time: 1000\nstatus: 4\nuser_id: null\n");
        write(run("metrics/deep/loss"), "10 0.5 1\n11 nan 2\r\n12 -inf 3 numbers d1\n13 7\n");
        write(run("params/lr"), "0.1");
        write(run("params/empty"), "");
        write(run("tags/mlflow.note.content"), "two\nlines\n");
        write(run("inputs/i1/meta.yaml"),
              "destination_type: RUN\nsource_id: abc\nsource_type: DATASET\ntags:\n"
              "  mlflow.data.context: training\n");
        write(run("inputs/i2/meta.yaml"), "source_id: m-9\nsource_type: MODEL\ntags: {}\n");
        write(run("outputs/o1/meta.yaml"), "destination_id: m-8\nstep: 3\n");
        write("mlruns/272607815952549059/datasets/abc/meta.yaml",
              "digest: '0123'\nname: numbers\nprofile: null\nschema: '{}'\nsource: '{}'\n"
              "source_type: local\n");
        write(run("artifacts/plots/a b.svg"), "<svg/>");
    }
    static std::string run(const std::string& inside)
    {
        return "mlruns/272607815952549059/" + std::string(run_a) + "/" + inside;
    }
    void add_models()
    {
        const auto folder = "mlruns/272607815952549059/models/" + std::string(model_a);
        write(folder + "/meta.yaml",
              "artifact_location: file:///elsewhere/m\ncreation_timestamp: 1\nmodel_id: " +
                  std::string(model_a) +
                  "\nlast_updated_timestamp: 2\nmodel_type: cnn\nname: net\nsource_run_id: " +
                  std::string(run_a) + "\nstatus: 2\n");
        write(folder + "/metrics/score", "10 0.5 1 " + std::string(run_a) + " numbers d1\n");
        write(folder + "/artifacts/net.bin", "bytes");
        write("mlruns/models/digits/meta.yaml",
              "aliases:\n  best: '1'\ncreation_timestamp: 1\ndescription: null\n"
              "last_updated_timestamp: 2\nname: digits\n");
        write("mlruns/models/digits/aliases/best", "1");
        write("mlruns/models/digits/version-1/meta.yaml",
              "creation_timestamp: 1\ncurrent_stage: None\ndescription: d\nlast_updated_timestamp: "
              "1\nmodel_id: " +
                  std::string(model_a) + "\nname: digits\nrun_id: " + std::string(run_a) +
                  "\nsource: file:///elsewhere/x/artifacts/plots\nstatus: READY\nversion: 1\n");
    }

    os::Path folder_ = place_.path() / "mlruns";
};

TEST_F(MlflowFilesTest, AFolderComesWithAllThatItHas)
{
    add_models();

    const auto report = home_.imported(folder_);

    EXPECT_EQ(first_problem(report), "");
    const auto got = home_.tracking().get_run(run_a).value();
    EXPECT_EQ(home_.tracking().get_experiment(got.experiment).value().name, "Vision: \xC3\x9C");
    EXPECT_LT(got.experiment, 1000);
    EXPECT_EQ(got.name, "1e5");
    EXPECT_EQ(got.user, "");
    EXPECT_EQ(got.state, model::RunState::failed);
    EXPECT_THAT(got.params, UnorderedElementsAre(Pair("lr", "0.1"), Pair("empty", "")));
    EXPECT_THAT(got.tags,
                UnorderedElementsAre(Pair("mlflow.runName", "1e5"),
                                     Pair("mlflow.note.content", "two\nlines\n")));
    const auto points = home_.history->metric_series(got.id, "deep/loss").value();
    ASSERT_EQ(points.size(), 4U);
    EXPECT_TRUE(std::isnan(points[1].value));
    EXPECT_EQ(points[2].step, 3);
    EXPECT_EQ(points[3].step, 0);
    EXPECT_EQ(got.inputs.datasets.at(0).dataset.digest, "0123");
    EXPECT_THAT(got.inputs.models, ElementsAre("m-9"));
    EXPECT_EQ(got.inputs.outputs.at(0).step, 3);
    const auto model = store::Models(*home_.history).get(model_a).value();
    EXPECT_EQ(model.metrics.at(0).dataset_digest, "d1");
    const auto version = store::Registry(*home_.history).get_by_alias("digits", "best").value();
    EXPECT_EQ(version.location,
              fmt::format("mlflow-artifacts:/{}/{}/artifacts/plots", got.experiment, run_a));
    EXPECT_EQ(report["files"].integer("added"), 2);
    const auto again = home_.imported(folder_);
    EXPECT_EQ(first_problem(again), "");
    EXPECT_EQ(again["runs"].integer("same"), 1);
    EXPECT_EQ(again["files"].integer("same"), 2);
}

TEST_F(MlflowFilesTest, DeletedExperimentsAreInTheTrash)
{
    write("mlruns/.trash/5/meta.yaml", "experiment_id: '5'\nname: old\nlifecycle_stage: deleted\n");

    home_.imported(folder_);

    EXPECT_TRUE(home_.tracking().get_experiment_named("old").value().deleted);
}

TEST_F(MlflowFilesTest, ADamagedValueIsNamedByItsPlaceAndTheRunDoesNotCome)
{
    write(run("metrics/deep/loss"), "10 0.5 1\n11 half 2\n");

    const auto report = home_.imported(folder_);

    EXPECT_EQ(report["runs"].integer("added"), 0);
    EXPECT_THAT(first_problem(report), HasSubstr("metrics/deep/loss:2:4: 'half' is not a number"));
    EXPECT_FALSE(home_.tracking().get_run(run_a));
}

TEST_F(MlflowFilesTest, ADamagedMetaFileIsNamedByItsPlace)
{
    write(run("meta.yaml"), "run_id: [1\nname: x: y\n");

    const auto report = home_.imported(folder_);

    EXPECT_THAT(first_problem(report), HasSubstr("meta.yaml:"));
    EXPECT_EQ(report.integer("problem_count"), 1);
}

TEST_F(MlflowFilesTest, AFolderAboveIsPointedOut)
{
    const auto refused = home_.import({.path = place_.path()});

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("did you mean 'mlruns' in it?"));
}

}  // namespace
}  // namespace ponk::importer
