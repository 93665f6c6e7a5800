// SPDX-License-Identifier: Apache-2.0
// A machine that answers what it should not.
#include "executor/remote/hostile_host_test_support.hpp"
#include "executor/remote/object_peer.hpp"

namespace ponk::executor::remote {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

TEST_F(HostileHosts, GetNoObjectsButThoseOfTheTree)
{
    const auto secret = objects_.put("another project's secret").value();
    const auto job = make_job();
    std::vector<Digest> sent;
    int places = 0;
    const auto target = executor([&](const Frame& request) -> std::vector<Frame> {
        const auto call = request.head.text("call");
        if (call == "put-objects") {
            const auto parts = parse_parts(request.head["parts"]).value();
            for (const auto& part : parts)
                sent.push_back(part.digest);
        }
        if (call == "has-objects") return {answer({}, pack_digests({secret}))};
        if (call != "stage") return {answer({})};
        if (++places > 2) return {answer({})};
        return {answer({{"incomplete", true}, {"manifest", places == 1}}, pack_digests({secret}))};
    });

    const auto staged = target->stage(job, {}, {});

    ASSERT_TRUE(staged) << staged.error().message();
    EXPECT_EQ(places, 3);
    EXPECT_THAT(sent, Each(Not(secret)));
    EXPECT_THAT(sent, testing::Contains(job.spec.snapshot));
}

constexpr const char* forged =
    "no room\x1b]0;owned\x07\x1b[2K\x9b\r\nponk: run Completed\xe2\x80\xae";

bool is_harmless(const std::string& text)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (text[i] == '\n' && text.compare(i, 5, "\n    ") == 0) continue;
        if (byte < 0x20 || byte == 0x7f) return false;
    }
    return text.find("\xe2\x80\xae") == std::string::npos;
}

TEST_F(HostileHosts, CannotWriteOnTheTerminal)
{
    const auto target = executor([](const Frame& request) -> std::vector<Frame> {
        const auto call = request.head.text("call");
        if (call == "facts")
            return {answer({{"facts", JsonObject{{"os", forged}}},
                            {"problems", JsonArray{JsonObject{{"what", forged}}}}})};
        if (call == "sync")
            return {answer({{"phase", "lost"},
                            {"log_length", 0},
                            {"journal_length", 0},
                            {"reason", forged},
                            {"files", JsonArray()}})};
        return {{FrameKind::failure, 0, JsonObject{{"message", forged}, {"hint", forged}}, {}}};
    });
    const auto job = make_job();

    const auto staged = target->stage(job, {}, {});

    ASSERT_FALSE(staged);
    EXPECT_TRUE(is_harmless(staged.error().message())) << staged.error().message();
    EXPECT_TRUE(is_harmless(staged.error().hint()));
    EXPECT_THAT(staged.error().message(), HasSubstr("no room"));
    const auto status = target->sync(job.spec.id.text(), job.context.directory, {}, after(5s), {});
    ASSERT_TRUE(status) << status.error().message();
    EXPECT_TRUE(is_harmless(status->reason)) << status->reason;
    const auto facts = target->facts({.host = host_of(job), .submitter_environment = {}}, {});
    ASSERT_TRUE(facts);
    EXPECT_TRUE(is_harmless((*facts)["facts"].text("os")));
    EXPECT_TRUE(is_harmless((*facts)["problems"].as_array().at(0).text("what")));
}

TEST_F(HostileHosts, GetALoginOnlyWhenTheyCannotDoWithoutAndOnlyForTheImage)
{
    for (const bool has_image : {true, false}) {
        auto job = make_job();
        job.spec.runtime.container = model::Container{.image = "registry.example/team/base:1"};
        job.context.login.username = "ann";
        job.context.login.password = "pa55word";
        std::vector<std::string> heard;
        const auto target = executor([&](const Frame& request) -> std::vector<Frame> {
            const auto password = request.head["context"]["login"].text("password");
            heard.push_back(request.head.text("call") + " " + password);
            if (!has_image && password.empty() && request.head.text("call") == "stage")
                return {answer({{"login", true},
                                {"error", error_to_json(Error(ErrorKind::not_found, "denied"))}})};
            return {answer({})};
        });

        ASSERT_TRUE(target->stage(job, {}, {}));
        ASSERT_TRUE(target->launch(job, {}));

        if (has_image) {
            EXPECT_THAT(heard, testing::ElementsAre("stage ", "launch "));
        } else {
            EXPECT_THAT(heard, testing::ElementsAre("stage ", "stage pa55word", "launch "));
        }
    }
}

