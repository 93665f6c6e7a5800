// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh/client.hpp"
#include "ssh/failure.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::ssh {

// A key by which a machine proves itself.
struct HostKey {
    std::string name;         // as known_hosts has it: "host", "[host]:5022"
    std::string type;         // "ssh-ed25519"
    std::string fingerprint;  // "SHA256:…", as ssh-keygen and sshd show it
    std::string line;         // of known_hosts, without the newline

    // "ED25519": what people compare.
    [[nodiscard]] std::string short_type() const;
};

// No more of a known_hosts file is read.
inline constexpr std::uint64_t largest_known_hosts = 1 << 20;
// Every line of a known_hosts file that holds a key; comments, marks and broken lines are left out.
std::vector<HostKey> parse_known_hosts(std::string_view text);
// "SHA256:abc…", also without the prefix or with "=" at the end; nullopt when it is none.
std::optional<std::string> parse_fingerprint(std::string_view text);

// Connects and goes no further than the host's key: success when it is a known one. With another
// the reason is host_key_unknown or host_key_changed.
tl::expected<void, Refusal>
check_host_key(const Client& client, Deadline deadline, std::stop_token stop);

// Asks the host for its key, over the same way that a login takes (jump hosts and all), without
// logging in. With `algorithms` for a key of one of these only.
Result<HostKey> learn_host_key(const Client& client,
                               const std::string& algorithms,
                               Deadline deadline,
                               std::stop_token stop);
// The key among those the host has that has this fingerprint; `conflict` with all that it has when
// there is none.
Result<HostKey> learn_matching_key(const Client& client,
                                   const std::string& fingerprint,
                                   Deadline deadline,
                                   std::stop_token stop);

// What is known for `name`, in our file and those that ssh would look at; names may be hashed.
struct KnownKey {
    HostKey key;
    std::string file;
};
Result<std::vector<KnownKey>> find_known_keys(const Client& client,
                                              const Resolved& resolved,
                                              const std::string& name,
                                              Deadline deadline,
                                              std::stop_token stop);

// "the host key of 'host' changed: …" with both fingerprints, the file and the next step.
Error changed_key_error(const Client& client,
                        const HostKey& shown,
                        const std::vector<KnownKey>& known);

// Makes `key` the only one known for the host in its own folder.
Result<> remember_host_key(const HostFolder& folder, const HostKey& key);

}  // namespace ponk::ssh
