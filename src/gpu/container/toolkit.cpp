// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/toolkit.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace ponk::gpu {

namespace {

struct Hole {
    const char* name;
    std::array<unsigned, 3> fixed;
};

// From NVIDIA's security bulletins of September 2024, February and July 2025.
constexpr std::array holes{Hole{"CVE-2024-0132", {1, 16, 2}},
                           Hole{"CVE-2025-23359", {1, 17, 4}},
                           Hole{"CVE-2025-23266", {1, 17, 8}},
                           Hole{"CVE-2025-23267", {1, 17, 8}}};

}  // namespace

std::optional<Toolkit> parse_toolkit(std::string_view printed)
{
    const auto word = printed.find("version");
    if (word == std::string_view::npos) return std::nullopt;
    auto rest = printed.substr(word + std::string_view("version").size());
    rest.remove_prefix(std::min(rest.find_first_not_of(": \tv"), rest.size()));
    Toolkit toolkit;
    std::size_t at = 0;
    for (std::size_t part = 0; part < toolkit.version.size(); ++part) {
        const auto begin = at;
        while (at < rest.size() && std::isdigit(static_cast<unsigned char>(rest[at])) != 0)
            ++at;
        const auto number = parse_integer(rest.substr(begin, at - begin));
        if (!number || *number > 1'000'000) return std::nullopt;
        toolkit.version[part] = static_cast<unsigned>(*number);
        if (part + 1 == toolkit.version.size()) break;
        if (at >= rest.size() || rest[at] != '.') return std::nullopt;
        ++at;
    }
    // A candidate for a release comes before it, fixed or not.
    const auto behind = rest.substr(at, 3);
    const bool candidate = behind == "-rc" || behind == "~rc";
    toolkit.text = std::string(rest.substr(0, at)) + (candidate ? "-rc" : "");
    if (candidate && toolkit.version[2] > 0) --toolkit.version[2];
    return toolkit;
}

std::optional<Toolkit> find_toolkit(const AskProgram& ask)
{
    // Parts of different age can be installed: the older one counts.
    std::optional<Toolkit> oldest;
    for (const auto* program : {"nvidia-ctk", "nvidia-container-cli"}) {
        const auto printed = ask({program, "--version"});
        if (!printed) continue;
        auto toolkit = parse_toolkit(*printed);
        if (toolkit && (!oldest || toolkit->version < oldest->version)) oldest = toolkit;
    }
    return oldest;
}

std::string holes_of(const Toolkit& toolkit)
{
    std::vector<std::string> names;
    for (const auto& hole : holes)
        if (toolkit.version < hole.fixed) names.emplace_back(hole.name);
    return join(names, ", ");
}

}  // namespace ponk::gpu
