// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ponk::os {

// A child process, described before anything is started. The program is looked up on PATH of `env`
// when it has no slash. Descriptors not named here are closed in the child.
struct Command {
    std::vector<std::string> argv;                // argv[0] is the program, unless `program` says
    std::optional<std::vector<std::string>> env;  // "K=V"; ours when absent
    Path directory;                               // ours when empty
    std::string input;                            // given to standard input
    // terminal: a session of its own whose terminal is the child's standard input.
    enum class Session { same, own, terminal } session = Session::same;
    std::vector<std::pair<int, int>> descriptors;  // {ours, number in the child}
    std::string program = {};                      // the file, where argv[0] is but a name to show
    std::optional<mode_t> umask = {};              // ours when absent
};

// "SIGSEGV"; real-time signals have numbers only: "signal 40".
std::string signal_name(int number);

struct Exit {
    int code = 0;    // of exit(); meaningless when signal != 0
    int signal = 0;  // that ended it, or 0

    // What a shell would say: 128+n for signal n.
    [[nodiscard]] int status() const { return signal != 0 ? 128 + signal : code; }
};

struct Child {
    pid_t pid = -1;
    Fd pidfd;
};

// Starts the command. Fails when the program cannot be executed (told apart from exit 127).
Result<Child> spawn(const Command& command);
// Waits for a child of ours; kills it when stopped or past the deadline.
Result<Exit> wait_for_exit(const Child& child, Deadline deadline, std::stop_token stop);

// How the process behind a pidfd ended, without taking its code from its parent. nullopt when it
// lives, or when nobody but its parent may know: a child of ours can be asked on every kernel, a
// stranger since Linux 6.15 and only after its parent has reaped it.
std::optional<Exit> find_exit(int pidfd);
// Takes the remains of a child of ours away, if it has ended.
void reap(int pidfd);

struct Output {
    Exit exit;
    std::string out;
    std::string err;
};
// Runs to the end and returns what it printed (each stream up to `limit` bytes).
Result<Output> run(const Command& command,
                   Deadline deadline,
                   std::stop_token stop,
                   std::size_t limit = std::size_t{16} << 20);

// The program's file on PATH, or nullopt. Entries of PATH that are relative are passed over.
std::optional<Path> find_program(const std::string& name, const std::string& path_variable);
// Our own executable.
Path own_program();

}  // namespace ponk::os
