// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh/connection.hpp"
#include "ssh/secret.hpp"

// Logging in with what a person gives, once, to make a login that needs nobody.
namespace ponk::ssh {

// Each opens the host's master with one way to log in and no other.
tl::expected<void, Refusal> open_with_password(const Client& client,
                                               const Resolved& host,
                                               Secret password,
                                               Deadline deadline,
                                               std::stop_token stop);
tl::expected<void, Refusal> open_with_key_file(const Client& client,
                                               Secret passphrase,
                                               Deadline deadline,
                                               std::stop_token stop);
// The user's own keys and agent; `terminal` lets ssh ask for what they need.
tl::expected<void, Refusal>
open_as_user(const Client& client, Asking asking, Deadline deadline, std::stop_token stop);

// With the master that is open: makes the host's key pair, installs it, and logs in with it alone
// to see that it works. Takes the key away again when it does not. The new master is open
// afterwards, and the settings say Identity::own.
Result<> change_to_own_key(const Client& client, Deadline deadline, std::stop_token stop);

}  // namespace ponk::ssh
