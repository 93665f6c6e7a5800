// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/settings.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::environment {

namespace {

bool contains(std::initializer_list<std::string_view> names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

// These would put packages somewhere else than into the environment that is built, or make an
// installer ask.
bool leads_astray(std::string_view name)
{
    return contains({"PIP_TARGET",
                     "PIP_PREFIX",
                     "PIP_USER",
                     "PIP_ROOT",
                     "PIP_REQUIREMENT",
                     "PIP_CONSTRAINT",
                     "PIP_REQUIRE_VIRTUALENV",
                     "PIP_LOG",
                     "PIP_DRY_RUN",
                     "UV_PROJECT_ENVIRONMENT",
                     "UV_SYSTEM_PYTHON",
                     "UV_TARGET",
                     "UV_PYTHON",
                     "UV_CONSTRAINT",
                     "UV_OVERRIDE",
                     "UV_BREAK_SYSTEM_PACKAGES"},
                    name);
}

bool is_certificate_setting(std::string_view name)
{
    return contains({"SSL_CERT_FILE",
                     "REQUESTS_CA_BUNDLE",
                     "CURL_CA_BUNDLE",
                     "PIP_CERT",
                     "CONDA_SSL_VERIFY",
                     "NIX_SSL_CERT_FILE"},
                    name);
}

bool is_proxy_setting(std::string_view name)
{
    return contains({"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"},
                    lower(name));
}

std::pair<std::string_view, std::string_view> split_word(std::string_view word)
{
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return {word, {}};
    return {word.substr(0, equals), word.substr(equals + 1)};
}

bool has(const Variables& variables, std::string_view name)
{
    return std::any_of(variables.begin(), variables.end(), [name](const auto& variable) {
        return variable.first == name;
    });
}

}  // namespace

Settings settings_from(Path home, std::vector<std::string> environment)
{
    Settings settings;
    settings.home = std::move(home);
    settings.environment = std::move(environment);
    settings.conda_program = variable(settings.environment, "PONK_CONDA");
    for (const auto& channel : split(variable(settings.environment, "PONK_CONDA_CHANNELS"), ','))
        if (!trim(channel).empty()) settings.default_channels.emplace_back(trim(channel));
    if (settings.default_channels.empty()) settings.default_channels = {"conda-forge"};
    settings.build_network = variable(settings.environment, "PONK_BUILD_NETWORK");
    const auto space = parse_integer(variable(settings.environment, "PONK_ENV_FREE_SPACE"));
    if (space && *space >= 0) settings.smallest_free_space = static_cast<std::uint64_t>(*space);
    return settings;
}

Variables network_settings(const std::vector<std::string>& environment)
{
    Variables found;
    for (const auto& word : environment) {
        const auto [name, value] = split_word(word);
        const bool wanted = name.starts_with("PIP_") || name.starts_with("UV_") ||
                            is_certificate_setting(name) || is_proxy_setting(name) ||
                            contains({"SSL_CERT_DIR", "NETRC", "CONDA_CHANNEL_ALIAS"}, name);
        if (wanted && !leads_astray(name) && !has(found, name)) found.emplace_back(name, value);
    }
    return found;
}

std::vector<Path> files_named_by(const Variables& variables)
{
    std::vector<Path> files;
    for (const auto& [name, value] : variables) {
        if (!is_certificate_setting(name) && name != "PIP_CONFIG_FILE" && name != "NETRC" &&
            name != "UV_CONFIG_FILE" && name != "PIP_CLIENT_CERT")
            continue;
        std::error_code problem;
        if (value.starts_with('/') && std::filesystem::is_regular_file(value, problem) &&
            std::find(files.begin(), files.end(), Path(value)) == files.end())
            files.emplace_back(value);
    }
    return files;
}

void translate_for_uv(Variables& variables)
{
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"PIP_INDEX_URL", "UV_DEFAULT_INDEX"},
        {"PIP_EXTRA_INDEX_URL", "UV_INDEX"},
        {"PIP_FIND_LINKS", "UV_FIND_LINKS"},
        {"PIP_NO_INDEX", "UV_NO_INDEX"},
        {"PIP_CERT", "SSL_CERT_FILE"},
        {"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"},
    };
    for (const auto& [pip, uv] : names) {
        const auto same =
            std::find_if(variables.begin(), variables.end(), [name = pip](const auto& item) {
                return item.first == name;
            });
        if (same == variables.end() || same->second.empty() || has(variables, uv)) continue;
        if (uv == "UV_DEFAULT_INDEX" && has(variables, "UV_INDEX_URL")) continue;
        auto value = same->second;
        // A folder that is not there is nothing to pip and an error to uv.
        if (uv == "UV_FIND_LINKS" && value.find("://") == std::string::npos &&
            ::access(value.c_str(), R_OK) != 0)
            continue;
        if (uv == "UV_FIND_LINKS" || uv == "UV_INDEX")
            std::replace(value.begin(), value.end(), ' ', ',');
        if (uv == "UV_INDEX") std::replace(value.begin(), value.end(), ',', ' ');
        variables.emplace_back(uv, std::move(value));
    }
}

std::vector<std::string> installer_environment(const Settings& settings)
{
    std::vector<std::string> words;
    for (const auto& word : settings.environment) {
        const auto name = split_word(word).first;
        const bool theirs = contains({"PYTHONHOME",
                                      "PYTHONPATH",
                                      "PYTHONSTARTUP",
                                      "VIRTUAL_ENV",
                                      "CONDA_PREFIX",
                                      "CONDA_DEFAULT_ENV",
                                      "PYTHONSAFEPATH"},
                                     name);
        if (!theirs && !leads_astray(name)) words.push_back(word);
    }
    auto network = network_settings(settings.environment);
    const auto known = network.size();
    translate_for_uv(network);
    for (std::size_t i = known; i < network.size(); ++i)
        words.push_back(network[i].first + "=" + network[i].second);
    for (const auto* word : {"PYTHONNOUSERSITE=1",
                             "PYTHONUNBUFFERED=1",
                             "UV_NO_PROGRESS=1",
                             "CONDA_ALWAYS_YES=1",
                             "NO_COLOR=1"})
        words.emplace_back(word);
    return words;
}

}  // namespace ponk::environment
