// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "executor/job/run_directory.hpp"
#include "os/identity.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

// The files of a task's directory, as docs/design/run-directory.md describes them: what a launcher
// writes for the supervisor and what it reads back.
namespace ponk::executor {

using os::Path;

namespace control {
constexpr const char* spec = "spec";
constexpr const char* claim = "claim";
constexpr const char* pid = "pid";
constexpr const char* lock = "lock";
constexpr const char* log = "log";
constexpr const char* exit = "exit";
constexpr const char* ended = "ended";    // code and signal, written the moment the script ended
constexpr const char* failed = "failed";  // why the script could not be started
constexpr const char* cancel = "cancel";  // a request to end; holds the grace in milliseconds
constexpr const char* journal = "journal";
constexpr const char* relay = "relay";              // what the run's relay must know
constexpr const char* answers = "answers";          // to calls of the script, for its relay
constexpr const char* tensorboard = "tensorboard";  // where event files are looked for
constexpr const char* input = "input";              // a pipe; the supervisor removes its name
constexpr const char* environment =
    "environment";  // for a container's supervisor, which removes it
}  // namespace control

// What the supervisor executes. The environment is not here: it may hold secrets and travels
// through a descriptor.
struct StubSpec {
    std::string run;
    std::string token;
    std::string directory;  // where the script starts
    std::string program;  // path of the file to execute, or a name to look up on the script's PATH
    std::string other_program;  // tried when that is not there; empty: none
    std::vector<std::string> argv;
    std::string relay = {};               // program that answers MLflow's clients; empty: none
    std::string input = {};               // a pipe that is the script's standard input
    std::vector<std::string> holds = {};  // lock files of which the run takes a share
    // Who sends the supervisor a SIGTERM sends it to the script, too, as schedulers do.
    bool term_reaches_all = false;
    mode_t umask = 022;
    std::chrono::milliseconds time_limit{0};  // 0: none
    std::chrono::milliseconds grace{10'000};
};

std::string to_text(const StubSpec& spec);
Result<StubSpec> parse_stub_spec(std::string_view text);

// The file `pid`: who supervises and who runs.
struct RunProcesses {
    os::ProcessIdentity stub;   // pid 0 when there is none
    os::ProcessIdentity guard;  // takes over when the stub is killed
    os::ProcessIdentity main;
    std::string machine;  // its host name; empty in files of earlier versions
    std::uint64_t pid_namespace = 0;
    std::string cgroup;
    std::int64_t started = 0;       // wall-clock milliseconds
    std::int64_t started_boot = 0;  // CLOCK_BOOTTIME milliseconds
};

Result<RunProcesses> parse_processes(std::string_view text);

// The file `ended`: an early note, in case the supervisor dies before the exit record is out.
struct EarlyEnd {
    int code = 0;
    int signal = 0;
    std::int64_t ended = 0;
    std::string cause;
};
Result<EarlyEnd> parse_early_end(std::string_view text);

// Gives us back the rights to a folder of the run that its script took away. What is not a folder
// of ours is left alone; whoever uses it hears why it cannot be.
void open_up(const Path& folder);
// The same for all folders on the way to the control files.
void open_up(const RunDirectory& directory);

// The pipe through which the client's terminal reaches the script, moved into the task's folder.
// Its name there; empty when there is none.
std::string take_input(const Path& pipe, const Path& task);

// Something has this name; a link is not followed.
bool is_there(const Path& path);

// Writes the request to end; the caller tells the supervisor to look.
Result<> request_end(const Path& directory, std::chrono::seconds grace);

// True while a supervisor or a process of the run holds the run's lock.
bool is_locked(const Path& directory, const char* name = control::lock);

}  // namespace ponk::executor
