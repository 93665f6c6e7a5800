// SPDX-License-Identifier: Apache-2.0
#include "daemon/agent_programs.hpp"

#include "base/text.hpp"
#include "executor/supervisor/embedded.hpp"
#include "os/carried_program.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

namespace ponk::daemon {

namespace {

constexpr std::string_view prefix = "ponk-agent-";

}  // namespace

AgentPrograms::AgentPrograms(std::string_view embedded, os::Path beside)
    : embedded_(embedded), beside_(std::move(beside))
{
}

std::vector<std::string> AgentPrograms::processors() const
{
    std::vector<std::string> out;
    if (!embedded_.empty()) out.push_back(os::own_processor());
    const auto entries = os::list_directory(beside_);
    if (!entries) return out;
    for (const auto& entry : *entries) {
        if (!entry.name.starts_with(prefix)) continue;
        const auto processor = entry.name.substr(prefix.size());
        // It becomes a word of a shell.
        const bool plain = !processor.empty() &&
                           processor.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                               std::string::npos;
        if (plain && processor != os::own_processor()) out.push_back(processor);
    }
    return out;
}

Result<std::string> AgentPrograms::find(const std::string& processor) const
{
    if (processor == os::own_processor() && !embedded_.empty()) return std::string(embedded_);
    const auto name = std::string(prefix) + printable(processor);
    const auto file = beside_ / name;
    auto bytes = os::read_file(file);
    if (bytes) return bytes;
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("this ponk contains no program for machines with '{}' processors",
                          printable(processor)),
              fmt::format("Build '{}' (preset agent-{}) or copy it from a ponk for that processor, "
                          "and put it at {}.",
                          name,
                          printable(processor),
                          os::in_quotes(file))));
}

os::Path folder_beside_program()
{
    return (os::own_program().parent_path() / "../lib/ponk").lexically_normal();
}

}  // namespace ponk::daemon
