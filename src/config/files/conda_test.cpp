// SPDX-License-Identifier: Apache-2.0
#include "config/files/conda.hpp"
#include "config/files/package.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

std::string remarks(std::string_view text)
{
    Report report("f");
    (void)read_conda(tree_of(text), report);
    return remarks_of(report.take());
}

TEST(Conda, ReadsBothLists)
{
    Report report("f");
    const auto environment = read_conda(tree_of("name: project_environment\n"
                                                "channels: [conda-forge]\n"
                                                "dependencies:\n"
                                                "- python=3.11.2\n"
                                                "- conda-forge::xgboost>=1.0\n"
                                                "- pip:\n"
                                                "  - h5py==2.7.0 \n"
                                                "  - --index-url https://example.org/simple\n"
                                                "  - SimpleITK\n"),
                                        report);
    EXPECT_EQ(remarks_of(report.take()), "");
    EXPECT_EQ(*environment.python_version, "3.11.2");
    ASSERT_EQ(environment.conda.size(), 2U);
    EXPECT_EQ(environment.conda[1].channel, "conda-forge");
    EXPECT_EQ(environment.conda[1].name, "xgboost");
    EXPECT_EQ(environment.conda[1].version, ">=1.0");
    ASSERT_EQ(environment.pip.size(), 3U);
    EXPECT_EQ(environment.pip[0].text, "h5py==2.7.0");
    EXPECT_EQ(environment.pip[1].kind, Package::Kind::option);
    EXPECT_EQ(environment.pip[2].name, "simpleitk");
    EXPECT_EQ(environment.pip[2].place, (Place{9, 5}));
}

TEST(Conda, RemarksOnPackages)
{
    const std::pair<std::string, const char*> pip[] = {
        {"numpy", ""},
        {"tensorflow-gpu", "4:5 warning package-gone"},
        {"azure_ml_api_sdk", ""},
        {"sklearn", "4:5 warning wrong-package-name"},
        {"json", "4:5 warning stdlib-package"},
        {"tensorflow=1.3.0", "4:5 warning pip-single-equals"},
        {"a==1#2", "4:5 warning comment-without-blank"},
        {"https://cntk.ai/PythonWheel/GPU/cntk-2.1-cp36-cp36m-linux_x86_64.whl",
         "4:5 warning url-gone"},
        {"https://example.org/a-1-cp35-cp35m-win_amd64.whl", "4:5 warning wheel-platform"},
        {"https://example.org/a-1-cp35-cp35m-manylinux1_x86_64.whl", ""},
        {"https://example.org/a-1-py3-none-any.whl?se=2018-06-03T18%3A57Z&sig=x",
         "4:5 warning signed-url"},
        {"https://example.org/a-1-py3-none-any.whl?sig=x", "4:5 warning signed-url"},
        {"/share/a-1-py3-none-any.whl", "4:5 notice local-path"},
        {"~/a-1-py3-none-any.whl", "4:5 notice local-path"},
        {"./wheels/a-1-py3-none-any.whl", ""},
        {"wheels/a-1-py3-none-any.whl", ""},
        {"--index-url https://azuremldownloads.azureedge.net/x", "4:5 warning url-gone"},
        {"\"a: b\"", ""},
        {"a: b", "4:5 error wrong-type"},
    };
    for (const auto& [item, expected] : pip) {
        EXPECT_EQ(remarks("dependencies:\n- numpy\n- pip:\n  - " + item), expected) << item;
    }
    const std::pair<std::string, const char*> conda[] = {
        {"opencv", ""},
        {"python=3.5.2", "2:3 notice python-old"},
        {"python=3.12", ""},
        {"os", "2:3 warning stdlib-package"},
        {"--index-url x", "2:3 warning pip-item-in-conda-list"},
        {"a-1-py3-none-any.whl", "2:3 warning pip-item-in-conda-list"},
        {"Pip: [a]", "2:3 error wrong-case"},
        {"npm: [a]", "2:3 error unknown-key"},
        {"[a]", "2:3 error wrong-type"},
    };
    for (const auto& [item, expected] : conda) {
        EXPECT_EQ(remarks("dependencies:\n- " + item), expected) << item;
    }
    EXPECT_EQ(remarks("dependencies: numpy"), "1:15 error wrong-type");
    EXPECT_EQ(remarks("pip: [numpy]"), "1:1 error misplaced-key");
    EXPECT_EQ(remarks("dependencies:\n- python=3.9\n- pip:\n  - "
                      "https://example.org/a-1-cp35-cp35m-linux_x86_64.whl"),
              "4:5 warning wheel-python");
    EXPECT_EQ(remarks("dependencies:\n"), "");
    EXPECT_EQ(remarks("dependencies:\n  - a\n  # - b\n  -\n  - c\n"), "4:3 error empty-item");
}

TEST(Conda, KnowsWhichWheelFits)
{
    const auto tags = wheel_tags("https://x/cntk_gpu-2.1-cp35-cp35m-linux_x86_64.whl?a=b");
    ASSERT_TRUE(tags);
    EXPECT_EQ(tags->name, "cntk_gpu");
    EXPECT_TRUE(wheel_fits_linux(*tags));
    EXPECT_TRUE(wheel_fits_python(*tags, "3.5.2"));
    EXPECT_FALSE(wheel_fits_python(*tags, "3.6.2"));
    EXPECT_TRUE(wheel_fits_python(*wheel_tags("a-1-cp35-abi3-linux_x86_64.whl"), "3.9"));
    EXPECT_FALSE(wheel_fits_python(*wheel_tags("a-1-cp39-abi3-linux_x86_64.whl"), "3.8"));
    EXPECT_TRUE(wheel_fits_python(*wheel_tags("a-1-py2.py3-none-any.whl"), "3.9"));
    EXPECT_FALSE(wheel_fits_python(*wheel_tags("a-1-py2-none-any.whl"), "3.9"));
    EXPECT_FALSE(wheel_fits_linux(*wheel_tags("a-1-1-cp35-none-macosx_10_9_x86_64.whl")));
    EXPECT_FALSE(wheel_tags("numpy"));
}

}  // namespace
}  // namespace ponk::config
