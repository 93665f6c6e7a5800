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
    denied,            // password or key not accepted, or no such user: sshd does not say which
    key_unusable,      // a private key that cannot be read: passphrase, format, rights
    algorithms,        // no common algorithm
    jump_failed,       // the jump host on the way failed
    closed,            // the host closed the connection
    no_client,         // no ssh on this machine
    killed,            // somebody ended our ssh
    other
};

const char* to_string(Cause cause);

// What went wrong, from all that ssh said.
Cause find_cause(std::string_view said);
// "publickey,password" of "Permission denied (publickey,password)": what the host would take.
std::string offered_methods(std::string_view said);

// The failure as a person reads it, with the next step. `known`: the key that was known before, for
// host_key_changed.
Error error_of(Cause cause,
               const Address& address,
               std::string_view said,
               std::string_view known = {});
// Who knows the target's name puts it into the advice of such a failure.
Error name_target(const Error& error, const std::string& target);
inline Error error_from(const Address& address, std::string_view said)
{
    return error_of(find_cause(said), address, said);
}

// Why a connection was not made, for those who try something else then.
struct Refusal {
    Cause cause = Cause::other;
    Error error;
    std::string methods = {};  // what the host would take, where it was `denied`
};

}  // namespace ponk::ssh
