// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
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
// mode, which asks back through a private socket in the host's folder: so a password is never an
// argument, an environment variable or a file.
namespace ponk::ssh {

// What a program asks, and on whose behalf. The text of a question is half the other side's: a jump
// host may ask in the host's words. Which process asks cannot be forged: the program that we
// started ourselves talks to the host, one further down (a jump host's ssh) to somebody else.
struct Question {
    enum class Asker { started_by_us, somebody_else };

    std::string text;
    Asker asker = Asker::somebody_else;
};

// Answers ssh's questions while it lives. Its thread calls the function, one question at a time.
class AskServer {
public:
    // nullopt: no answer, which ssh takes as a refusal.
    using Answer = std::function<std::optional<Secret>(const Question& question)>;

    static Result<std::unique_ptr<AskServer>> start(const HostFolder& folder, Answer answer);
    ~AskServer();
    AskServer(const AskServer&) = delete;
    AskServer& operator=(const AskServer&) = delete;

    // What ssh, started in the host's folder, needs in its environment.
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

// Gives the password of the host once, to the ssh that talks to the host itself and asks in the
// very words of OpenSSH for it. Shared by the thread that answers and the one that waits for ssh.
class PasswordAnswer {
public:
    PasswordAnswer(Secret password, const Resolved& host);

    std::optional<Secret> operator()(const Question& question);

    [[nodiscard]] bool was_given() const { return state_->lock()->given; }
    // The host's own question that was none for its password ("Verification code: "); empty: none.
    [[nodiscard]] std::string other_question() const { return state_->lock()->other_question; }

private:
    struct State {
        Secret password;
        bool given = false;
        std::string other_question = {};
    };

    std::string owner_;        // "ann@host", as ssh names it before a host's question
    std::string short_owner_;  // as it names it in its own
    std::shared_ptr<Synced<State>> state_;
};

// Answers the question for the passphrase of that key: of ssh and ssh-keygen that we started, never
// of one that goes to a jump host.
AskServer::Answer answer_passphrase(Secret passphrase, const os::Path& key_file);

}  // namespace ponk::ssh
