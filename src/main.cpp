// SPDX-License-Identifier: Apache-2.0
#include "cli/main.hpp"

int main(int argc, char** argv)
{
    return ponk::cli::main_entry(argc, argv, {});
}
