// SPDX-License-Identifier: Apache-2.0
// A machine that answers what it should not.
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "snapshot/take_snapshot.hpp"
#include "target/remote/message.hpp"
#include "target/remote/object_peer.hpp"
#include "target/remote/remote_executor.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace ponk::target::remote {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const auto ignored = ::signal(SIGPIPE, SIG_IGN);

// Speaks the protocol and says what a test wants it to say.
class HostileBox {
public:
    using Answers = std::function<std::vector<Frame>(const Frame& request)>;
    explicit HostileBox(Answers answers) : answers_(std::move(answers)) {}

    Result<Stream> connect()
    {
        auto in = TRY(os::make_pipe());
        auto out = TRY(os::make_pipe());
        auto serving = std::make_shared<std::jthread>(
            [this, in = std::move(in.read), out = std::move(out.write)](
                const std::stop_token& stop) { serve(in, out, stop); });
        return Stream{std::move(out.read), std::move(in.write), [serving] {}, {}};
    }

private:
    void serve(const os::Fd& in, const os::Fd& out, const std::stop_token& stop)
    {
        const auto say = [&out](const Frame& frame) {
            static_cast<void>(os::write_all(out.get(), encode(frame).value()));
        };
        static_cast<void>(os::write_all(out.get(), greeting));
        say({FrameKind::hello, 0, to_json(Hello{.boot = "b", .home = "/h"}), {}});
        FrameParser parser;
        for (;;) {
            const auto bytes = read_some(in.get(), after(60s), stop);
            if (!bytes || bytes->empty()) return;
            parser.take(*bytes);
            while (const auto frame = parser.next().value()) {
                if (frame->kind != FrameKind::request) continue;
                for (auto answer : answers_(*frame)) {
                    answer.request = frame->request;
                    say(answer);
                }
            }
        }
    }

    Answers answers_;
};

class HostileBoxes : public testing::Test {
protected:
    // An executor whose only machine gives these answers.
    std::unique_ptr<Executor> executor(HostileBox::Answers answers)
    {
        box_ = std::make_unique<HostileBox>(std::move(answers));
        const auto boxes =
            std::make_shared<BoxPool>([this](const BoxAddress&, Deadline, const std::stop_token&) {
                return box_->connect();
            });
        return make_executor({folder_.path() / "home", "remotedocker", objects_, boxes, {}})
            .value();
    }
    JobSpec job()
    {
        EXPECT_TRUE(os::make_directories(folder_.path() / "project"));
        EXPECT_TRUE(os::replace_file(folder_.path() / "project/train.py", "print(1)"));
        snapshot::SnapshotOptions options;
        options.directory = folder_.path() / "project";
        options.git = snapshot::SnapshotOptions::Git::skip;
        JobSpec spec;
        spec.id = RunId::make();
        spec.directory = folder_.path() / "runs" / spec.id.text();
        spec.source = options.directory;
        spec.snapshot = snapshot::take_snapshot(objects_, options).value().id;
        spec.box.address = "box";
        return spec;
    }
    static Frame answer(JsonObject head, std::string payload = {})
    {
        return {FrameKind::answer, 0, std::move(head), std::move(payload)};
    }

    os::TestFolder folder_;
    snapshot::ObjectStore objects_ = *snapshot::ObjectStore::open(folder_.path() / "store");
    std::unique_ptr<HostileBox> box_;
};

TEST_F(HostileBoxes, GetNoObjectsButThoseOfTheTree)
{
    const auto secret = objects_.put("another project's secret").value();
    const auto spec = job();
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
        if (call != "place") return {answer({})};
        if (++places > 2) return {answer({})};
        return {answer({{"incomplete", true}, {"manifest", places == 1}}, pack_digests({secret}))};
    });

    const auto placed = target->place(spec, {}, {});

    ASSERT_TRUE(placed) << placed.error().message();
    EXPECT_EQ(places, 3);
    EXPECT_THAT(sent, Each(Not(secret)));
    EXPECT_THAT(sent, testing::Contains(spec.snapshot));
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

