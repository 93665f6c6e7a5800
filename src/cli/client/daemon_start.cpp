// SPDX-License-Identifier: Apache-2.0
#include "cli/client/daemon_start.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/client/server_address.hpp"
#include "os/identity.hpp"
#include "os/private_folder.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace ponk::cli {
namespace {

using std::chrono::milliseconds;

// What the daemon keeps of the environment of whoever happened to start it. Runs get theirs with
// each submission, so nothing of one shell leaks into the runs of another.
std::vector<std::string> daemon_environment(const os::Path& home)
{
    constexpr std::string_view kept[] = {"PATH=",
                                         "HOME=",
                                         "USER=",
                                         "LOGNAME=",
                                         "LANG=",
                                         "LC_",
                                         "TMPDIR=",
                                         "XDG_",
                                         "DBUS_SESSION_BUS_ADDRESS=",
                                         "PONK_",
                                         "TZ=",
                                         "ASAN_OPTIONS=",
                                         "UBSAN_OPTIONS=",
                                         "TSAN_OPTIONS="};
    std::vector<std::string> variables;
    for (const std::string& text : os::own_variables()) {
        // Started from inside a run it is no part of that run.
        if (text.starts_with("PONK_HOME=") || text.starts_with("PONK_RUN_")) continue;
        if (is_server_variable(text)) continue;
        for (const std::string_view head : kept) {
            if (text.starts_with(head)) {
                variables.emplace_back(text);
                break;
            }
        }
    }
    variables.push_back("PONK_HOME=" + home.string());
    return variables;
}

// The last line of the daemon's log from `start` on: why it died without a word to us.
std::string last_line(const os::Path& log, std::uint64_t start)
{
    const auto file = os::open_file(log, O_RDONLY);
    if (!file) return "";
    const auto text = os::read_at(file->get(), start, std::size_t{64} << 10);
    if (!text) return "";
    std::string_view line = trim(*text);
    line.remove_prefix(line.rfind('\n') + 1);  // npos + 1 is 0
    constexpr std::string_view mark = "ponk: error: ";
    if (line.starts_with(mark)) line.remove_prefix(mark.size());
    return printable(line);
}

// `said` is what came through the descriptor instead of the word that all is well.
Error why_not_started(const std::string& said, const os::Path& log, std::uint64_t log_start)
{
    const std::string log_hint = fmt::format("See its log: {}.", os::in_quotes(log));
    if (const auto told = parse_json(said); told && told->is_object()) {
        return {ErrorKind::unavailable,
                "the daemon could not start: " + told->text("message"),
                told->text("hint", "").empty() ? log_hint : told->text("hint")};
    }
    const std::string line = last_line(log, log_start);
    return {ErrorKind::unavailable,
            line.empty() ? std::string("the daemon ended before it was ready")
                         : "the daemon could not start: " + line,
            log_hint};
}

Result<std::string> read_until_closed(int fd, Deadline deadline)
{
    std::string text;
    char block[512];
    for (;;) {
        TRY(os::wait_readable(fd, deadline, {}));
        const ssize_t got = ::read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.starts_with(daemon_is_ready)) return text;
    }
}

}  // namespace

std::string how_to_end_daemon(pid_t pid)
{
    return fmt::format("Run 'kill -9 {}' to end it (runs are not affected), then try again.", pid);
}

Result<> make_home(const os::Path& home)
{
    auto made = os::make_directories(home);
    if (!made) {
        return tl::unexpected(Error(made.error().kind(),
                                    fmt::format("cannot create ponk's folder {}: {}",
                                                os::in_quotes(home),
                                                made.error().message()),
                                    "Set PONK_HOME to a folder that you can write to."));
    }
    TRY(os::check_private(home).map_error(while_doing("ponk's folder")));
    if (::access(home.c_str(), R_OK | W_OK | X_OK) != 0) {
        return tl::unexpected(
            system_error(errno,
                         fmt::format("cannot write to ponk's folder {}", os::in_quotes(home)))
                .with_hint("Set PONK_HOME to a folder that you can write to."));
    }
    return {};
}

Result<os::Fd> lock_start(const os::Path& home, Deadline deadline)
{
    auto file = os::open_file(home / "daemon.start.lock", O_RDWR | O_CREAT, 0600);
    if (!file) {
        return tl::unexpected(
            file.error().with_hint("Set PONK_HOME to a folder that you can write to."));
    }
    // flock cannot be waited for with a limit, so it is asked for again and again: this happens
    // only in the moments of a daemon's start.
    milliseconds pause(1);
    while (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return fail_errno(errno, "lock {}", os::in_quotes(home / "daemon.start.lock"));
        }
        if (Deadline::clock::now() >= deadline) {
            return tl::unexpected(
                Error(ErrorKind::timeout,
                      "another command is starting the daemon and takes too long",
                      fmt::format("See {} for the reason.", os::in_quotes(home / "daemon.log"))));
        }
        os::sleep_for(pause, {});
        pause = std::min(pause * 2, milliseconds(20));
    }
    return std::move(*file);
}

namespace {

// `more`: options of `ponk daemon run`.
Result<> start(const os::Path& home, const std::vector<std::string>& more, Deadline deadline)
{
    const os::Path log = home / "daemon.log";
    const os::Fd out = TRY(os::open_file(log, O_WRONLY | O_CREAT | O_APPEND, 0600));
    const os::Fd nothing = TRY(os::open_file("/dev/null", O_RDONLY));
    const auto log_start =
        static_cast<std::uint64_t>(std::max<off_t>(0, ::lseek(out.get(), 0, SEEK_END)));
    os::Pipe ready = TRY(os::make_pipe());
    os::Command command;
    // By its name in /proc, so that a program replaced by an update still starts itself; a process
    // list shows what it is.
    command.program = "/proc/self/exe";
    command.argv = {"ponk", "daemon", "run", "--detached", "--ready-fd", "3"};
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    command.env = daemon_environment(home);
    command.directory = "/";
    command.session = os::Command::Session::own;
    command.descriptors = {
        {nothing.get(), 0}, {out.get(), 1}, {out.get(), 2}, {ready.write.get(), 3}};
    const os::Child child = TRY(os::spawn(command).map_error(while_doing("start the daemon")));
    ready.write.reset();
    const auto said = read_until_closed(ready.read.get(), deadline);
    if (said && *said == daemon_is_ready) return {};
    if (said) return tl::unexpected(why_not_started(*said, log, log_start));
    return tl::unexpected(
        Error(said.error().kind(),
              fmt::format("the daemon (process {}) did not start in time", child.pid),
              fmt::format("It may still be starting: try again, or see its log: {}.",
                          os::in_quotes(log))));
}

}  // namespace

Result<> start_daemon(const os::Path& home, Deadline deadline)
{
    return start(home, {}, deadline);
}

Result<> check_daemon(const os::Path& home, Deadline deadline)
{
    return start(home, {"--look"}, deadline);
}

std::string failure_for_starter(const Error& error)
{
    return to_json(JsonObject{{"message", error.message()}, {"hint", error.hint()}}) + "\n";
}

Result<> wait_for_end(pid_t pid, Deadline deadline)
{
    const auto process = os::identify(pid);
    if (!process) return {};
    const auto handle = os::open_process(*process);
    if (!handle) return {};
    auto waited = os::wait_readable(handle->get(), deadline, {});
    if (!waited) {
        return tl::unexpected(Error(waited.error().kind(),
                                    fmt::format("the daemon (process {}) does not stop", pid),
                                    how_to_end_daemon(pid)));
    }
    return {};
}

}  // namespace ponk::cli
