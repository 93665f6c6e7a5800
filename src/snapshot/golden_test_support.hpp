// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#ifndef PONK_GOLDEN_FOLDER  // the build names it
#define PONK_GOLDEN_FOLDER "tests/golden/snapshot"
#endif

namespace ponk::snapshot {

// Compares with tests/golden/snapshot/NAME; PONK_UPDATE_GOLDEN=1 writes it instead.
inline void expect_golden(const std::string& name, std::string_view bytes)
{
    const auto path = os::Path(PONK_GOLDEN_FOLDER) / name;
    if (std::getenv("PONK_UPDATE_GOLDEN")) {
        ASSERT_TRUE(os::make_directories(path.parent_path(), 0755));
        ASSERT_TRUE(os::replace_file(path, bytes, 0644));
    }
    const auto golden = os::read_file(path);
    ASSERT_TRUE(golden) << golden.error().message();
    EXPECT_TRUE(*golden == bytes) << name << " differs from what is written now";
}

}  // namespace ponk::snapshot