TEST_F(HostileBoxes, CannotWriteOnTheTerminal)
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
    const auto spec = job();

    const auto placed = target->place(spec, {}, {});

    ASSERT_FALSE(placed);
    EXPECT_TRUE(is_harmless(placed.error().message())) << placed.error().message();
    EXPECT_TRUE(is_harmless(placed.error().hint()));
    EXPECT_THAT(placed.error().message(), HasSubstr("no room"));
    const auto status = target->sync(spec.id.text(), spec.directory, {}, after(5s), {});
    ASSERT_TRUE(status) << status.error().message();
    EXPECT_TRUE(is_harmless(status->reason)) << status->reason;
    const auto facts = target->facts({.box = spec.box, .ambient = {}}, {});
    ASSERT_TRUE(facts);
    EXPECT_TRUE(is_harmless((*facts)["facts"].text("os")));
    EXPECT_TRUE(is_harmless((*facts)["problems"].as_array().at(0).text("what")));
}

TEST_F(HostileBoxes, GetALoginOnlyWhenTheyCannotDoWithoutAndOnlyForTheImage)
{
    for (const bool has_image : {true, false}) {
        auto spec = job();
        spec.container.image = "registry.example/team/base:1";
        spec.container.registry_username = "ann";
        spec.container.registry_password = "pa55word";
        std::vector<std::string> heard;
        const auto target = executor([&](const Frame& request) -> std::vector<Frame> {
            const auto password = request.head["spec"]["container"].text("registry_password");
            heard.push_back(request.head.text("call") + " " + password);
            if (!has_image && password.empty() && request.head.text("call") == "place")
                return {answer({{"login", true},
                                {"error", error_to_json(Error(ErrorKind::not_found, "denied"))}})};
            return {answer({})};
        });

        ASSERT_TRUE(target->place(spec, {}, {}));
        ASSERT_TRUE(target->launch(spec, {}));

        if (has_image) {
            EXPECT_THAT(heard, testing::ElementsAre("place ", "launch "));
        } else {
            EXPECT_THAT(heard, testing::ElementsAre("place ", "place pa55word", "launch "));
        }
    }
}

TEST_F(HostileBoxes, WithoutALoginForThemTheirErrorIsTold)
{
    auto spec = job();
    spec.container.image = "registry.example/team/base:1";
    spec.ambient = {"HOME=/nowhere", "PATH=/nowhere"};
    int places = 0;
    const auto target = executor([&](const Frame&) -> std::vector<Frame> {
        ++places;
        return {answer(
            {{"login", true}, {"error", error_to_json(Error(ErrorKind::not_found, "denied"))}})};
    });

    const auto placed = target->place(spec, {}, {});

    ASSERT_FALSE(placed);
    EXPECT_EQ(placed.error().message(), "denied");
    EXPECT_EQ(places, 1);
}

TEST_F(HostileBoxes, CannotFillOurMemoryOrDiskWithProgress)
{
    const auto target = executor([](const Frame&) -> std::vector<Frame> {
        std::vector<Frame> out(
            2000, {FrameKind::progress, 0, JsonObject{{"line", std::string(5000, 'x')}}, {}});
        out.push_back(answer({}));
        return out;
    });
    std::uint64_t heard = 0;
    std::size_t longest = 0;

    const auto placed = target->place(job(),
                                      [&](const std::string& line) {
                                          heard += line.size();
                                          longest = std::max(longest, line.size());
                                      },
                                      {});

    ASSERT_TRUE(placed) << placed.error().message();
    EXPECT_LE(longest, longest_line);
    EXPECT_GT(heard, 0U);
    EXPECT_LE(heard, 5U << 20U);
    EXPECT_FALSE(
        encode({FrameKind::progress, 1, JsonObject{{"line", std::string(longest_word, 'x')}}, {}}));
}

TEST_F(HostileBoxes, AFullDiskIsToldWithTheMachine)
{
    const auto target = executor([](const Frame&) -> std::vector<Frame> {
        return {{FrameKind::failure, 0, error_to_json(system_error(ENOSPC, "write 'x'")), {}}};
    });

    const auto placed = target->place(job(), {}, {});

    ASSERT_FALSE(placed);
    EXPECT_THAT(placed.error().message(), HasSubstr("'box': write 'x'"));
    EXPECT_THAT(placed.error().hint(), HasSubstr("On 'box': The disk is full"));
}

TEST(ShownText, KeepsLinesOfToolsApartFromOurs)
{
    EXPECT_EQ(shown_text("pip failed:\n  no such package"), "pip failed:\n      no such package");
    EXPECT_LT(shown_text(std::string(1 << 20, 'x')).size(), 100'000U);
    EXPECT_EQ(shown_texts(JsonObject{{"lock", "a\n"}, {"k", "a\tb"}}).text("lock"), "a\n");
}

}  // namespace
}  // namespace ponk::target::remote
