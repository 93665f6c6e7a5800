// SPDX-License-Identifier: Apache-2.0
#include "model/run_request.hpp"
#include "model/run_spec.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <limits>

namespace ponk::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string folder = PONK_SOURCE "/tests/golden/run-spec/";

std::string read(const std::string& name)
{
    std::ifstream in(folder + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The file as it is, after it was written again where that was asked for.
Json golden(const std::string& name, const Json& value)
{
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr)
        std::ofstream(folder + name, std::ios::binary) << to_json(value, JsonStyle::pretty) << "\n";
    return parse_json(read(name)).value();
}

// Every field has a value that is not its default.
RunSpec full()
{
    RunSpec spec;
    spec.id = RunId::parse("0199c0ffee00700080000000000000aa").value();
    spec.name = "first";
    spec.project = "p1";
    spec.run_configuration = "gpu";
    spec.snapshot = sha256("a tree");
    spec.program = {.framework = "PySpark",
                    .script = "train.py",
                    .module = "pkg.train",
                    .arguments = {"--epochs", "3", "\xff"},
                    .command = {"sh", "-c", "true"},
                    .interpreter = "~/env/bin/python",
                    .spark_options = {"--conf", "a=b"},
                    .variables = {{"PLAIN", "1"}, {"KEY", "secret:api"}},
                    .shell_variables = {"MODE"},
                    .tensorboard = "logs/tb",
                    .given_names = {"os", "sys"},
                    .interactive = true};
    spec.resources = {.gpu = {.selection = "2",
                              .origin = GpuRequest::Origin::asked,
                              .need = GpuRequest::Need::required,
                              .busy = GpuRequest::Busy::refuse,
                              .grace = std::chrono::seconds(60)},
                      .time_limit = std::chrono::seconds(3600)};
    spec.location = {.kind = Location::Kind::host,
                     .target = "gpu1",
                     .host = {.address = "gpu1.example",
                              .port = 5022,
                              .user = "ann",
                              .scratch = "/data",
                              .private_key = "/home/ann/.ssh/key"}};
    spec.runtime = {.container = Container{.image = "base:1",
                                           .pinned = "base@sha256:0",
                                           .tree = Container::Tree::copied,
                                           .build_network = "host",
                                           .shm_size = "2g",
                                           .arguments = {"--ipc=host"},
                                           .registry_username = "ann",
                                           .registry_password = "secret:registry"},
                    .shared_directory = "~/share/p1",
                    .named_shared_directory = "~/share"};
    spec.environment = {.file = "aml_config/conda_dependencies.yml",
                        .missing = EnvironmentSpec::Missing::refuse,
                        .substitutions = EnvironmentSpec::Substitutions::known,
                        .lock_digest = "abc"};
    spec.inputs = {{"data",
                    "/home/ann/mnist/data",
                    true,
                    3,
                    4096,
                    1'700'000'000'000,
                    std::string(64, 'd'),
                    std::string(64, 'e') + "/x.csv"}};
    spec.policy = {.purpose = Policy::Purpose::prepare,
                   .tracked = false,
                   .collect_outputs = false,
                   .may_promote = true,
                   .grace = std::chrono::seconds(30),
                   .keep = {"checkpoints/"}};
    return spec;
}

TEST(RunSpec, IsStoredAsTheGoldenFileShows)
{
    const auto stored = golden("v2.json", to_json(full()));
    EXPECT_EQ(to_json(stored, JsonStyle::pretty), to_json(to_json(full()), JsonStyle::pretty))
        << "differs from tests/golden/run-spec/v2.json; when that is meant, PONK_UPDATE_GOLDEN=1 "
           "writes it";
    EXPECT_TRUE(parse_run_spec(stored).value() == full());
    EXPECT_EQ(to_json(to_json(RunSpec())), R"({"version":2})");
}

TEST(RunSpec, OfAClusterIsRefusedByWhoWouldStartItElsewhere)
{
    auto spec = full();
    spec.runtime.container.reset();
    spec.location.slurm = SlurmSpec{.partition = "gpu",
                                    .account = "lab",
                                    .qos = "high",
                                    .gres = "gpu:a100:2",
                                    .options = {"--mem=32G", "--exclusive"}};
    const auto stored = golden("v3.json", to_json(spec));
    EXPECT_EQ(to_json(stored, JsonStyle::pretty), to_json(to_json(spec), JsonStyle::pretty))
        << "differs from tests/golden/run-spec/v3.json";
    EXPECT_TRUE(parse_run_spec(stored).value() == spec);
    EXPECT_EQ(target_type(spec), "slurm");
    EXPECT_EQ(executor_name(spec.location, "slurm"), "slurm");
    spec.location.kind = Location::Kind::here;
    EXPECT_EQ(executor_name(spec.location, "slurm"), slurm_here);
}

// Written by the first version; never written again.
TEST(RunSpec, OfTheFirstVersionIsRead)
{
    auto expected = full();
    expected.id = {};
    expected.name = expected.project = "";
    expected.snapshot = {};
    expected.policy.grace = std::chrono::seconds(10);
    expected.inputs.clear();
    expected.policy.keep.clear();
    expected.program.module.clear();
    expected.program.given_names.clear();
    expected.program.shell_variables.clear();
    expected.program.interactive = false;
    const auto stored = parse_json(read("v1.json")).value();
    const auto spec = parse_run_spec(stored);
    ASSERT_TRUE(spec) << spec.error().message();
    EXPECT_EQ(to_json(to_json(*spec)), to_json(to_json(expected)))
        << "a field that the first version did not have: reset it in `expected` above";
    EXPECT_EQ(stored_gpu_request(stored), expected.resources.gpu);
    EXPECT_TRUE(may_promote(stored));

    const auto plain = parse_run_spec(JsonObject{{"script", "a.py"}}).value();
    EXPECT_TRUE(plain.policy.tracked);
    EXPECT_EQ(target_type(plain), "local");
    EXPECT_FALSE(parse_run_spec(JsonObject{{"arguments", 1}}));
}

TEST(RunSpec, WhoseVersionIsNotANumberIsDamaged)
{
    EXPECT_EQ(parse_run_spec(JsonObject{{"version", "2"}}).error().kind(), ErrorKind::damaged);
}

TEST(RunSpec, OfANewerVersionIsRefused)
{
    const auto spec = parse_run_spec(JsonObject{{"version", 4}});
    ASSERT_FALSE(spec);
    EXPECT_THAT(spec.error().message(), HasSubstr("newer version of ponk"));
}

TEST(RunSpec, ThatIsDamagedSaysWhere)
{
    for (const auto* text : {R"([])", R"({"version":2,"program":{"arguments":[1]}})"}) {
        const auto spec = parse_run_spec(parse_json(text).value());
        ASSERT_FALSE(spec) << text;
        EXPECT_EQ(spec.error().kind(), ErrorKind::damaged);
        EXPECT_THAT(spec.error().message(), HasSubstr("run specification: "));
    }
}

TEST(RunSpec, PartsAreFoundWithoutReadingAllOfIt)
{
    const auto stored = to_json(full());
    EXPECT_EQ(stored_gpu_request(stored), full().resources.gpu);
    EXPECT_TRUE(may_promote(stored));
    EXPECT_FALSE(may_promote(to_json(RunSpec())));
    EXPECT_FALSE(may_promote(Json()));
    EXPECT_EQ(grace_of(stored), std::chrono::seconds(30));
    EXPECT_EQ(grace_of(Json()), std::chrono::seconds(10));
    // In the place where the first version had it, which any other could write.
    EXPECT_FALSE(may_promote(JsonObject{{"version", 2}, {"may_promote", true}}));
}

TEST(RunSpec, LocationAndRuntimeDecideTheTypeOfTheTarget)
{
    RunSpec spec;
    EXPECT_EQ(target_type(spec), "local");
    spec.runtime.container = Container();
    EXPECT_EQ(target_type(spec), "localdocker");
    spec.location.kind = Location::Kind::host;
    EXPECT_EQ(target_type(spec), "remotedocker");
    spec.runtime.container.reset();
    EXPECT_EQ(target_type(spec), "remote");
}

TEST(SecretReference, IsAValueThatBeginsWithSecret)
{
    EXPECT_EQ(secret_reference("secret:TOKEN"), "TOKEN");
    EXPECT_EQ(secret_reference("plain"), std::nullopt);
    EXPECT_THAT(secret_names(full()), ElementsAre("api", "registry"));
}

RunRequest full_request()
{
    RunRequest request;
    request.id = RunId::parse("0199c0ffee00700080000000000000aa").value();
    request.project = "/home/ann/iris";
    request.script = "train.py";
    request.arguments = {"--epochs", "3"};
    request.run_configuration = "docker";
    request.target = "gpu1";
    request.conda_dependencies = "conda.yml";
    request.spark_dependencies = "spark.yml";
    request.name = "first";
    request.tags = {{"team", "a"}};
    request.variables = {{"KEY", "secret:api"}};
    request.tracked = false;
    request.time_limit_seconds = 60;
    request.grace_seconds = 120;
    request.substitute = true;
    request.allow = {"promote"};
    request.tensorboard = "logs";
    request.gpus = "none";
    request.no_wait = true;
    return request;
}

TEST(RunRequest, IsSentAsTheGoldenFileShows)
{
    const auto sent = golden("request.json", to_json(full_request()));
    EXPECT_EQ(sent, to_json(full_request()));
    EXPECT_EQ(parse_run_request(sent).value(), full_request());
}

TEST(RunRequest, ThatIsWrongIsRefusedByName)
{
    const std::pair<const char*, Json> wrong[] = {
        {"'run_id'", JsonObject{{"run_id", nullptr}}},
        {"'project' must be an absolute path", JsonObject{{"project", "iris"}}},
        {"'arguments' must be a list of texts", JsonObject{{"arguments", "a"}}},
        {"'arguments' must be a list of texts",
         JsonObject{{"arguments", JsonArray{std::string("a\0b", 3)}}}},
        {"'tags' must map names to texts", JsonObject{{"tags", JsonObject{{"", "x"}}}}},
        {"'variables' must map names to texts",
         JsonObject{{"variables", JsonObject{{"A=B", "x"}}}}},
        {"'root' is not a permission of a run", JsonObject{{"allow", JsonArray{"root"}}}},
        {"'gpus' must be a text", JsonObject{{"gpus", 1}}},
        {"'time_limit_seconds' must be", JsonObject{{"time_limit_seconds", -1}}},
        {"'time_limit_seconds' must be",
         JsonObject{{"time_limit_seconds", std::numeric_limits<std::int64_t>::max()}}},
        {"'grace_seconds' must be", JsonObject{{"grace_seconds", -1}}},
        {"'grace_seconds' must be", JsonObject{{"grace_seconds", 100'000}}},
    };
    for (const auto& [message, change] : wrong) {
        auto sent = to_json(full_request());
        for (const auto& [name, value] : change.as_object())
            sent.as_object().set(name, value);
        const auto request = parse_run_request(sent);
        ASSERT_FALSE(request) << message;
        EXPECT_EQ(request.error().kind(), ErrorKind::invalid_argument);
        EXPECT_THAT(request.error().message(), HasSubstr(message));
    }
}

}  // namespace
}  // namespace ponk::model
