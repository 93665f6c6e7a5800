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

TEST(Embedded, WhatIsDamagedIsRewritten)
{
    const auto lib = os::make_temporary_directory(testing::TempDir(), "lib-").value();
    const auto stub = install_stub(lib).value();
    const auto relay = install_relay(lib).value();
    const auto python = install_python_modules(lib).value();
    EXPECT_TRUE(repair_installed(lib)->empty());
    auto flipped = os::read_file(stub).value();
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    ASSERT_TRUE(os::replace_file(stub, flipped, 0700));
    ASSERT_TRUE(os::replace_file(relay, "", 0700));
    ASSERT_TRUE(os::replace_file(python / "ponk/__init__.py", "", 0644));

    EXPECT_EQ(repair_installed(lib).value(), (std::vector<Path>{stub, relay, python}));

    EXPECT_EQ(os::read_file(stub).value(), stub_binary(os::own_processor()).value());
    EXPECT_TRUE(repair_installed(lib)->empty());
    std::filesystem::remove_all(python);
    ASSERT_TRUE(os::replace_file(python, "a file", 0644));
    EXPECT_EQ(install_python_modules(lib).value(), python);
    EXPECT_TRUE(repair_installed(lib)->empty());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(lib), {}), 3);
    EXPECT_TRUE(os::remove_tree(lib));
}

}  // namespace
}  // namespace ponk::executor