TEST_F(HostileHosts, WithoutALoginForThemTheirErrorIsTold)
{
    auto job = make_job();
    job.spec.runtime.container = model::Container{.image = "registry.example/team/base:1"};
    job.context.submitter_environment = {"HOME=/nowhere", "PATH=/nowhere"};
    int places = 0;
    const auto target = executor([&](const Frame&) -> std::vector<Frame> {
        ++places;
        return {answer(
            {{"login", true}, {"error", error_to_json(Error(ErrorKind::not_found, "denied"))}})};
    });

    const auto staged = target->stage(job, {}, {});

    ASSERT_FALSE(staged);
    EXPECT_EQ(staged.error().message(), "denied");
    EXPECT_EQ(places, 1);
}

TEST_F(HostileHosts, CannotFillOurMemoryOrDiskWithProgress)
{
    const auto target = executor([](const Frame&) -> std::vector<Frame> {
        std::vector<Frame> out(
            2000, {FrameKind::progress, 0, JsonObject{{"line", std::string(5000, 'x')}}, {}});
        out.push_back(answer({}));
        return out;
    });
    std::uint64_t heard = 0;
    std::size_t longest = 0;

    const auto staged = target->stage(make_job(),
                                      [&](const std::string& line) {
                                          heard += line.size();
                                          longest = std::max(longest, line.size());
                                      },
                                      {});

    ASSERT_TRUE(staged) << staged.error().message();
    EXPECT_LE(longest, longest_line);
    EXPECT_GT(heard, 0U);
    EXPECT_LE(heard, 5U << 20U);
    EXPECT_FALSE(
        encode({FrameKind::progress, 1, JsonObject{{"line", std::string(longest_word, 'x')}}, {}}));
}

TEST_F(HostileHosts, AFullDiskIsToldWithTheMachine)
{
    const auto target = executor([](const Frame&) -> std::vector<Frame> {
        return {{FrameKind::failure, 0, error_to_json(system_error(ENOSPC, "write 'x'")), {}}};
    });

    const auto staged = target->stage(make_job(), {}, {});

    ASSERT_FALSE(staged);
    EXPECT_THAT(staged.error().message(), HasSubstr("'host': write 'x'"));
    EXPECT_THAT(staged.error().hint(), HasSubstr("On 'host': The disk is full"));
}

// The machine removes what it was told we have.
TEST_F(HostileHosts, HearThatAllIsHereOnlyWhenItIs)
{
    for (const bool outputs : {false, true}) {
        for (const int left_out : {0, 2}) {
            std::vector<std::string> heard;
            const auto target = executor([&](const Frame& request) -> std::vector<Frame> {
                heard.push_back(request.head.text("call"));
                return heard.back() == "sync" ? end({{"outputs", outputs}, {"left_out", left_out}})
                                              : std::vector<Frame>{answer({})};
            });
            const auto job = make_job();
            ASSERT_TRUE(target->stage(job, {}, {}));

            const auto status =
                target->sync(job.spec.id.text(), job.context.directory, {}, after(5s), {});

            ASSERT_TRUE(status && status->exit);
            if (outputs) {
                ASSERT_TRUE(target->collect(job.spec.id.text(), job.context.directory, {}, {}));
            }
            EXPECT_EQ(std::count(heard.begin(), heard.end(), "collected"), left_out == 0 ? 1 : 0);
        }
    }
}

TEST_F(HostileHosts, ProblemsOfTheirGarbageAreToldWithTheMachine)
{
    const auto target = executor([](const Frame& request) -> std::vector<Frame> {
        if (request.head.text("call") != "collect-environments") return {answer({})};
        return {answer({{"garbage",
                         JsonObject{{"removed", JsonArray()},
                                    {"freed", 0},
                                    {"problems", JsonArray{"environment 'x' stays"}}}}})};
    });
    ASSERT_TRUE(target->stage(make_job(), {}, {}));

    const auto garbage = target->collect_environment_garbage({}, {});

    ASSERT_TRUE(garbage) << garbage.error().message();
    EXPECT_THAT(garbage->problems, testing::ElementsAre("'host': environment 'x' stays"));
}

TEST(ShownText, KeepsLinesOfToolsApartFromOurs)
{
    EXPECT_EQ(shown_text("pip failed:\n  no such package"), "pip failed:\n      no such package");
    EXPECT_LT(shown_text(std::string(1 << 20, 'x')).size(), 100'000U);
    EXPECT_EQ(shown_texts(JsonObject{{"lock", "a\n"}, {"k", "a\tb"}}).text("lock"), "a\n");
}

}  // namespace
}  // namespace ponk::executor::remote
