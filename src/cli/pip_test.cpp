// SPDX-License-Identifier: Apache-2.0
#include "cli/pip.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

bool refuses(const std::vector<std::string>& words, const std::string& built_from = "")
{
    return advise_on_pip(words, built_from).refusal.has_value();
}

TEST(Pip, IsToldWhatTookThePlaceOfAPackageThatIsGone)
{
    const auto advice = advise_on_pip({"install", "tensorflow-gpu==1.4.0"}, "");
    ASSERT_TRUE(advice.refusal);
    EXPECT_NE(advice.refusal->find("'tensorflow-gpu' was withdrawn from PyPI"), std::string::npos);
    EXPECT_NE(advice.refusal->find("pip install 'tensorflow[and-cuda]'"), std::string::npos);
    EXPECT_NE(advice.refusal->find("nothing was installed"), std::string::npos);
}

TEST(Pip, FindsThemWhereverAndHoweverTheyAreWritten)
{
    EXPECT_TRUE(refuses({"install", "-U", "numpy", "TensorFlow_GPU"}));
    EXPECT_TRUE(refuses({"--proxy", "p", "install", "--index-url", "x", "cntk-gpu"}));
    EXPECT_TRUE(refuses({"install", "--", "tensorflow-gpu[x]>=1.0; python_version < '3.7'"}));
    EXPECT_TRUE(refuses({"download", "tensorflow-gpu"}));
    EXPECT_TRUE(refuses({"--resume-retries", "3", "install", "tensorflow-gpu"}));
    EXPECT_TRUE(refuses({"--default-timeout", "3", "install", "tensorflow-gpu"}));
    EXPECT_TRUE(refuses({"wheel", "-w", "folder", "tensorflow-gpu"}));
    EXPECT_TRUE(refuses({"--prox", "p", "install", "tensorflow-gpu"}));
    EXPECT_TRUE(refuses({"--proxy=p", "install", "--pre", "tensorflow-gpu"}));
}

TEST(Pip, IsLeftAloneOtherwise)
{
    EXPECT_FALSE(refuses({}));
    EXPECT_FALSE(refuses({"list"}));
    EXPECT_FALSE(refuses({"uninstall", "tensorflow-gpu"}));
    EXPECT_FALSE(refuses({"install", "tensorflow"}));
    EXPECT_FALSE(refuses({"install", "./tensorflow-gpu"}));
    EXPECT_FALSE(refuses({"install", "-t", "tensorflow-gpu", "numpy"}));
    EXPECT_FALSE(refuses({"wheel", "--wheel-dir", "tensorflow-gpu", "numpy"}));
    EXPECT_FALSE(refuses({"install", "--targ", "tensorflow-gpu", "numpy"}));
    EXPECT_FALSE(refuses({"install", "tensorflow_gpu-1.4.0-cp36-cp36m-manylinux1_x86_64.whl"}));
}

TEST(Pip, InstallsWhatIsStillThereAndSaysWhatIsBetter)
{
    const auto advice = advise_on_pip({"install", "azure-storage-file"}, "");
    EXPECT_FALSE(advice.refusal);
    EXPECT_NE(advice.advice.find("was renamed"), std::string::npos);
}

TEST(Pip, DoesNotChangeAnEnvironmentThatRunsShare)
{
    EXPECT_TRUE(refuses({"install", "numpy"}, "requirements.txt"));
    EXPECT_TRUE(refuses({"uninstall", "numpy"}, "requirements.txt"));
    EXPECT_TRUE(refuses({"--new-option", "x", "install", "numpy"}, "requirements.txt"));
    EXPECT_FALSE(refuses({"list"}, "requirements.txt"));
}

}  // namespace
}  // namespace ponk::cli
