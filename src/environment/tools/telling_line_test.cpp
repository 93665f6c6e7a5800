// SPDX-License-Identifier: Apache-2.0
#include "environment/build/build_image.hpp"
#include "environment/tools/telling_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::environment {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* unknown_to_pip = "Looking in links: /w\n"
                                       "ERROR: Could not find a version that satisfies the "
                                       "requirement nosuch==9 (from versions: none)\n"
                                       "ERROR: No matching distribution found for nosuch==9\n"
                                       "[notice] A new release of pip is available\n";

constexpr const char* contradiction_for_pip =
    "ERROR: Cannot install a==1 and b==2 because these package versions have conflicting "
    "dependencies.\n"
    "ERROR: ResolutionImpossible: for help visit https://pip.example/topics\n";

constexpr const char* contradiction_for_conda =
    "solving for 2 conda packages\n"
    "no set of packages fits: Cannot solve the request because of: The following packages are "
    "incompatible\n"
    "├─ numpy ==1.13 can be installed with any of the following options:\n"
    "│  └─ numpy 1.13\n"
    "└─ scipy ==1.0 cannot be installed because there are no viable options:\n"
    "   └─ scipy 1.0 would require\n"
    "      └─ numpy >=1.14, which cannot be installed\n";

TEST(TellingLine, NamesThePackageThatIsAtFault)
{
    EXPECT_EQ(telling_line(unknown_to_pip), "No matching distribution found for nosuch==9");
    EXPECT_THAT(telling_line(contradiction_for_pip), StartsWith("Cannot install a==1 and b==2"));
    EXPECT_THAT(telling_line(contradiction_for_conda), HasSubstr("numpy ==1.13"));
    EXPECT_THAT(telling_line(contradiction_for_conda), HasSubstr("scipy ==1.0"));
    EXPECT_THAT(telling_line(contradiction_for_conda), Not(HasSubstr("─")));
    EXPECT_EQ(telling_line("one\ntwo:\n"), "two");
    EXPECT_EQ(telling_line("\n \n"), "");
}

TEST(TellingLine, AListThatCannotBeHadIsNoOutage)
{
    EXPECT_EQ(kind_of_failure(unknown_to_pip), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of_failure(contradiction_for_pip), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of_failure(contradiction_for_conda), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of_failure("Connection refused"), ErrorKind::unavailable);
}

TEST(TellingLine, FailedStepOfAnImageSaysWhyAndNotOnlyWhichCommand)
{
    const Error error(
        ErrorKind::unavailable,
        std::string("executor failed running [/usr/bin/python3 /x.py]: exit code: 1\n") +
            unknown_to_pip);
    const auto told = explain_build_failure(error, {});
    EXPECT_THAT(told.message(),
                StartsWith("a build step of the image failed: No matching distribution found for "
                           "nosuch==9\n"));
    EXPECT_THAT(told.message(), HasSubstr("executor failed running"));
    EXPECT_EQ(told.kind(), ErrorKind::invalid_argument);
    const auto network =
        explain_build_failure({ErrorKind::unavailable, "network bridge not found"}, {});
    EXPECT_THAT(network.hint(), HasSubstr("buildNetwork: host"));
}

}  // namespace
}  // namespace ponk::environment
