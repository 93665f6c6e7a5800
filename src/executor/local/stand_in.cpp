// SPDX-License-Identifier: Apache-2.0
#include "executor/local/stand_in.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::executor::local {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t most_holes = std::uint64_t{1} << 30U;  // of a log that is hashed

bool is_readable(int fd)
{
    pollfd polled{fd, POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
}

struct StatLine {
    char state = '?';
    pid_t session = 0;
};

std::optional<StatLine> stat_line(pid_t pid)
{
    const auto text = os::read_file(fmt::format("/proc/{}/stat", pid));
    if (!text) return std::nullopt;
    const auto end_of_name = text->rfind(')');
    if (end_of_name == std::string::npos) return std::nullopt;
    const auto fields = split(std::string_view(*text).substr(end_of_name + 2), ' ');
    if (fields.size() < 4 || fields[0].empty()) return std::nullopt;
    return StatLine{fields[0][0], static_cast<pid_t>(parse_integer(fields[3]).value_or(0))};
}

bool has_token(pid_t pid, const std::string& word)
{
    const auto text = os::read_file(fmt::format("/proc/{}/environ", pid));
    return text && ('\0' + *text + '\0').find('\0' + word + '\0') != std::string::npos;
}

bool writes_to(pid_t pid, const Path& log)
{
    std::error_code problem;
    for (const int fd : {1, 2}) {
        const auto file =
            std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", pid, fd), problem);
        if (!problem && file == log) return true;
    }
    return false;
}

// `group` is its folder, whose end is the path that the kernel tells.
bool is_in_group(pid_t pid, const std::string& group)
{
    if (group.empty()) return false;
    const auto text = os::read_file(fmt::format("/proc/{}/cgroup", pid));
    if (!text) return false;
    const auto lines = split(*text, '\n');
    return std::ranges::any_of(lines, [&group](std::string_view line) {
        return line.starts_with("0::/") && line.size() > 4 && group.ends_with(line.substr(3));
    });
}

void signal_all(const std::vector<RunProcess>& processes, int number)
{
    const auto send = [](const RunProcess& process, int what) {
        ::syscall(SYS_pidfd_send_signal, process.pidfd.get(), what, nullptr, 0);
    };
    for (const auto& process : processes) {
        send(process, number);
        if (number == SIGTERM) send(process, SIGCONT);  // a stopped process cannot obey
    }
}

}  // namespace

