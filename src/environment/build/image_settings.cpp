// SPDX-License-Identifier: Apache-2.0
#include "environment/build/image_settings.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::environment {

namespace {

bool has(const Variables& variables, std::string_view name)
{
    return std::any_of(variables.begin(), variables.end(), [name](const auto& variable) {
        return variable.first == name;
    });
}

bool is_folder(const std::string& path)
{
    std::error_code problem;
    return path.starts_with('/') && std::filesystem::is_directory(path, problem);
}

// The user's and the machine's; the user's count first.
void add_pip_files(const Settings& settings, Variables& variables)
{
    std::vector<Path> files;
    if (const auto named = variable(settings.environment, "PIP_CONFIG_FILE"); !named.empty()) {
        files.emplace_back(named);
    } else if (const Path home = variable(settings.environment, "HOME"); !home.empty()) {
        const Path config = variable(settings.environment, "XDG_CONFIG_HOME");
        files.push_back((config.empty() ? home / ".config" : config) / "pip" / "pip.conf");
        files.push_back(home / ".pip" / "pip.conf");
    }
    files.emplace_back("/etc/pip.conf");
    for (const auto& file : files) {
        const auto text = os::read_file_if_any(file, std::uint64_t{1} << 20);
        if (!text || !*text) continue;
        for (auto& [name, value] : pip_configuration(**text))
            if (!has(variables, name)) variables.emplace_back(name, value);
    }
}

// Folders of wheels travel; addresses stay as they are, what is not there is left out.
Result<std::string> links_for_image(const std::string& value,
                                    const std::string& mount,
                                    const std::string& seen_at,
                                    BuildContextFiles& files)
{
    std::vector<std::string> words;
    std::size_t number = 0;
    for (const auto& word : split(value, ' ')) {
        if (word.find("://") != std::string::npos) words.push_back(word);
        if (!is_folder(word)) continue;
        const auto name = fmt::format("links{}", number++);
        TRY(files.add_tree(mount + "/" + name, word));
        words.push_back(seen_at + "/" + name);
    }
    return join(words, " ");
}

}  // namespace

Variables pip_configuration(std::string_view text)
{
    Variables variables;
    bool counts = false;
    for (const auto& raw : split(text, '\n')) {
        const auto line = trim(raw);
        if (line.starts_with('[')) counts = line == "[global]" || line == "[install]";
        const auto equals = line.find('=');
        if (!counts || line.starts_with('#') || equals == std::string_view::npos) continue;
        const auto key = trim(line.substr(0, equals));
        for (const auto* known : {"index-url",
                                  "extra-index-url",
                                  "find-links",
                                  "no-index",
                                  "trusted-host",
                                  "proxy",
                                  "cert",
                                  "timeout",
                                  "retries"}) {
            if (key != known) continue;
            std::string name = "PIP_";
            for (const char c : key)
                name +=
                    c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            if (!has(variables, name)) variables.emplace_back(name, trim(line.substr(equals + 1)));
        }
    }
    return variables;
}

Result<ImageSettings> settings_for_image(const Settings& settings,
                                         const std::string& mount,
                                         const std::string& seen_at,
                                         BuildContextFiles& files)
{
    auto variables = network_settings(settings.environment);
    add_pip_files(settings, variables);
    std::vector<Path> sent;
    ImageSettings result;
    for (const auto& [name, value] : variables) {
        if (lower(name).ends_with("_proxy")) {
            result.proxies.emplace_back(name, value);
            continue;
        }
        // uv does not work in there; folders of certificates and configuration files are this
        // machine's own (what pip's say is among the variables).
        if (name.starts_with("UV_") || name == "SSL_CERT_DIR" || name == "PIP_CONFIG_FILE" ||
            name == "PIP_CACHE_DIR" || name == "NIX_SSL_CERT_FILE")
            continue;
        if (name == "PIP_FIND_LINKS") {
            auto links = TRY(links_for_image(value, mount, seen_at, files));
            if (!links.empty()) result.others.emplace_back(name, std::move(links));
            continue;
        }
        const auto named = files_named_by({{name, value}});
        if (named.empty()) {
            // A file that is not there would only make the step fail.
            if (!value.starts_with('/')) result.others.emplace_back(name, value);
            continue;
        }
        auto known = std::find(sent.begin(), sent.end(), named.front());
        if (known == sent.end()) {
            files.add_file(fmt::format("{}/file{}", mount, sent.size()), named.front());
            sent.push_back(named.front());
            known = sent.end() - 1;
        }
        result.others.emplace_back(name, fmt::format("{}/file{}", seen_at, known - sent.begin()));
    }
    return result;
}

}  // namespace ponk::environment
