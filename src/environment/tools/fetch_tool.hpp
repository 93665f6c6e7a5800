// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/tools/rattler.hpp"

#include <string>

namespace ponk::environment {

// A conda tool that PONK_CONDA names by its address.
struct ToolAddress {
    std::string url;
    std::string digest;  // SHA-256
    std::string name;    // "micromamba"
};

// "https://…/micromamba-linux-64#sha256=…". The checksum must be there: what it names is executed.
Result<ToolAddress> parse_tool_address(const std::string& text);

// Brings it once to $PONK_HOME/tools; `carrier` is a Python of version 3.
Result<Path>
fetch_tool(const ToolAddress& address, const Python& carrier, const BuildContext& context);

}  // namespace ponk::environment
