// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/process.hpp"
#include "ssh/address.hpp"
#include "ssh/host_folder.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::ssh {

// Who connects where, and whose environment counts: HOME, PATH and SSH_AUTH_SOCK are the caller's.
struct Access {
    os::Path home;  // PONK_HOME
    Address address;
    std::vector<std::string> environment;  // "K=V"
    os::Path private_key = {};             // that the target's file names; empty: as settings say
};

// What ~/.ssh/config makes of an address (`ssh -G`).
struct Resolved {
    std::string user;
    std::string host;
    int port = 22;
    std::string key_alias = {};                 // the name in known_hosts, if it is another
    std::vector<std::string> known_hosts = {};  // the user's own files
    std::vector<std::string> host_files = {};   // those of the machine
};

// What the ssh at hand understands. A word that it does not know ends it.
enum class Dialect {
    plain,
    with_sessions  // StdinNull, SessionType, ForkAfterAuthentication: OpenSSH 8.7 and newer
};

// By what `ssh -V` says.
Dialect dialect_of(std::string_view version);

// How the user's ssh is called for one host. Describes commands and starts none. A value.
class Client {
public:
    Client(const Access& access, Settings settings);

    [[nodiscard]] const HostFolder& folder() const noexcept { return folder_; }
    [[nodiscard]] const Address& address() const noexcept { return address_; }
    [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
    [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }

    // Files of the master in the host's folder. A second one beside it has another name.
    void use_socket(std::string name) { socket_ = std::move(name); }
    [[nodiscard]] os::Path control_socket() const { return folder_.path() / socket_; }
    [[nodiscard]] os::Path master_log() const { return folder_.path() / (socket_ + ".log"); }
    [[nodiscard]] os::Path master_process() const { return folder_.path() / (socket_ + ".pid"); }
    [[nodiscard]] os::Path master_lock() const { return folder_.path() / (socket_ + ".lock"); }

    // Asks ssh what the address means; our own answers to later questions follow from it.
    Result<Resolved> resolve(Deadline deadline, std::stop_token stop) const;
    void use_environment(std::vector<std::string> words) { environment_ = std::move(words); }
    void use_settings(Settings settings) { settings_ = std::move(settings); }
    void use_known_hosts(std::vector<std::string> files) { known_hosts_ = std::move(files); }
    void use_dialect(Dialect dialect) { dialect_ = dialect; }

    // `options` come before the common ones and so are stronger: "Name=value", or words of ssh's
    // own ("-N"). `tail` comes after the host: the command on the host.
    [[nodiscard]] os::Command command(const std::vector<std::string>& options,
                                      const std::string& tail = {}) const;

private:
    [[nodiscard]] std::vector<std::string> common_options() const;
    void add_identity(std::vector<std::string>& argv) const;

    HostFolder folder_;
    Address address_;
    std::vector<std::string> environment_;
    Settings settings_;
    std::string socket_ = "master";
    Dialect dialect_ = Dialect::plain;
    std::vector<std::string> known_hosts_{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"};
};

// Fails with `unavailable` when the user never attached the host. A file that names a machine may
// be anybody's: it alone is not a reason to contact it.
Result<> require_attached(const os::Path& home, const Address& address);

// Settings of the host's folder, or those that the access itself implies. Contacts nobody.
Result<Client> make_client(const Access& access);

}  // namespace ponk::ssh
