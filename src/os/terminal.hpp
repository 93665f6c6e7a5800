// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

// Terminals that programs of ours believe to sit at, and the sessions of such programs.
namespace ponk::os {

struct TerminalSize {
    int columns = 80;
    int rows = 24;
};

// `ours` reads what is shown and writes what is typed, without ever waiting; `theirs` is given to a
// program as its descriptors 0, 1 and 2.
struct Terminal {
    Fd ours;
    Fd theirs;
};
Result<Terminal> make_terminal(TerminalSize size);
// Programs in it hear of the new size.
Result<> resize(const Fd& ours, TerminalSize size);

// Appends up to `limit` bytes of what is there. False: nobody has the other side any more, and all
// that was shown has been read.
bool read_shown(const Fd& ours, std::string& out, std::size_t limit);
// Takes what the terminal has room for away from the beginning of `bytes`.
void type(const Fd& ours, std::string_view& bytes);

// Forgets what was typed and not read, so that a key behind it arrives.
void drop_typed(const Fd& ours);

// What is waited for.
struct Awaited {
    bool shows = false;  // something to be read
    bool takes = false;  // room for what is typed
};
// Waits until one of these is so, or one of `others` is readable, or the time is over. Says which
// of them are.
Awaited wait_for(const Fd& ours,
                 Awaited awaited,
                 std::span<const int> others,
                 std::chrono::milliseconds limit);

// Sends a signal to all processes of a session that live, and returns how many these are; an error
// when not all could be looked at: then nobody knows whether one lives. The number is that of its
// first process, which nobody has reaped yet, so that it and its group are always reached. Stopped
// ones go on, so that they hear of it.
Result<std::size_t> signal_session(pid_t session, int number);
// Takes away the remains of those of its processes that became our children and have ended; not
// those of the first.
void reap_session(pid_t session);

// Processes that left their session, lost their parent and so became our children, known by a
// variable that they began with. Nobody else takes their remains away.
class Strays {
public:
    explicit Strays(std::string word) : word_(std::move(word)) {}  // "NAME=VALUE"
    // Remembers those that live, takes away those of them that have ended, and returns how many
    // live. `others` are children with that variable that somebody else takes care of. One that
    // ends before it was seen stays as it is.
    std::size_t look(const std::set<pid_t>& others);

private:
    std::string word_;
    std::map<pid_t, std::int64_t> known_;
};

}  // namespace ponk::os
