// SPDX-License-Identifier: Apache-2.0
#include "stub/supervisor.hpp"

#include "stub/relay.hpp"
#include "stub/seal.hpp"
#include "stub/use_journal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

constexpr std::int64_t look_interval_ms = 200;
constexpr std::uint64_t look_budget = 64U << 20U;
constexpr std::int64_t relay_pause_ms = 500;
constexpr std::int64_t leaving_ms = 50;

const char* name_of(Cause cause)
{
    switch (cause) {
    case Cause::cancel:
        return "cancel";
    case Cause::time_limit:
        return "time-limit";
    case Cause::terminated:
        return "terminated";
    case Cause::script:
        break;
    }
    return "script";
}

std::int64_t ms_of(const timeval& time)
{
    return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000;
}

}  // namespace

void Supervisor::run()
{
    log_.open(log_fd_);
    find_script();
    if (shared_.main == 0) start_script();
    if (report_ >= 0) {
        [[maybe_unused]] const auto put = ::write(report_, "started\n", 8);
        ::close(report_);
    }
    if (shared_.main != 0) watch_script();
    // A script that is no child of ours (no reaper below an old kernel) ends unknown to us. Then
    // there is no record rather than a guess.
    if (!note_early_end()) return;
    end_relay();
    end_survivors();
    publish();
    shared_.published = true;
    if (shared_.main != 0) ::waitpid(shared_.main, nullptr, WNOHANG);
    group_.remove();
}

// A supervisor before us may have been killed between fork() and taking note of the child. The
// child is ours then; it names itself as soon as it runs.
void Supervisor::find_script()
{
    while (shared_.forking && shared_.main == 0 && signal_tree(0, 0) > 0)
        sleep_ms(1);
    if (shared_.main == 0) return;
    const auto size = read_sealed(job_.key, "failed", failure_, sizeof failure_);
    failure_[size > 0 ? size - 1 : 0] = '\0';  // without the line's end
}

bool Supervisor::script_ended()
{
    for (;;) {
        siginfo_t info{};
        if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return ::waitid(P_PID,
                            static_cast<id_t>(shared_.main),
                            &info,
                            WEXITED | WNOHANG | WNOWAIT) != 0;
        if (info.si_pid == shared_.main) return true;
        if (info.si_pid == shared_.relay) shared_.relay = 0;
        ::waitpid(info.si_pid, nullptr, 0);  // an orphan of the run
    }
}

void Supervisor::ask_to_end(Cause cause)
{
    // Who was stopped for a while may hear of both at once; the script was first.
    if (script_ended()) return;
    char text[32];
    auto grace = job_.grace_ms;
    if (cause == Cause::cancel && read_small("cancel", text, sizeof text) > 0)
        grace = std::strtoll(text, nullptr, 10);
    const auto at = boot_ms() + grace;
    if (shared_.kill_at != 0 && shared_.kill_at <= at) return;
    if (shared_.cause == Cause::script) shared_.cause = cause;
    shared_.kill_at = at;
    // A second one would reach the script while it saves what it has.
    if (cause == Cause::terminated && job_.term_reaches_all) return;
    signal_tree(shared_.main, SIGTERM);
}

void Supervisor::take_signal(int signal_fd)
{
    signalfd_siginfo info{};
    while (::read(signal_fd, &info, sizeof info) == sizeof info) {
        const int number = static_cast<int>(info.ssi_signo);
        if (number == SIGTERM || number == SIGINT) {
            ask_to_end(::access("cancel", F_OK) == 0 ? Cause::cancel : Cause::terminated);
        } else if (number != SIGCHLD) {
            ::kill(shared_.main, number);
        }
    }
}

