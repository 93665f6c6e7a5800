// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/host_setup.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

HostSurvey plain_debian()
{
    return parse_survey("system=Debian GNU/Linux 12 (bookworm)\nlike=debian \nuser=ann\nuid=1000\n"
                        "groups=ann users\napt=yes\nsudo=yes\nsudo_free=no\ndocker=no\nanswers=no\n"
                        "live=no\npython=yes\nvenv=no\n");
}

std::vector<std::string> ids_of(const SetupPlan& plan)
{
    std::vector<std::string> ids;
    for (const auto& step : plan.steps)
        ids.push_back(step.id);
    return ids;
}

TEST(HostSetup, ReadsWhatTheMachineSays)
{
    const auto survey = plain_debian();

    EXPECT_EQ(survey.system, "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(survey.user, "ann");
    EXPECT_TRUE(survey.is_debian && survey.has_apt && survey.has_python);
    EXPECT_FALSE(survey.is_root || survey.has_docker || survey.has_venv || survey.in_docker_group);
    EXPECT_EQ(survey.sudo, HostSurvey::Sudo::asks);
}

TEST(HostSetup, APlainMachineGetsEveryStepInOrder)
{
    const auto plan = plan_setup(plain_debian(), HostRole::containers).value();

    EXPECT_EQ(ids_of(plan),
              (std::vector<std::string>{"packages", "live-restore", "service", "group"}));
    EXPECT_EQ(plan.packages, std::vector<std::string>{"docker.io"});
}

TEST(HostSetup, AMachineWithoutContainersNeedsPythonOnly)
{
    const auto plan = plan_setup(plain_debian(), HostRole::python).value();

    EXPECT_EQ(ids_of(plan), std::vector<std::string>{"packages"});
    EXPECT_EQ(plan.packages, std::vector<std::string>{"python3-venv"});
}

TEST(HostSetup, NothingIsDoneToAMachineThatHasAll)
{
    auto survey = plain_debian();
    survey.has_docker = survey.docker_answers = survey.in_docker_group = survey.live_restore = true;
    survey.sudo = HostSurvey::Sudo::none;

    EXPECT_TRUE(plan_setup(survey, HostRole::containers)->steps.empty());
}

TEST(HostSetup, WithoutRightsTheOwnerIsToldWhatToDo)
{
    auto survey = plain_debian();
    survey.sudo = HostSurvey::Sudo::none;

    const auto plan = plan_setup(survey, HostRole::containers);

    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().message().find("no sudo"), std::string::npos);
    EXPECT_NE(plan.error().hint().find("docker.io"), std::string::npos);
}

TEST(HostSetup, OtherSystemsAreLeftAlone)
{
    auto survey = plain_debian();
    survey.is_debian = false;
    survey.system = "Fedora Linux 40";

    const auto plan = plan_setup(survey, HostRole::containers);

    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().message().find("Fedora Linux 40"), std::string::npos);
}

}  // namespace
}  // namespace ponk::cli
