// SPDX-License-Identifier: Apache-2.0
#include "gpu/container/cdi.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "os/directory.hpp"

#include <algorithm>

namespace ponk::gpu {

namespace {

constexpr std::string_view our_kind = "nvidia.com/gpu";
constexpr std::uint64_t longest_description = 4 << 20;

std::string_view unquoted(std::string_view word)
{
    word = trim(word);
    if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') &&
        word.back() == word.front())
        return word.substr(1, word.size() - 2);
    return word;
}

std::size_t indent_of(std::string_view line)
{
    return std::min(line.find_first_not_of(' '), line.size());
}

// Not all of YAML: keys on lines of their own, as programs write them. A name counts when it is a
// member of an entry of the outermost "devices".
std::vector<std::string> parse_lines(std::string_view text)
{
    std::vector<std::string> names;
    bool ours = false;
    bool in_devices = false;
    std::optional<std::size_t> member;  // where members of an entry begin
    for (const auto& whole : split(text, '\n')) {
        std::string_view line = whole;
        const auto content = trim(line);
        if (content.empty() || content.front() == '#' || content == "---") continue;
        auto indent = indent_of(line);
        const bool entry = content.starts_with("- ");
        if (indent == 0 && !entry) {
            in_devices = content == "devices:";
            member.reset();
            if (content.starts_with("kind:")) ours = unquoted(content.substr(5)) == our_kind;
            continue;
        }
        if (!in_devices) continue;
        auto key = content;
        if (entry && (!member || indent < *member)) member = indent + 2;
        if (entry && indent + 2 == *member) {
            key = trim(content.substr(2));
            indent += 2;
        }
        if (member && indent == *member && key.starts_with("name:"))
            names.emplace_back(unquoted(key.substr(5)));
    }
    return ours ? names : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> parse_cdi(std::string_view text)
{
    if (!trim(text).starts_with("{")) return parse_lines(text);
    std::vector<std::string> names;
    const auto json = parse_json(text);
    if (!json || json->text("kind") != our_kind) return names;
    const auto& devices = (*json)["devices"];
    if (!devices.is_array()) return names;
    for (const auto& device : devices.as_array())
        if (auto name = device.text("name"); !name.empty()) names.push_back(std::move(name));
    return names;
}

std::vector<std::string> list_cdi(const Path& root, const std::vector<std::string>& folders)
{
    std::vector<std::string> names;
    for (const auto& folder : folders) {
        const auto place = root / Path(folder).relative_path();
        const auto entries = os::list_directory(place);
        if (!entries) continue;
        for (const auto& entry : *entries) {
            const auto kind = Path(entry.name).extension();
            if (kind != ".json" && kind != ".yaml" && kind != ".yml") continue;
            const auto text = os::read_file(place / entry.name, longest_description);
            if (!text) continue;
            auto listed = parse_cdi(*text);
            std::move(listed.begin(), listed.end(), std::back_inserter(names));
        }
    }
    return names;
}

std::optional<std::vector<std::string>> cdi_names(const std::vector<Device>& devices,
                                                  const std::vector<std::string>& listed)
{
    std::vector<std::string> names;
    const auto has = [&](const std::string& name) {
        return std::find(listed.begin(), listed.end(), name) != listed.end();
    };
    for (const auto& device : devices) {
        const auto index = std::to_string(device.index);
        if (has(device.uuid))
            names.push_back(std::string(our_kind) + "=" + device.uuid);
        else if (device.card.empty() && has(index))
            names.push_back(std::string(our_kind) + "=" + index);
        else
            return std::nullopt;
    }
    return names;
}

}  // namespace ponk::gpu