std::vector<RunProcess> find_run_processes(const RunMarks& marks, pid_t main)
{
    std::vector<RunProcess> found;
    const auto entries = os::list_directory("/proc");
    if (!entries) return found;
    const auto word = "PONK_RUN_TOKEN=" + marks.token;
    for (const auto& entry : *entries) {
        const auto pid = static_cast<pid_t>(parse_integer(entry.name).value_or(0));
        if (pid <= 1 || pid == ::getpid()) continue;
        // First the handle, then the proof: the pid may change hands in between.
        RunProcess process{pid, os::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
        const auto line = stat_line(pid);
        if (!process.pidfd || !line) continue;
        const bool dead = line->state == 'Z' || line->state == 'X';
        if (dead && line->session == marks.session && pid != main) os::reap(process.pidfd.get());
        if (dead) continue;
        if ((!marks.token.empty() && has_token(pid, word)) ||
            (line->session == marks.session && writes_to(pid, marks.log)) ||
            is_in_group(pid, marks.cgroup))
            found.push_back(std::move(process));
    }
    return found;
}

StandIn::StandIn(Path directory,
                 SealedFiles files,
                 RunProcesses processes,
                 std::optional<os::Fd> main)
    : directory_(std::move(directory)), files_(std::move(files)), processes_(std::move(processes)),
      main_(std::move(main))
{
    if (const auto text = os::read_file(directory_ / control::spec)) {
        if (auto spec = parse_stub_spec(*text)) spec_ = std::move(*spec);
    }
}

Result<StandIn::Progress> StandIn::step()
{
    look_again_ = after(60s);
    if (!ended_) {
        if (main_ && !is_readable(main_->get())) {
            keep_limits();
            return Progress::running;
        }
        if (!learn_end()) {
            look_again_ = after(5ms);
            return Progress::running;
        }
        ended_ = true;
        note_early_end();
    }
    if (!survivors_are_gone()) {
        look_again_ = after(5ms);
        return Progress::running;
    }
    // Empty now; the supervisor would have removed it.
    if (!processes_.cgroup.empty()) ::rmdir(processes_.cgroup.c_str());
    if (!exit_) {
        reason_ = "the supervisor was killed while no other process watched the script, so its "
                  "exit code cannot be known";
        return Progress::unknown;
    }
    if (!TRY(hash_log())) {
        look_again_ = after(0ms);
        return Progress::running;
    }
    TRY(publish());
    if (main_) os::reap(main_->get());
    // A zombie keeps its group busy.
    if (!processes_.cgroup.empty()) ::rmdir(processes_.cgroup.c_str());
    return Progress::published;
}

std::vector<RunProcess> StandIn::processes() const
{
    return find_run_processes({.token = spec_.token,
                               .session = processes_.guard.pid,
                               .log = std::filesystem::weakly_canonical(directory_ / control::log),
                               .cgroup = processes_.cgroup},
                              processes_.main.pid);
}

void StandIn::keep_limits()
{
    const auto request = os::read_file_if_any(directory_ / control::cancel);
    const auto left = std::chrono::milliseconds(processes_.started_boot + spec_.time_limit.count() -
                                                boot_milliseconds());
    const auto ask = [&](const char* cause, std::chrono::milliseconds grace) {
        if (kill_at_) return;
        cause_ = cause;
        kill_at_ = after(grace);
        signal_all(processes(), SIGTERM);
    };
    if (request && *request)
        ask("cancel", std::chrono::milliseconds(parse_integer(trim(**request)).value_or(10'000)));
    if (spec_.time_limit.count() > 0) {
        if (left.count() <= 0) ask("time-limit", spec_.grace);
        if (!kill_at_) look_again_ = std::min(look_again_, after(left));
    }
    if (!kill_at_) return;
    if (Deadline::clock::now() >= *kill_at_) {
        signal_all(processes(), SIGKILL);
        kill_at_ = after(1s);
    }
    look_again_ = std::min(look_again_, *kill_at_);
}

// True once there is nothing more to wait for; `exit_` holds the code if it can be known.
bool StandIn::learn_end()
{
    if (ended_at_ == 0) {
        ended_at_ = wall_milliseconds();
        ended_boot_ = boot_milliseconds();
        code_deadline_ = after(60s);
    }
    // The supervisor may have left a note before it was killed.
    if (const auto text = files_.find(control::ended); text && *text) {
        if (const auto early = parse_early_end(**text)) {
            exit_ = os::Exit{early->code, early->signal};
            ended_at_ = early->ended;
            end_was_noted_ = true;
            cause_ = early->cause;
            return true;
        }
    }
    if (!main_) return true;
    exit_ = os::find_exit(main_->get());
    // For a stranger the kernel tells the code once its parent has reaped it; until then its
    // remains are there to be seen.
    if (exit_ || Deadline::clock::now() > code_deadline_) return true;
    if (os::identify(processes_.main.pid) == processes_.main) return false;
    exit_ = os::find_exit(main_->get());
    return true;
}

// For the next daemon, should this one be killed before the record is out. No harm if it fails.
void StandIn::note_early_end() const
{
    if (!exit_) return;
    const auto text = fmt::format("ponk-ended 1\ncode {}\nsignal {}\ncause {}\nended {}\nend\n",
                                  exit_->code,
                                  exit_->signal,
                                  cause_,
                                  ended_at_);
    [[maybe_unused]] const auto noted = os::replace_file(
        directory_ / control::ended, files_.sealed(control::ended, text), 0600, os::Durable::no);
}

bool StandIn::survivors_are_gone()
{
    const auto alive = processes();
    if (alive.empty()) return true;
    if (!patience_) {
        survivors_ = static_cast<std::int64_t>(alive.size());
        patience_ = after(std::min<std::chrono::milliseconds>(spec_.grace, 5s));
        signal_all(alive, SIGTERM);
    }
    const auto now = Deadline::clock::now();
    if (now >= *patience_) signal_all(alive, SIGKILL);
    if (now < *patience_ + 5s) return false;
    unkillable_ = static_cast<std::int64_t>(alive.size());
    return true;
}

// A slice at a time, so that the caller can be stopped.
Result<bool> StandIn::hash_log()
{
    auto log = os::open_regular(directory_ / control::log, os::Links::refuse);
    if (!log) {
        // Not there any more, or something else in its place.
        const auto kind = log.error().kind();
        if (kind == ErrorKind::not_found || kind == ErrorKind::invalid_argument) return true;
        return tl::unexpected(log.error());
    }
    os::FileStatus status;
    if (const int failed = os::status_of(log->get(), status); failed != 0)
        return fail_errno(failed, "look at the log");
    for (int slice = 0; slice < 64; ++slice) {
        // A script can claim any length for its log without writing anything.
        if (hashed_ >= holes_end_) {
            holes_end_ = os::data_from(log->get(), hashed_, status.size);
            holes_ += holes_end_ - std::min(holes_end_, hashed_);
        }
        if (holes_ > most_holes) {
            hashed_ = status.size;
            return true;
        }
        const auto bytes = TRY(os::read_at(log->get(), hashed_, std::size_t{1} << 20));
        if (bytes.empty()) return true;
        hash_.update(bytes);
        hashed_ += bytes.size();
    }
    return false;
}

Result<> StandIn::publish()
{
    model::ExitRecord record;
    record.code = exit_->code;
    record.signal = exit_->signal;
    record.by = "daemon";
    record.cause = cause_;
    if (const auto failed = TRY(files_.find(control::failed))) {
        record.cause = "start-failure";
        record.message = failed->substr(0, failed->rfind("\nend\n"));
    }
    record.started = processes_.started;
    record.ended = ended_at_;
    // By the clock that does not jump, as far as we saw the end ourselves.
    const auto at_most = std::max<std::int64_t>(0, ended_boot_ - processes_.started_boot);
    record.duration_ms = end_was_noted_
                             ? std::clamp<std::int64_t>(ended_at_ - processes_.started, 0, at_most)
                             : at_most;
    record.log_length = hashed_;
    if (holes_ <= most_holes) record.log_sha256 = hash_.finish().text();
    record.oom_evidence = "not taken: the supervisor was killed";
    record.survivors = survivors_;
    record.unkillable = unkillable_;
    // Should somebody have been faster, the record that is there counts.
    return files_.publish(control::exit, to_text(record));
}

}  // namespace ponk::executor::local
