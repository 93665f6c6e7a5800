// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh/child.hpp"
#include "ssh/client.hpp"
#include "ssh/master.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::ssh {

// How long the login shell of the host may take to get to a command.
inline constexpr std::chrono::seconds begin_limit{45};

// The way to one host, over its master. Every call makes sure that there is one, so that a
// connection that broke is made again by whoever needs it next. Safe to use from several threads:
// it holds no state but its description. Every wait ends at its deadline or when stopped; failures
// are `unavailable` with the reason in words, `conflict` for host keys.
class Connection {
public:
    // Starts nothing. Fails when the address is none or the host's folder cannot be made.
    static Result<Connection> make(const Access& access);
    explicit Connection(Client client) : client_(std::move(client)) {}

    [[nodiscard]] const Client& client() const noexcept { return client_; }
    [[nodiscard]] const Address& address() const noexcept { return client_.address(); }

    // Makes sure of a master, without any question (BatchMode).
    Result<> connect(Deadline deadline, std::stop_token stop);
    // The same for those who act on the reason.
    tl::expected<void, Refusal> try_connect(Deadline deadline, std::stop_token stop);

    // Starts `command` (POSIX sh, whatever the user's login shell is) on the host and returns once
    // it has begun: `out` starts with its own first byte, not with what start files of the shell
    // printed. Words that are not fixed go through shell_word(). `deadline` bounds the beginning
    // only.
    Result<Child> start(const std::string& command, Deadline deadline, std::stop_token stop);

    // Runs a fixed script of POSIX sh and returns all that it wrote. Neither the script nor its
    // arguments are on a command line: they travel on standard input, with their lengths. In the
    // script `take` puts the next argument into $value; what is left of standard input is `input`.
    // An exit status other than 255 is in the output.
    using Sink = std::function<void(std::string_view)>;  // what comes on standard output, at once
    Result<os::Output> run(const std::string& script,
                           const std::vector<std::string>& arguments,
                           Deadline deadline,
                           std::stop_token stop,
                           const std::string& input = {},
                           const Sink& sink = {});

    // Ends the master; sessions of other processes end with it.
    void close() { discard_master(client_); }

private:
    Client client_;
};

}  // namespace ponk::ssh
