// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::daemon {

// The programs for other machines: the one inside this program, which has its own processor, and
// those that were installed beside it. A value.
class AgentPrograms {
public:
    // `embedded` is the one for this machine's processor; `beside` the folder of others,
    // `ponk-agent-PROCESSOR`.
    AgentPrograms(std::string_view embedded, os::Path beside);

    [[nodiscard]] std::vector<std::string> processors() const;
    // Fails with the next step when there is none for that processor.
    [[nodiscard]] Result<std::string> find(const std::string& processor) const;

private:
    std::string_view embedded_;
    os::Path beside_;
};

// BIN/../lib/ponk of the installed program.
os::Path folder_beside_program();

}  // namespace ponk::daemon
