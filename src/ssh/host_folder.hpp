// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"
#include "ssh/address.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::ssh {

// With what we show who we are.
enum class Identity {
    user,  // the user's own keys, agent and ~/.ssh/config, as `ssh HOST` has them
    own,   // the key pair made for this host, `key` in its folder
    file   // a private key that the user named
};

const char* to_string(Identity identity);

// settings.json of a host's folder.
struct Settings {
    Address address;
    Identity identity = Identity::user;
    os::Path key_file = {};  // of Identity::file
    std::string installed_key =
        {};  // the line that we put into authorized_keys of the host, if any
    std::vector<std::string> targets = {};  // .compute files on this machine that name the host

    friend bool operator==(const Settings&, const Settings&) = default;
};

// Everything about one host that stays on this machine: $PONK_HOME/ssh/ID/ with mode 0700, where ID
// is the first 16 hex digits of SHA-256 of Address::identity(). Programs are started in it, so that
// names of its files are short: a socket's name has 107 bytes at most. A value; nothing is made
// before `make`.
class HostFolder {
public:
    HostFolder(const os::Path& home, const Address& address);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const os::Path& path() const noexcept { return path_; }
    [[nodiscard]] os::Path known_hosts() const { return path_ / "known_hosts"; }
    [[nodiscard]] os::Path key() const { return path_ / "key"; }
    [[nodiscard]] os::Path public_key() const { return path_ / "key.pub"; }
    [[nodiscard]] os::Path settings_file() const { return path_ / "settings.json"; }

    // Makes the folder; refuses one that others may have filled.
    Result<> make() const;
    [[nodiscard]] bool exists() const;
    // Whether the user attached the host: it has settings, or a key pair was made for it.
    [[nodiscard]] bool is_attached() const;
    // nullopt when there are none: then the user's own ssh settings count.
    Result<std::optional<Settings>> read_settings() const;
    Result<> write_settings(const Settings& settings) const;
    // The folder with the key pair and all.
    Result<> remove() const;

private:
    std::string id_;
    os::Path path_;
};

}  // namespace ponk::ssh
