// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/endpoint.hpp"
#include "executor/remote/link/host_advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::executor::remote {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const HostAddress host{{.address = "far.example", .port = 5022, .user = "ann"}, {}};

TEST(HostAdvice, EngineThatIsMissingNamesTheMachineAndTheCommandThatMendsIt)
{
    const Error error =
        dockerapi::explain_unreachable("/nowhere/docker.sock", {ErrorKind::unavailable, "x"});
    EXPECT_TRUE(dockerapi::is_engine_missing(error));
    const Error told = advise_for_host(error, host, "my host");
    EXPECT_THAT(told.message(),
                StartsWith("on 'ann@far.example:5022': no Docker engine: there is no socket "));
    EXPECT_THAT(told.hint(), HasSubstr("'ponk computetarget setup 'my host''"));
    EXPECT_THAT(told.hint(), HasSubstr("'ponk computetarget check 'my host''"));
    EXPECT_THAT(told.hint(), HasSubstr("By hand, on 'ann@far.example:5022': Install Docker"));
    EXPECT_EQ(told.kind(), ErrorKind::unreachable);
}

TEST(HostAdvice, OtherErrorsStayAndTheMachineIsNamedOnce)
{
    const Error other(ErrorKind::invalid_argument, "two packages conflict", "Loosen one.");
    EXPECT_EQ(advise_for_host(other, host, "host").message(), other.message());
    EXPECT_EQ(advise_for_host(other, host, "host").hint(), other.hint());
    const Error named(ErrorKind::unavailable,
                      "on 'ann@far.example:5022': no Docker engine listens at '/x'",
                      "Start it.");
    EXPECT_EQ(advise_for_host(named, host, "host").message(), named.message());
}

TEST(HostAdvice, RunsOnThisMachineHaveNoBoxToName)
{
    const Error error(ErrorKind::unavailable, "no Docker engine listens at 'x'", "Start it.");
    EXPECT_EQ(advise_for_host(error, {}, "docker").message(), error.message());
    EXPECT_EQ(advise_for_host(error, {}, "docker").hint(), "Start it.");
}

}  // namespace
}  // namespace ponk::executor::remote
