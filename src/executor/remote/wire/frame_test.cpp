// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/run_copy.hpp"
#include "executor/remote/wire/frame.hpp"
#include "executor/remote/wire/message.hpp"
#include "gpu/device.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace ponk::executor::remote {
namespace {

using testing::HasSubstr;

Job example_job()
{
    Job job;
    job.spec.id = RunId::parse("0199c0ffee00700080000000000000aa").value();
    job.context.token = "00112233445566778899aabbccddeeff";
    job.spec.snapshot = sha256("a tree");
    job.spec.program.framework = "Python";
    job.spec.program.script = "train.py";
    job.spec.program.arguments = {"--epochs", "3", "\xff"};
    job.spec.program.interpreter = "~/bin/python";
    job.spec.program.variables = {{"K", "V"}, {"K2", ""}, {"K3", "secret:N"}};
    job.spec.runtime.shared_directory = "~/.azureml/share/p";
    job.spec.runtime.container = Container{.image = "base:1", .tree = Container::Tree::copied};
    job.spec.environment.file = "aml_config/conda_dependencies.yml";
    job.context.tracking.run = job.spec.id.text();
    job.context.tracking.token = job.context.token;
    job.context.tracking.experiment = "3";
    job.context.tracking.experiment_name = "iris";
    job.context.tracking.tags = {{"team", "x"}};
    job.context.secrets = {{"N", "value"}};
    job.context.login.username = "me";
    job.spec.resources.time_limit = std::chrono::seconds(60);
    return job;
}

Frame example()
{
    JsonObject head{{"call", "launch"}, {"type", "remotedocker"}};
    put_job(head, example_job());
    return {FrameKind::request, 7, std::move(head), std::string("\0\1payload", 9)};
}

Result<std::optional<Frame>> parse(std::string_view bytes)
{
    FrameParser parser;
    parser.take(bytes);
    return parser.next();
}

TEST(Frame, HasTheBytesOfTheGoldenFile)
{
    const os::Path file = os::Path(PONK_GOLDEN) / "agent-protocol/launch.frame";
    const auto bytes = encode(example()).value();
    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::replace_file(file, bytes, 0644));
    }

    EXPECT_EQ(os::read_file(file).value(), bytes);
    const auto frame = parse(os::read_file(file).value());
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->request, 7U);
    EXPECT_EQ((*frame)->payload, example().payload);
    const auto job = parse_job((*frame)->head);
    ASSERT_TRUE(job) << job.error().message();
    EXPECT_EQ(job->spec, example_job().spec);
    EXPECT_EQ(job->context.secrets, example_job().context.secrets);
    EXPECT_EQ(job->context.login, example_job().context.login);
    EXPECT_EQ(model::to_text(job->context.tracking),
              model::to_text(example_job().context.tracking));
}

TEST(JobMessage, NamesNothingOfTheMachineThatSendsIt)
{
    auto job = example_job();
    job.spec.location = {.kind = model::Location::Kind::host,
                         .target = "gpu",
                         .host = {.address = "gpu1", .private_key = "/home/ann/.ssh/key"}};
    job.spec.runtime.container->registry_password = "pa55word";
    job.context.directory = RunDirectory("/here/runs/r");
    job.context.submitter_environment = {"HOME=/home/ann"};
    JsonObject head;
    put_job(head, job);
    const auto text = to_json(Json(head));
    for (const char* word : {"gpu1", "/home/ann", "/here", "pa55word"})
        EXPECT_EQ(text.find(word), std::string::npos) << word;
}

TEST(JobMessage, WithoutIdOrTreeIsRefused)
{
    for (const char* field : {"id", "snapshot"}) {
        auto head = example().head;
        head.as_object().find("spec")->as_object().erase(field);
        EXPECT_FALSE(parse_job(head)) << field;
    }
}

TEST(Frame, OfAStatusHasTheBytesOfTheGoldenFile)
{
    JobStatus status{.phase = JobPhase::ended, .log_length = 5, .journal_length = 2, .started = 17};
    status.exit = model::ExitRecord{.code = 3, .started = 17, .ended = 20, .log_length = 5};
    auto head = to_json(status);
    head.as_object().set("files",
                         to_json(std::vector<GrowingFile>{{"log", 0, 5}, {"journal/m-1", 4, 2}}));
    head.as_object().set("more", false);
    head.as_object().set("outputs", true);
    const auto bytes = encode({FrameKind::answer, 9, head, "hello12"}).value();
    const os::Path file = os::Path(PONK_GOLDEN) / "agent-protocol/sync-answer.frame";
    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::replace_file(file, bytes, 0644));
    }

    const auto frame = parse(os::read_file(file).value());
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ(os::read_file(file).value(), bytes);
    const auto back = parse_job_status((*frame)->head);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->exit->status(), 3);
    const auto files = parse_growing_files((*frame)->head["files"]);
    ASSERT_TRUE(files);
    EXPECT_EQ(files->at(1).name, "journal/m-1");
}

TEST(Frame, OfAPlacedRunHasTheBytesOfTheGoldenFile)
{
    Staged staged;
    staged.notices = {"'data' is a link that leaves the tree"};
    staged.environment = EnvironmentUsed{.id = "e1", .key = "k1", .built = true};
    staged.prepare_ms = 41'000;
    const auto bytes = encode({FrameKind::answer, 9, to_json(staged), ""}).value();
    const os::Path file = os::Path(PONK_GOLDEN) / "agent-protocol/stage-answer.frame";
    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::replace_file(file, bytes, 0644));
    }

    EXPECT_EQ(os::read_file(file).value(), bytes);
    const auto frame = parse(os::read_file(file).value());
    ASSERT_TRUE(frame && *frame);
    const auto back = parse_staged((*frame)->head);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->prepare_ms, 41'000);
    EXPECT_EQ(back->notices, staged.notices);
    EXPECT_EQ(back->environment->key, "k1");
    EXPECT_EQ(parse_staged(JsonObject{{"prepare_ms", -5}})->prepare_ms, 0);
}

