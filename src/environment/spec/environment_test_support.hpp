// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"

#include <gtest/gtest.h>

namespace ponk::environment {

// The text of a conda file, read; remarks are none of the test's business.
inline config::CondaEnvironment conda_of(std::string_view text)
{
    config::Report report("conda.yml");
    const auto root = config::read_document(text, report);
    if (!root) {
        ADD_FAILURE() << "the text cannot be read";
        return {};
    }
    return config::read_conda(*root, report);
}

}  // namespace ponk::environment
