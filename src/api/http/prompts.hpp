// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/sessions.hpp"
#include "base/synced.hpp"
#include "os/process.hpp"
#include "os/terminal.hpp"
#include "os/wait.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ponk::api {

// A shell on a terminal of its own, and a thread that looks after it: rings when there is
// something to read, and ends all processes of its session when it is over. Safe for several
// threads, but for reading and typing, which one at a time may do.
class PromptShell {
public:
    struct Start {
        os::Command command;  // without its descriptors
        os::TerminalSize size;
        std::function<void()> ring;
        // Whether whose it is may go on; asked by the thread, which ends the shell if not.
        std::function<bool()> may_go_on;
        std::chrono::milliseconds interval{2'000};
        // Between the signal that terminals send when they go away and the one nobody outlives.
        std::chrono::milliseconds grace{1'000};
        std::function<void(os::Exit)> ended;  // by the thread
    };
    static Result<std::shared_ptr<PromptShell>> start(Start start);
    // Closes it, and waits until nobody of its session is left.
    ~PromptShell();
    PromptShell(const PromptShell&) = delete;
    PromptShell& operator=(const PromptShell&) = delete;

    // What is shown, up to `limit` bytes. With less than that the ring tells when there is more.
    void read(std::string& out, std::size_t limit);
    // Takes what it has room for; with a rest the ring tells when there is more room.
    void type(std::string& bytes);
    Result<> resize(os::TerminalSize size) { return os::resize(terminal_, size); }
    // Asks it to end, and does not wait.
    void close();
    // How the shell ended, once nobody of its session lives.
    [[nodiscard]] std::optional<os::Exit> exit() const { return state_.lock()->exit; }

private:
    explicit PromptShell(Start start) : start_(std::move(start)) {}
    void watch();
    void end_session();
    void await(os::Awaited more);

    struct State {
        os::Awaited awaited = {};
        bool closing = false;
        std::optional<os::Exit> exit = {};
    };

    Start start_;
    os::Fd terminal_;
    os::Child child_;
    os::Bell bell_;
    mutable Synced<State> state_;
    std::jthread thread_;
};

// Who may open prompts, and those that are open. Lives as long as the daemon, which alone knows it.
// Safe for several threads.
class Prompts {
public:
    struct Options {
        std::chrono::milliseconds hello_limit{5'000};
        std::chrono::milliseconds session_interval{2'000};
        std::chrono::milliseconds grace{1'000};
        std::size_t most = 8;
        // What is shown and not taken by the page; no more is read then.
        std::int64_t window = 128 * 1024;
        // What is typed and not read by a program.
        std::size_t most_typed = 1024 * 1024;
    };
    Options options = {};

    // For the session with that id; those for which `lives` does not hold are forgotten.
    void allow(const std::string& session,
               std::shared_ptr<const PromptRight> right,
               const std::function<bool(const std::string&)>& lives);
    [[nodiscard]] std::shared_ptr<const PromptRight> right_of(const std::string& session) const;

    // `conflict` when there are as many as there may be.
    Result<std::shared_ptr<PromptShell>> open(PromptShell::Start start);
    // At the end of the daemon: ends all, waits for it, and opens no other.
    void end_all();

private:
    struct Open {
        std::vector<std::shared_ptr<PromptShell>> shells = {};
        std::size_t starting = 0;
        bool closed = false;
    };

    mutable Synced<std::map<std::string, std::shared_ptr<const PromptRight>>> rights_;
    Synced<Open> open_;
};

}  // namespace ponk::api