void Supervisor::watch_script()
{
    sigset_t signals;
    ::sigprocmask(SIG_BLOCK, nullptr, &signals);
    const int signal_fd = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (::access("cancel", F_OK) == 0) ask_to_end(Cause::cancel);
    const auto limit = job_.time_limit_ms > 0 ? shared_.started_boot + job_.time_limit_ms : 0;
    UseJournal use(job_.run, shared_.started_boot);
    use.begin(boot_ms());
    bool log_grew = true;
    std::int64_t next_look = 0;
    while (!script_ended()) {
        const auto now = boot_ms();
        if (limit != 0 && shared_.cause == Cause::script && now >= limit)
            ask_to_end(Cause::time_limit);
        if (shared_.kill_at != 0 && now >= shared_.kill_at) {
            group_.kill();
            signal_tree(shared_.main, SIGKILL);
            shared_.kill_at = now + 1000;  // again, for what was born meanwhile
        }
        if (log_grew && now >= next_look) {
            log_.forget_events();
            const bool behind = log_.look(look_budget);
            log_grew = behind || log_.watch() < 0;
            next_look = behind ? now : now + look_interval_ms;
        }
        if (now >= use.next()) use.sample(now);
        std::int64_t wait = 60'000;
        const auto until = [&wait, now](std::int64_t when) {
            if (when - now < wait) wait = when > now ? when - now : 0;
        };
        if (limit != 0 && shared_.cause == Cause::script) until(limit);
        if (shared_.kill_at != 0) until(shared_.kill_at);
        if (log_grew) until(next_look);
        until(use.next());
        const bool has_listener = listener_ >= 0 && shared_.relay == 0;
        if (has_listener && now < shared_.relay_again) until(shared_.relay_again);
        pollfd events[3] = {
            {signal_fd, POLLIN, 0},
            {log_grew ? -1 : log_.watch(), POLLIN, 0},
            {has_listener && now >= shared_.relay_again ? listener_ : -1, POLLIN, 0}};
        ::poll(events, 3, static_cast<int>(wait));
        if (events[1].revents != 0) log_grew = true;
        if ((events[2].revents & POLLIN) != 0) start_relay();
        take_signal(signal_fd);
    }
    ::close(signal_fd);
}

// Somebody knocks. A relay that cannot live is not born all the time.
void Supervisor::start_relay()
{
    shared_.relay_again = boot_ms() + relay_pause_ms;
    const pid_t pid = ::fork();
    if (pid == 0) {
        shared_.relay = ::getpid();
        become_relay(job_.relay, listener_);
    }
    if (pid > 0) shared_.relay = pid;
}

// What it has answered is on the disk, so it can go at any moment. It is none of the processes that
// the script left behind.
void Supervisor::end_relay()
{
    if (listener_ >= 0) ::close(listener_);
    listener_ = -1;
    if (shared_.relay == 0) return;
    ::kill(shared_.relay, SIGKILL);
    // Not for ever: it may hang in a write to a disk that does not answer.
    for (int round = 0; round < 500 && ::waitpid(shared_.relay, nullptr, WNOHANG) == 0; ++round)
        sleep_ms(round < 50 ? 1 : 10);
    shared_.relay = 0;
}

// The script stays a zombie until the record is out, so that its code can still be asked for by
// whoever stands in for us.
bool Supervisor::note_early_end()
{
    ended_ = wall_ms();
    duration_ = boot_ms() - shared_.started_boot;
    if (shared_.main != 0) {
        siginfo_t info{};
        rusage usage{};
        // The system call, unlike the library's function, tells the use of resources too.
        if (::syscall(SYS_waitid, P_PID, shared_.main, &info, WEXITED | WNOWAIT, &usage) != 0)
            return false;
        code_ = info.si_code == CLD_EXITED ? info.si_status : 0;
        signal_ = info.si_code == CLD_EXITED ? 0 : info.si_status;
        user_ms_ = ms_of(usage.ru_utime);
        system_ms_ = ms_of(usage.ru_stime);
        max_rss_ = usage.ru_maxrss;
    }
    Line<1024> line;
    line.add("ponk-ended 1\ncode %d\nsignal %d\ncause %s\nended %lld\n",
             code_,
             signal_,
             name_of(shared_.cause),
             static_cast<long long>(ended_));
    add_seal(line, job_.key, "ended");
    replace("ended", line.text, line.size);
    return true;
}

