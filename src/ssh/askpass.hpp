// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/fd.hpp"
#include "ssh/client.hpp"
#include "ssh/secret.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

// ssh asks a program for passwords (SSH_ASKPASS). That program is ponk itself, started in a hidden
// mode, which asks back through a private socket in the box's folder: so a password is never an
// argument, an environment variable or a file.
namespace ponk::ssh {

// Answers ssh's questions while it lives. Its thread calls the function, one question at a time.
class AskServer {
public:
    // nullopt: no answer, which ssh takes as a refusal.
    using Answer = std::function<std::optional<Secret>(const std::string& question)>;

    static Result<std::unique_ptr<AskServer>> start(const BoxFolder& folder, Answer answer);
    ~AskServer();
    AskServer(const AskServer&) = delete;
    AskServer& operator=(const AskServer&) = delete;

    // What ssh, started in the box's folder, needs in its environment.
    [[nodiscard]] std::vector<std::string> environment(std::vector<std::string> with) const;

private:
    AskServer(os::Path socket, os::Fd listener, Answer answer);
    void serve(const std::stop_token& stop) const;
    void serve_one(int connection, const std::stop_token& stop) const;

    os::Path socket_;
    os::Fd listener_;
    Answer answer_;
    std::jthread thread_;
};

// The hidden mode, for main: nothing when we were not started by ssh to ask. Else the exit code.
std::optional<int> run_as_askpass(int argc, char** argv);

// Answers the one question for the password on the box, once; never one of a jump host.
AskServer::Answer answer_password(Secret password, const Resolved& box);
// Answers questions for the passphrase of a key.
AskServer::Answer answer_passphrase(Secret passphrase);

}  // namespace ponk::ssh
