// SPDX-License-Identifier: Apache-2.0
#include "environment/spec/spec.hpp"

#include "base/text.hpp"
#include "environment/address/address.hpp"
#include "os/carried_program.hpp"

#include <algorithm>
#include <set>

namespace ponk::environment {

namespace {

// Raised when a builder makes something else of the same packages.
constexpr int format_version = 1;
constexpr std::size_t key_digits = 32;
constexpr std::size_t most_changes_shown = 8;

// Blanks that mean nothing go; those before a marker ("; python_version < '3'") stay one.
std::string normal_requirement(std::string_view text)
{
    if (text.find_first_of(";@'\"") != std::string_view::npos) return std::string(text);
    std::string out;
    for (const char c : text)
        if (c != ' ' && c != '\t') out += c;
    return out;
}

std::string identity_of(const PipLine& line)
{
    if (line.file)
        return fmt::format(
            "{}#sha256={}", line.file->path.filename().string(), line.file->digest.text());
    if (!line.folder.empty()) return "--find-links " + line.folder_identity;
    if (line.is_option || line.text.find("://") != std::string::npos)
        return address_identity(line.text);
    return normal_requirement(line.text);
}

JsonArray sorted(std::vector<std::string> texts)
{
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    return {texts.begin(), texts.end()};
}

// Options keep their order, which matters among indexes; packages do not have one.
JsonArray pip_list(const std::vector<PipLine>& lines)
{
    JsonArray list;
    std::vector<std::string> packages;
    for (const auto& line : lines) {
        if (line.is_option)
            list.emplace_back(identity_of(line));
        else
            packages.push_back(identity_of(line));
    }
    for (auto& package : sorted(std::move(packages)))
        list.push_back(std::move(package));
    return list;
}

std::set<std::string> texts_of(const Json& list)
{
    std::set<std::string> texts;
    if (!list.is_array()) return texts;
    for (const auto& item : list.as_array())
        if (item.is_string()) texts.insert(item.as_string());
    return texts;
}

// "added 'x', 'y', removed 'z'", or empty. In quotes, since options begin with signs of their own.
std::string difference(const Json& before, const Json& after)
{
    const auto old_texts = texts_of(before);
    const auto new_texts = texts_of(after);
    std::vector<std::string> words;
    const auto add = [&words](std::string_view what, const auto& texts, const auto& others) {
        for (const auto& text : texts) {
            if (others.contains(text)) continue;
            words.push_back(fmt::format("{}'{}'", what, text));
            what = "";
        }
    };
    add("added ", new_texts, old_texts);
    add("removed ", old_texts, new_texts);
    const auto more = words.size() - std::min(words.size(), most_changes_shown);
    words.resize(words.size() - more);
    if (more > 0) words.push_back(fmt::format("and {} more", more));
    if (words.empty() && !(before == after)) return "another order";
    return join(words, ", ");
}

std::string or_any(const std::string& text)
{
    return text.empty() ? "any" : "'" + text + "'";
}

}  // namespace

const char* to_string(Form form)
{
    return form == Form::prefix ? "prefix" : "image";
}

std::string conda_platform(std::string_view architecture)
{
    if (architecture == "x86_64" || architecture == "amd64") return "linux-64";
    if (architecture == "aarch64" || architecture == "arm64") return "linux-aarch64";
    return "linux-" + std::string(architecture);
}

std::string this_platform()
{
    return conda_platform(os::own_processor());
}

Json describe(const EnvironmentSpec& spec)
{
    JsonArray channels;
    for (const auto& channel : spec.packages.channels)
        channels.emplace_back(address_identity(channel));
    std::vector<std::string> conda;
    for (const auto& package : spec.packages.conda)
        conda.push_back(join(split(package, '\t'), " "));
    JsonObject object{
        {"base", spec.base},
        {"channels", std::move(channels)},
        {"conda", sorted(std::move(conda))},
        {"form", to_string(spec.form)},
        {"format", format_version},
        {"pip", pip_list(spec.packages.pip)},
        {"platform", spec.platform},
        {"python", spec.packages.python},
    };
    if (!spec.lock_digest.empty()) object.set("lock", spec.lock_digest);
    return object;
}

std::string key_of(const EnvironmentSpec& spec)
{
    return sha256(to_json(describe(spec))).text().substr(0, key_digits);
}

bool is_key(std::string_view text)
{
    return text.size() == key_digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string describe_change(const Json& before, const Json& after)
{
    std::vector<std::string> parts;
    const auto lists = {std::pair{"pip", "the pip list changed"},
                        std::pair{"conda", "the conda packages changed"},
                        std::pair{"channels", "the channels changed"}};
    for (const auto& [key, what] : lists) {
        const auto words = difference(before[key], after[key]);
        if (!words.empty()) parts.push_back(fmt::format("{}: {}", what, words));
    }
    const auto texts = {std::pair{"python", "the requested Python changed"},
                        std::pair{"base", "the base changed"},
                        std::pair{"platform", "the platform changed"},
                        std::pair{"form", "the kind of environment changed"}};
    for (const auto& [key, what] : texts) {
        const auto old_text = before.text(key);
        const auto new_text = after.text(key);
        if (old_text != new_text)
            parts.push_back(
                fmt::format("{}: {} instead of {}", what, or_any(new_text), or_any(old_text)));
    }
    if (before.text("lock") != after.text("lock"))
        parts.emplace_back(after.text("lock").empty() ? "it is no longer built from a lock"
                                                      : "it is built from a lock");
    if (before.integer("format") != after.integer("format"))
        parts.emplace_back("this version of ponk builds differently");
    return join(parts, "; ");
}

}  // namespace ponk::environment
