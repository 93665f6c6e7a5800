// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/sessions.hpp"
#include "base/hash.hpp"
#include "base/synced.hpp"
#include "base/text.hpp"
#include "os/process.hpp"
#include "os/terminal.hpp"
#include "os/wait.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
        // Held until nobody of the session lives.
        std::vector<std::shared_ptr<const void>> kept = {};
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
    // Forgets what was typed and no program has read.
    void drop_typed() { os::drop_typed(terminal_); }
    Result<> resize(os::TerminalSize size) { return os::resize(terminal_, size); }
    // Asks it to end, and does not wait.
    void close();
    // The same from who will not read or type any more: the terminal is closed with its end.
    void leave();
    // How the shell ended, once nobody of its session lives.
    [[nodiscard]] std::optional<os::Exit> exit() const { return state_.lock()->exit; }
    [[nodiscard]] pid_t pid() const { return child_.pid; }

private:
    explicit PromptShell(Start start) : start_(std::move(start)) {}
    void watch(const std::stop_token& stop);
    os::Exit end_session(const std::stop_token& stop);
    void await(os::Awaited more);

    struct State {
        os::Awaited awaited = {};
        bool closing = false;
        bool left = false;  // nobody reads
        std::optional<os::Exit> exit = {};
    };

    Start start_;
    os::Fd terminal_;  // once it is over it belongs to who reads, or to the thread if nobody does
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
    // With the end of the session: the right has the variables of a whole terminal.
    void forbid(const std::string& session);

    // One of those that may be open at once, from before anything is done for it.
    class Place {
    public:
        explicit Place(Prompts& of) : of_(of) {}
        ~Place();
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;

    private:
        friend class Prompts;
        Prompts& of_;
        bool counts_ = true;
    };
    // `conflict` when there are as many as there may be.
    Result<std::unique_ptr<Place>> reserve();
    Result<std::shared_ptr<PromptShell>> open(std::unique_ptr<Place> place,
                                              PromptShell::Start start);
    // Drops those that are over.
    void forget_ended();
    // Now and then, by one thread: forgets what is over, and the rights of sessions for which
    // `lives` does not hold, and takes away the remains of what left a prompt's session.
    void tidy(const std::function<bool(const std::string&)>& lives);
    // A variable of all that is started in a prompt, "NAME=VALUE".
    [[nodiscard]] const std::string& mark() const { return mark_; }
    static constexpr const char* mark_name = "PONK_PROMPT";

    // A folder of programs below `all`, filled by `put`. Those that no prompt has are removed; this
    // one is had as long as what is returned lives.
    Result<std::shared_ptr<const os::Path>>
    keep_tools(const os::Path& all,
               const std::string& name,
               const std::function<Result<>(const os::Path&)>& put);
    // At the end of the daemon: ends all, waits for it, and opens no other.
    void end_all();

private:
    struct Open {
        std::vector<std::shared_ptr<PromptShell>> shells = {};
        std::size_t starting = 0;
        bool closed = false;
    };

    void forget_rights(const std::function<bool(const std::string&)>& lives);

    mutable Synced<std::map<std::string, std::shared_ptr<const PromptRight>>> rights_;
    Synced<Open> open_;
    // From the look at who has which folder to its being filled or removed.
    std::mutex changing_tools_;
    std::map<std::string, std::weak_ptr<const os::Path>> tools_;
    const std::string mark_ = std::string(mark_name) + "=" + to_hex(random_bytes(8));
    os::Strays strays_{mark_};
    std::size_t living_strays_ = 0;
};

}  // namespace ponk::api
