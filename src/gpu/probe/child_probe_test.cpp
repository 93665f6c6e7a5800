// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/child_probe.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace ponk::gpu {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Programs are shell scripts here: any language can speak the protocol.
class Child : public testing::Test {
protected:
    Path script(const std::string& text)
    {
        const auto path = folder_.path() / "probe.sh";
        EXPECT_TRUE(os::replace_file(path, "#!/bin/sh\n" + text, 0700, os::Durable::no));
        return path;
    }

    os::TestFolder folder_;
    std::vector<std::string> environment_{"PATH=/usr/bin:/bin"};
};

constexpr const char* answering = R"(
while read request; do
  case $request in
    inventory) echo '{"devices":[{"uuid":"GPU-1"}]}' ;;
    sample) echo '{"time":7,"devices":[{"uuid":"GPU-1","utilisation":0.5}]}' ;;
  esac
done
)";

TEST_F(Child, AnswersAreReadAndTheProgramsNameIsTheWay)
{
    ChildProbe probe(script(answering), environment_);

    const auto found = probe.inventory(after(20s), {});
    const auto sample = probe.sample(after(20s), {});

    ASSERT_TRUE(found && sample);
    EXPECT_EQ(found->way, "probe.sh");
    EXPECT_EQ(sample->time, 7);
    EXPECT_DOUBLE_EQ(sample->devices.at(0).utilisation.value(), 0.5);
}

TEST_F(Child, OneThatDiesIsStartedAgainOnce)
{
    const auto marks = folder_.path() / "starts";
    const auto program = fmt::format("echo x >> {}\n", marks.native()) + "[ $(wc -l < " +
                         marks.native() + ") = 2 ] || { read request; exit 3; }\n" + answering;
    ChildProbe probe(script(program), environment_);

    ASSERT_TRUE(probe.inventory(after(20s), {}));  // the second start answers
    ASSERT_TRUE(probe.sample(after(20s), {}));
    EXPECT_EQ(os::read_file(marks).value(), "x\nx\n");
}

TEST_F(Child, OneThatKeepsDyingIsToldWithItsCode)
{
    const auto marks = folder_.path() / "starts";
    ChildProbe probe(script(fmt::format("echo x >> {}; exit 3", marks.native())), environment_);

    const auto found = probe.inventory(after(20s), {});

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(found.error().message(), HasSubstr("ended with code 3 before it answered"));
    EXPECT_EQ(os::read_file(marks).value(), "x\nx\n");
}

TEST_F(Child, OneThatHangsIsKilledAndItsLateAnswerIsNotTakenForAnother)
{
    const auto flag = folder_.path() / "flag";
    ChildProbe probe(script(fmt::format("[ -e {0} ] || sleep 100\n", flag.native()) + answering),
                     environment_);

    const auto silent = probe.sample(after(100ms), {});
    ASSERT_TRUE(os::replace_file(flag, ""));
    const auto sample = probe.sample(after(20s), {});

    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(silent.error().message(), HasSubstr("did not answer in time"));
    ASSERT_TRUE(sample) << sample.error().message();
    EXPECT_EQ(sample->time, 7);
}

TEST_F(Child, StopEndsTheWait)
{
    ChildProbe probe(script("sleep 100"), environment_);
    std::stop_source source;
    std::jthread stopper([&] { source.request_stop(); });

    const auto found = probe.inventory(after(60s), source.get_token());

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::cancelled);
}

TEST_F(Child, RubbishIsRefusedByName)
{
    ChildProbe probe(script("read request; echo 'hello'; sleep 100"), environment_);

    const auto found = probe.inventory(after(20s), {});

    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind(), ErrorKind::damaged);
    EXPECT_THAT(found.error().message(), HasSubstr("it answered 'hello'"));
}

TEST_F(Child, ProgramThatCannotBeExecutedIsAnError)
{
    EXPECT_EQ(ChildProbe("/nowhere/probe", environment_).inventory(after(20s), {}).error().kind(),
              ErrorKind::not_found);
}

TEST_F(Child, CardThatIsNoLongerListedIsLost)
{
    const auto flag = folder_.path() / "flag";
    ChildProbe probe(script("read request; echo '{\"devices\":[{\"uuid\":\"GPU-1\"},{\"uuid\":"
                            "\"GPU-2\"}]}'\nread request; echo '{\"time\":1,\"devices\":[{\"uuid\":"
                            "\"GPU-1\"}]}'; read request"),
                     environment_);
    ASSERT_TRUE(probe.inventory(after(20s), {}));

    const auto sample = probe.sample(after(20s), {});

    ASSERT_TRUE(sample);
    ASSERT_EQ(sample->devices.size(), 2U);
    EXPECT_EQ(sample->devices[0].lost, "");
    EXPECT_EQ(sample->devices[1].uuid, "GPU-2");
    EXPECT_NE(sample->devices[1].lost, "");
}

}  // namespace
}  // namespace ponk::gpu
