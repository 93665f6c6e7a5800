// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_folder.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "os/private_folder.hpp"

namespace ponk::ssh {
namespace {

constexpr std::uint64_t largest_settings = 64 << 10;

Result<Identity> identity_from(const std::string& word)
{
    for (const auto identity : {Identity::user, Identity::own, Identity::file}) {
        if (word == to_string(identity)) return identity;
    }
    return fail(ErrorKind::damaged, "'identity' is '{}'", word);
}

}  // namespace

const char* to_string(Identity identity)
{
    switch (identity) {
    case Identity::user:
        return "user";
    case Identity::own:
        return "own";
    case Identity::file:
        return "file";
    }
    return "user";
}

HostFolder::HostFolder(const os::Path& home, const Address& address)
    : id_(sha256(address.identity()).text().substr(0, 16)), path_(home / "ssh" / id_)
{
}

Result<> HostFolder::make() const
{
    TRY(os::make_directories(path_, 0700));
    return os::check_private(path_);
}

bool HostFolder::exists() const
{
    std::error_code problem;
    return std::filesystem::exists(path_, problem);
}

bool HostFolder::is_attached() const
{
    std::error_code problem;
    return std::filesystem::exists(settings_file(), problem) ||
           std::filesystem::exists(key(), problem);
}

Result<std::optional<Settings>> HostFolder::read_settings() const
{
    const auto text = TRY(os::read_file_if_any(settings_file(), largest_settings));
    if (!text) return std::nullopt;
    const auto damaged = while_doing("{}", os::in_quotes(settings_file()));
    const Json json = TRY(parse_json(*text).map_error(damaged));
    Settings settings;
    settings.address.user = json.text("user");
    settings.address.host = json.text("host");
    if (json["port"].is_integer()) settings.address.port = static_cast<int>(json.integer("port"));
    settings.identity = TRY(identity_from(json.text("identity")).map_error(damaged));
    settings.key_file = json.text("key_file");
    settings.installed_key = json.text("installed_key");
    if (json["targets"].is_array()) {
        for (const Json& target : json["targets"].as_array()) {
            if (target.is_string()) settings.targets.push_back(target.as_string());
        }
    }
    return settings;
}

Result<> HostFolder::write_settings(const Settings& settings) const
{
    JsonObject json{{"version", 1},
                    {"user", settings.address.user},
                    {"host", settings.address.host},
                    {"port", settings.address.port ? Json(*settings.address.port) : Json()},
                    {"identity", to_string(settings.identity)}};
    if (!settings.key_file.empty()) json.set("key_file", settings.key_file.string());
    if (!settings.installed_key.empty()) json.set("installed_key", settings.installed_key);
    if (!settings.targets.empty())
        json.set("targets", JsonArray(settings.targets.begin(), settings.targets.end()));
    return os::replace_file(settings_file(), to_json(json, JsonStyle::pretty) + "\n", 0600);
}

Result<> HostFolder::remove() const
{
    return os::remove_tree(path_);
}

}  // namespace ponk::ssh
