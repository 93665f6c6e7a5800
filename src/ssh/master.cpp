// SPDX-License-Identifier: Apache-2.0
#include "ssh/master.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "os/file_lock.hpp"
#include "os/wait.hpp"
#include "ssh/failure.hpp"
#include "ssh/offending_key.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::ssh {
namespace {

constexpr std::uint64_t most_said = 64 << 10;
constexpr std::chrono::milliseconds leave_limit{1000};

bool has_socket(const Client& client)
{
    struct stat info {};
    return ::lstat(client.control_socket().c_str(), &info) == 0;
}

// A request to the master itself; it never touches the network.
Result<os::Output> ask_master(const Client& client, const char* word, std::stop_token stop)
{
    auto command = client.command({"ControlMaster=no", "BatchMode=yes", "-O", word});
    return os::run(command, after(master_check_limit), std::move(stop), most_said);
}

// A master goes into the background, so its number is known to itself only, and only while it
// answers: noted now, it can be ended later even when it hangs.
void note_process(const Client& client, const std::stop_token& stop)
{
    const auto answer = ask_master(client, "check", stop);
    if (!answer) return;
    constexpr std::string_view mark = "(pid=";
    const std::string& said = answer->err + answer->out;
    const auto begin = said.find(mark);
    if (begin == std::string::npos) return;
    const auto number = said.substr(begin + mark.size());
    const auto pid = parse_integer(number.substr(0, number.find(')')));
    const auto process = pid ? os::identify(static_cast<pid_t>(*pid)) : std::nullopt;
    if (!process) return;
    const JsonObject noted{{"pid", std::int64_t{process->pid}},
                           {"start_ticks", process->start_ticks},
                           {"boot_id", process->boot_id}};
    [[maybe_unused]] const auto written =
        os::replace_file(client.master_process(), to_json(noted) + "\n", 0600, os::Durable::no);
}

// Standard streams go to a file, not to a pipe: a master in the background, or its way through a
// jump host, may keep them open.
Result<os::Fd> open_log(const Client& client)
{
    return os::open_file(
        client.master_log(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600);
}

}  // namespace

Result<bool> is_master_alive(const Client& client, std::stop_token stop)
{
    if (!has_socket(client)) return false;
    const auto answer = ask_master(client, "check", std::move(stop));
    if (answer) return answer->exit.status() == 0;
    if (answer.error().kind() == ErrorKind::timeout) return false;
    return tl::unexpected(answer.error());
}

std::optional<os::ProcessIdentity> find_master(const Client& client)
{
    const auto text = os::read_file_if_any(client.master_process(), most_said);
    if (!text || !*text) return std::nullopt;
    const auto noted = parse_json(**text);
    if (!noted) return std::nullopt;
    const os::ProcessIdentity process{.pid = static_cast<pid_t>(noted->integer("pid")),
                                      .start_ticks =
                                          static_cast<std::uint64_t>(noted->integer("start_ticks")),
                                      .boot_id = noted->text("boot_id")};
    if (process.pid <= 1 || !os::is_alive(process)) return std::nullopt;
    return process;
}

void discard_master(const Client& client)
{
    if (const auto process = find_master(client)) {
        // Asked first, so that it takes leave of the host; one that is stopped or stuck cannot
        // obey.
        if (const auto pidfd = os::open_process(*process)) {
            ::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGTERM, nullptr, 0);
            if (!os::wait_readable(pidfd->get(), after(leave_limit), {}))
                ::syscall(SYS_pidfd_send_signal, pidfd->get(), SIGKILL, nullptr, 0);
        }
    } else if (has_socket(client)) {
        [[maybe_unused]] const auto asked = ask_master(client, "exit", {});
    }
    ::unlink(client.control_socket().c_str());
    ::unlink(client.master_process().c_str());
}

namespace {

tl::unexpected<Refusal> refuse(Cause cause, Error error)
{
    return tl::unexpected(Refusal{cause, std::move(error)});
}

os::Command describe_master(const Client& client, const Opening& opening)
{
    auto words = opening.options;
    words.insert(words.end(),
                 {"ControlMaster=yes",
                  "ControlPersist=60",
                  opening.asking == Asking::never ? "BatchMode=yes" : "BatchMode=no",
                  "-N",
                  "-f"});
    auto command = client.command(words);
    if (opening.asking == Asking::terminal) command.session = os::Command::Session::same;
    return command;
}

// True when there is nothing to open.
Result<bool> is_open_already(const Client& client, const Opening& opening, std::stop_token stop)
{
    if (opening.dead && find_master(client) == opening.dead) return false;
    return is_master_alive(client, std::move(stop));
}

tl::expected<void, Refusal>
open_once(const Client& client, const Opening& opening, Deadline deadline, std::stop_token stop)
{
    auto command = describe_master(client, opening);
    const auto log = open_log(client);
    if (!log) return refuse(Cause::other, log.error());
    const auto nothing = os::open_file("/dev/null", O_RDWR);
    if (!nothing) return refuse(Cause::other, nothing.error());
    command.descriptors = {{nothing->get(), 0}, {log->get(), 1}, {log->get(), 2}};
    const auto started = os::spawn(command);
    if (!started && started.error().kind() == ErrorKind::not_found)
        return refuse(Cause::no_client, error_of(Cause::no_client, client.address(), {}));
    if (!started) return refuse(Cause::other, started.error());
    const auto exit = os::wait_for_exit(*started, deadline, stop);
    if (exit && exit->status() == 0) {
        note_process(client, stop);
        return {};
    }
    const auto said = os::read_at(log->get(), 0, most_said).value_or("");
    // What was begun must not wait in the background for an answer that comes too late.
    discard_master(client);
    if (!exit && exit.error().kind() != ErrorKind::timeout)
        return refuse(Cause::other, exit.error());
    const auto cause = !exit               ? Cause::timed_out
                       : exit->signal != 0 ? Cause::killed
                                           : find_cause(said);
    const auto known = cause == Cause::host_key_changed
                           ? offending_key(said, client.folder().path())
                           : std::string();
    return tl::unexpected(
        Refusal{cause, error_of(cause, client.address(), said, known), offered_methods(said)});
}

}  // namespace

tl::expected<void, Refusal>
open_master(const Client& client, const Opening& opening, Deadline deadline, std::stop_token stop)
{
    const auto lock =
        os::FileLock::take(client.master_lock(), os::FileLock::Kind::exclusive, deadline, stop);
    if (!lock) return refuse(Cause::other, lock.error());
    const auto open = is_open_already(client, opening, stop);
    if (!open) return refuse(Cause::other, open.error());
    if (*open) return {};
    discard_master(client);

    // Who is killed has not failed: somebody tidied up, or memory was short. Once more, then.
    auto opened = open_once(client, opening, deadline, stop);
    if (!opened && opened.error().cause == Cause::killed && opening.asking == Asking::never)
        opened = open_once(client, opening, deadline, stop);
    return opened;
}

}  // namespace ponk::ssh
