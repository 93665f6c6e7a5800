// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::os {

// The text must equal the file of tests/golden. PONK_UPDATE_GOLDEN=1 writes the file instead.
inline void expect_golden(const Path& file, const std::string& text)
{
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(make_directories(file.parent_path(), 0755));
        ASSERT_TRUE(replace_file(file, text, 0644));
    }
    const auto golden = read_file(file);
    ASSERT_TRUE(golden) << file << " is not there; PONK_UPDATE_GOLDEN=1 writes it";
    EXPECT_EQ(text, *golden) << "differs from " << file
                             << "; when that is meant, PONK_UPDATE_GOLDEN=1 writes it";
}

}  // namespace ponk::os
