// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh/connection.hpp"

#include <string>
#include <string_view>

namespace ponk::ssh {

// Makes the host's own key pair (ed25519, no passphrase, 0600), unless it is there. Returns the
// line for authorized_keys: `restrict`, so that the key opens no tunnels, terminals or agents.
Result<std::string> make_key_pair(const Client& client, Deadline deadline, std::stop_token stop);

// Puts the line into ~/.ssh/authorized_keys of the host: once, however often it is called; files
// get the rights that sshd asks for.
Result<> install_key(Connection& connection,
                     const std::string& line,
                     Deadline deadline,
                     std::stop_token stop);
// Takes lines with that key out again. Success when there is none.
Result<> remove_key(Connection& connection,
                    const std::string& line,
                    Deadline deadline,
                    std::stop_token stop);

// The public half, which people name by mistake.
bool is_public_key(std::string_view text);

// What a private key file is. `invalid_argument` when it is not a key, or one that ssh will not
// use.
enum class KeyFile { open, has_passphrase };
Result<KeyFile> inspect_key_file(const Client& client,
                                 const os::Path& file,
                                 Deadline deadline,
                                 std::stop_token stop);

}  // namespace ponk::ssh
