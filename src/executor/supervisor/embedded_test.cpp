// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/embedded.hpp"
#include "os/carried_program.hpp"

#include <gtest/gtest.h>

namespace ponk::executor {
namespace {

TEST(Embedded, TheSupervisorForThisMachineIsAProgram)
{
    const auto binary = stub_binary(os::own_processor());

    ASSERT_TRUE(binary);
    EXPECT_TRUE(binary->starts_with("\x7f"
                                    "ELF"));
}

TEST(Embedded, AnUnknownProcessorIsNamed)
{
    const auto binary = stub_binary("pdp11");

    ASSERT_FALSE(binary);
    EXPECT_NE(binary.error().message().find("pdp11"), std::string::npos);
    EXPECT_FALSE(binary.error().hint().empty());
}

TEST(Embedded, ModulesAreWrittenOnce)
{
    const auto lib = os::make_temporary_directory(testing::TempDir(), "lib-").value();

    const auto first = install_python_modules(lib);
    const auto second = install_python_modules(lib);

    ASSERT_TRUE(first);
    EXPECT_EQ(*first, *second);
    EXPECT_TRUE(std::filesystem::exists(*first / "ponk/__init__.py"));
    EXPECT_TRUE(std::filesystem::exists(*first / "azureml/logging/__init__.py"));
    EXPECT_TRUE(os::remove_tree(lib));
}

}  // namespace
}  // namespace ponk::executor
