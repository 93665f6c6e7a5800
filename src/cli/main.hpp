// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/entry.hpp"

namespace ponk::cli {

int main_entry(int argc, char** argv, const Entry& entry);

}  // namespace ponk::cli