void Supervisor::end_survivors()
{
    // Whoever lost a parent became our child, so without children there is nobody.
    if (is_alone(shared_.main)) return;
    // Who ends by itself right now, as helpers of Python's multiprocessing do, was not left behind.
    if (shared_.cause == Cause::script) {
        const auto leaving = boot_ms() + leaving_ms;
        for (std::int64_t pause = 1; boot_ms() < leaving; ++pause) {
            if (signal_tree(shared_.main, 0) == 0) return;
            sleep_ms(pause);
        }
        if (signal_tree(shared_.main, 0) == 0) return;
        add_commands(commands_);
    }
    survivors_ = signal_tree(shared_.main, SIGTERM);
    if (survivors_ == 0) return;
    auto patience = boot_ms() + (job_.grace_ms < 5000 ? job_.grace_ms : 5000);
    if (shared_.kill_at != 0 && shared_.kill_at < patience) patience = shared_.kill_at;
    long alive = survivors_;
    for (std::int64_t pause = 1; alive > 0 && boot_ms() < patience; pause += pause < 20 ? 1 : 0) {
        sleep_ms(pause);
        alive = signal_tree(shared_.main, 0);
    }
    for (int round = 0; alive > 0 && round < 500; ++round) {
        group_.kill();
        signal_tree(shared_.main, SIGKILL);
        sleep_ms(round < 10 ? 1 : 10);
        alive = signal_tree(shared_.main, 0);
    }
    unkillable_ = alive;
}

void Supervisor::write_record(Line<8192>& record)
{
    const auto number = [&record](const char* key, std::int64_t value) {
        record.add("%s %lld\n", key, static_cast<long long>(value));
    };
    rusage orphans{};
    ::getrusage(RUSAGE_CHILDREN, &orphans);  // those we reaped ourselves
    if (orphans.ru_maxrss > max_rss_) max_rss_ = orphans.ru_maxrss;
    const auto oom = count_oom_kills(group_);
    const auto& before = shared_.oom_before;
    const bool own =
        std::strcmp(oom.source, "host") != 0 && std::strcmp(oom.source, before.source) == 0;
    record.add("ponk-exit 1\n");
    number("code", code_);
    number("signal", signal_);
    record.add("by stub\ncause %s\nmessage ",
               failure_[0] != '\0' ? "start-failure" : name_of(shared_.cause));
    for (const char* at = failure_; *at != '\0'; ++at) {
        if (*at == '\n' || *at == '\\') record.add("\\");
        record.add("%c", *at == '\n' ? 'n' : *at);
    }
    record.add("\n");
    number("started", shared_.started);
    number("ended", ended_);
    number("duration-ms", duration_);
    number("log-length", static_cast<std::int64_t>(log_.length()));
    record.add("log-sha256 %s\n", digest_);
    number("user-ms", user_ms_ + ms_of(orphans.ru_utime));
    number("system-ms", system_ms_ + ms_of(orphans.ru_stime));
    number("max-rss-kib", max_rss_);
    number("oom-kills", own && before.kills >= 0 ? oom.kills - before.kills : -1);
    record.add("oom-evidence %s: %lld before, %lld after\n",
               oom.source,
               static_cast<long long>(before.kills),
               static_cast<long long>(oom.kills));
    number("survivors", survivors_);
    if (survivors_ > 0 && commands_.size > 0) record.add("survivor-commands %s\n", commands_.text);
    number("unkillable", unkillable_);
    number("disk-full", log_.was_full() ? 1 : 0);
    add_seal(record, job_.key, "exit");
}

bool Supervisor::is_published() const
{
    char text[8192];
    return read_sealed(job_.key, "exit", text, sizeof text) >= 0;
}

void Supervisor::publish()
{
    log_.finish(digest_);
    Line<8192> record;
    write_record(record);
    // A full or read-only disk may recover, and nobody else knows what we know: stay for a day.
    std::int64_t pause = 50;
    for (const auto until = boot_ms() + 86'400'000; boot_ms() < until;) {
        const int problem = publisher_.publish("exit", record.text, record.size);
        if (problem == 0 || problem == ENOENT) return;
        if (problem == EEXIST) {
            // Published before, by who stood in for us; or not ours at all.
            if (is_published()) return;
            Line<1024> aside;
            aside.add(".not-ours.%d.%lld", ::getpid(), static_cast<long long>(boot_ms()));
            if (::rename("exit", aside.text) == 0) continue;
        }
        sleep_ms(pause);
        pause = pause < 5000 ? pause * 2 : 5000;
    }
}

}  // namespace ponk::stub