TEST(Frame, OfGpusHasTheBytesOfTheGoldenFile)
{
    gpu::Device card{
        .uuid = "GPU-1", .name = "Card", .vendor = "nvidia", .nodes = {"/dev/nvidia0"}};
    auto device = to_json(card).as_object();
    device.set("sample", JsonObject{{"utilisation", 0.5}, {"memory_used", 7}});
    device.set(
        "processes",
        JsonArray{JsonObject{
            {"pid", 42}, {"memory", 7}, {"user", "ann"}, {"program", "python3"}, {"run", Json()}}});
    auto head = to_json(gpu::Inventory{.way = "nvml", .driver_version = "580.1"}).as_object();
    head.set("time", 17);
    head.set("devices", JsonArray{std::move(device)});
    const auto bytes = encode({FrameKind::answer, 9, head, ""}).value();
    const os::Path file = os::Path(PONK_GOLDEN) / "agent-protocol/gpus-answer.frame";
    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::replace_file(file, bytes, 0644));
    }

    EXPECT_EQ(os::read_file(file).value(), bytes);
    const auto frame = parse(os::read_file(file).value());
    ASSERT_TRUE(frame && *frame);
    const auto back = gpu::inventory_from((*frame)->head);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->devices.at(0).nodes.at(0), "/dev/nvidia0");
}

TEST(Frame, ComesOutWholeFromPiecesOfAnySize)
{
    const auto bytes = encode(example()).value();
    for (const std::size_t step :
         {std::size_t{1}, std::size_t{15}, std::size_t{17}, bytes.size()}) {
        FrameParser parser;
        int frames = 0;
        const auto twice = bytes + bytes;
        for (std::size_t at = 0; at < twice.size(); at += step) {
            parser.take(std::string_view(twice).substr(at, step));
            while (parser.next().value())
                ++frames;
        }
        EXPECT_EQ(frames, 2) << step;
    }
}

TEST(Frame, WhatIsNoneIsRefusedBeforeItCostsMemory)
{
    const auto good = encode(example()).value();
    const auto with = [&good](std::size_t at, char byte) {
        auto bytes = good;
        bytes[at] = byte;
        return parse(bytes);
    };
    EXPECT_FALSE(with(3, '\x7f')) << "a head of two gigabytes";
    EXPECT_FALSE(with(7, '\x7f')) << "a payload of two gigabytes";
    EXPECT_FALSE(with(12, '\0'));
    EXPECT_FALSE(with(12, '\x09'));
    EXPECT_FALSE(with(14, '\x01'));
    EXPECT_FALSE(with(16, '['));
    EXPECT_TRUE(parse(good.substr(0, good.size() - 1)).value() == std::nullopt);
}

TEST(Frame, TooLongIsNotSent)
{
    auto frame = example();
    frame.payload.resize(longest_payload + 1);
    EXPECT_FALSE(encode(frame));
}

TEST(Notices, AreBoundedHoweverManyThereAre)
{
    const Notices many(1000, std::string(5'000, '\x01'));

    const auto list = to_json(many);

    EXPECT_TRUE(encode({FrameKind::answer, 1, JsonObject{{"notices", list}}, {}}));
    const auto back = parse_notices(list);
    EXPECT_EQ(back.size(), 201U);
    EXPECT_THAT(back.back(), HasSubstr("and 800 more"));
}

TEST(Greeting, IsFoundBehindNoiseHoweverItIsCut)
{
    const auto text = "Last login: today\n\n" + std::string(greeting) + "rest";
    for (std::size_t step = 1; step < text.size(); ++step) {
        GreetingFinder finder;
        std::string rest;
        bool found = false;
        for (std::size_t at = 0; at < text.size(); at += step) {
            if (found) {
                rest += text.substr(at, step);
            } else {
                found = finder.take(text.substr(at, step), rest).value();
            }
        }
        EXPECT_TRUE(found);
        EXPECT_EQ(rest, "rest");
        EXPECT_THAT(std::string(finder.noise()), HasSubstr("Last login"));
    }
}

TEST(Greeting, IsNotWaitedForWithoutEnd)
{
    GreetingFinder finder;
    std::string rest;
    EXPECT_FALSE(finder.take(std::string(GreetingFinder::patience + 1, 'x'), rest));
}

TEST(RunCopy, WritesOnlyFilesOfARun)
{
    const RunDirectory folder(os::make_temporary_directory(testing::TempDir(), "copy-").value());
    ASSERT_TRUE(os::make_directories(folder.task() / "journal"));
    for (const char* name : {"../log", "exit", "journal/", "journal/..", "journal/a/b", "work"}) {
        EXPECT_FALSE(apply_increment(folder, {{{name, 0, 1}}, "x"})) << name;
    }
    EXPECT_TRUE(apply_increment(folder, {{{"log", 0, 2}, {"journal/m", 0, 1}}, "abc"}));
    EXPECT_FALSE(apply_increment(folder, {{{"log", 3, 1}}, "x"})) << "a gap";
    EXPECT_TRUE(apply_increment(folder, {{{"log", 2, 1}}, "d"}));
    EXPECT_EQ(os::read_file(folder.task() / "log").value(), "abd");
    EXPECT_TRUE(apply_increment(folder, {{{"log", 0, 1}}, "z"})) << "it was cut short there";
    EXPECT_EQ(os::read_file(folder.task() / "log").value(), "z");
    EXPECT_TRUE(os::remove_tree(folder.root()));
}

}  // namespace
}  // namespace ponk::executor::remote
