// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/stand_in_state.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace ponk::nvml::stand_in {

std::string Section::text(const char* key) const
{
    const auto found = lines.find(key);
    return found == lines.end() ? "" : found->second;
}

std::vector<std::uint64_t> Section::numbers(const char* key) const
{
    std::istringstream words(text(key));
    std::vector<std::uint64_t> out;
    for (std::string word; words >> word;)
        out.push_back(word == "?" ? not_told : std::strtoull(word.c_str(), nullptr, 10));
    return out;
}

std::vector<Section> read_state()
{
    std::vector<Section> sections;
    const char* path = std::getenv("PONK_NVML_STAND_IN");
    std::ifstream file(path ? path : "");
    int card = -1;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == '[') {
            sections.push_back({line.substr(1, line.size() - 2), {}, -1});
            if (sections.back().kind == "gpu") card = static_cast<int>(sections.size()) - 1;
            if (sections.back().kind == "instance") sections.back().card = card;
            continue;
        }
        const auto equals = line.find(" = ");
        if (equals != std::string::npos && !sections.empty())
            sections.back().lines.emplace(line.substr(0, equals), line.substr(equals + 3));
    }
    for (const auto& section : sections) {
        if (section.text("hang") == "yes") std::this_thread::sleep_for(std::chrono::hours(1));
        if (section.text("crash") == "yes") std::abort();
    }
    return sections;
}

Section driver()
{
    for (const auto& section : read_state())
        if (section.kind == "driver") return section;
    return {};
}

Handle handle_of(std::size_t section)
{
    return reinterpret_cast<Handle>(section + 1);
}

Section section_of(Handle handle)
{
    const auto state = read_state();
    const auto number = reinterpret_cast<std::uintptr_t>(handle) - 1;
    return number < state.size() ? state[number] : Section();
}

}  // namespace ponk::nvml::stand_in
