// SPDX-License-Identifier: Apache-2.0
#include "engine/run/old_names.hpp"

#include <gmock/gmock.h>

namespace ponk::engine {
namespace {

using testing::HasSubstr;

std::string advice(const std::string& line)
{
    return advise_on_old_names("Traceback (most recent call last):\n" + line + "\nmore\n", {})
        .value_or("");
}

TEST(OldNames, AreRecognisedInTracebacks)
{
    EXPECT_EQ(advice("ModuleNotFoundError: No module named 'sklearn.cross_validation'"),
              "'sklearn.cross_validation' was removed in scikit-learn 0.20. Use "
              "'sklearn.model_selection'. 'ponk check SCRIPT' lists all such names.");
    EXPECT_THAT(advice("ImportError: cannot import name 'imread' from 'scipy.misc' (/x/y.py)"),
                HasSubstr("imageio.imread"));
    EXPECT_THAT(advice("AttributeError: module 'tensorflow' has no attribute 'placeholder'"),
                HasSubstr("tensorflow.compat.v1.placeholder"));
    EXPECT_THAT(advice("AttributeError: 'DataFrame' object has no attribute 'ix'"),
                HasSubstr("'.loc['"));
    EXPECT_THAT(advice("AttributeError: module 'numpy' has no attribute 'float'."),
                HasSubstr("numpy.float64"));
    EXPECT_THAT(advice("ModuleNotFoundError: No module named 'cv2'"), HasSubstr("'opencv-python'"));
    EXPECT_THAT(advice("ModuleNotFoundError: No module named 'azureml.nonsense'"),
                HasSubstr("'azureml-core'"));
    EXPECT_THAT(advice("ModuleNotFoundError: No module named 'azureml.api.schema.schemaUtil'"),
                HasSubstr("web services"));
}

TEST(OldNames, TheImportTellsWhichModuleOfAMissingPackageWasMeant)
{
    const std::string missing = "ModuleNotFoundError: No module named 'azure'";
    EXPECT_THAT(advice("  File \"score.py\", line 1, in <module>\n"
                       "    from azure.ml.api.schema.dataTypes import DataTypes\n" +
                       missing),
                HasSubstr("Use 'azureml.api'"));
    EXPECT_THAT(advice("    import azure.ml.api\n" + missing), HasSubstr("Use 'azureml.api'"));
    EXPECT_EQ(advice("    from azure.other import x\n" + missing), "");
    EXPECT_EQ(advice("    from azure.ml.api import x\n1\n2\n3\n4\n5\n6\n" + missing), "");
}

TEST(OldNames, OtherFailuresGetNoAdvice)
{
    EXPECT_EQ(advice("ModuleNotFoundError: No module named 'mine'"), "");
    EXPECT_EQ(advice("AttributeError: module 'numpy' has no attribute 'float32x'"), "");
    EXPECT_EQ(advice("AttributeError: 'Mine' object has no attribute 'ix'"), "");
    EXPECT_EQ(advice("No module named 'cntk'"), "");
    EXPECT_EQ(advise_on_old_names("", {}), std::nullopt);
}

TEST(OldNames, TheAdviceNamesThePlaceOfThePackages)
{
    const auto* const log = "ModuleNotFoundError: No module named 'sklearn'";
    model::RunSpec spec;
    EXPECT_THAT(*advise_on_old_names(log, spec), HasSubstr("install it for the Python that ran"));
    spec.environment.prefix = ".venv";
    EXPECT_THAT(*advise_on_old_names(log, spec), HasSubstr("install it into '.venv'"));
    spec.environment.file = "aml_config/conda_dependencies.yml";
    EXPECT_THAT(*advise_on_old_names(log, spec),
                HasSubstr("'scikit-learn': add it to 'aml_config/conda_dependencies.yml'"));
}

}  // namespace
}  // namespace ponk::engine
