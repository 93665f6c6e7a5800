// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ssh/address.hpp"

#include <string>
#include <string_view>

// Why ssh could not connect. It says so in text for people only; the texts are those of OpenSSH,
// which does not translate them. What is not recognised is shown as it is.
namespace ponk::ssh {

enum class Cause {
    unresolved,        // no such host name
    refused,           // nobody listens on the port
    unreachable,       // no way to the network
    timed_out,         // no answer
    host_key_changed,  // another key than the known one
    host_key_unknown,  // no key is known yet
    denied,            // password or key not accepted, or no such user: sshd does not tell which
    key_unusable,      // a private key that cannot be read: passphrase, format, rights
    algorithms,        // no common algorithm
    jump_failed,       // the jump host on the way failed
    closed,            // the box closed the connection
    no_client,         // no ssh on this machine
    other
};

const char* to_string(Cause cause);

// What went wrong, from all that ssh said.
Cause find_cause(std::string_view said);
// "publickey,password" of "Permission denied (publickey,password)": what the box would take.
std::string offered_methods(std::string_view said);

// The failure as a person reads it, with the next step. `what` is what was tried ("log in with the
// password"), empty for a plain connection.
Error error_of(Cause cause, const Address& address, std::string_view said);
inline Error error_from(const Address& address, std::string_view said)
{
    return error_of(find_cause(said), address, said);
}

}  // namespace ponk::ssh
